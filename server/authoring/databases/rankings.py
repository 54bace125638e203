"""The rows with the most or the least of a number, the newest and the oldest."""

from collections.abc import Iterator, Sequence

from server.authoring.databases.family import (
    LIMIT,
    DraftTemplate,
    Family,
    beside,
    slug,
)
from server.authoring.databases.filters import (
    Filter,
    Parameter,
    filters_of,
)
from server.authoring.databases.groups import (
    Measure,
    superlatives,
)
from server.authoring.databases.sentences import (
    Saying,
    frames,
    test_frames,
    write,
)
from server.authoring.databases.statements import (
    Source,
    choice,
    select,
    shown_columns,
    where,
)
from server.authoring.databases.things import Property
from server.authoring.naming import identifier


class Rankings(Family):
    """Rows in order, the first one or the first few."""

    def templates(self) -> Iterator[DraftTemplate]:
        if self.thing.is_line:
            return
        yield from self._newest()
        yield from self._ranked()

    def _newest(self) -> Iterator[DraftTemplate]:
        thing = self.thing
        date = thing.newest_date
        if date is None:
            return
        order: Parameter = {
            "name": "order",
            "type": "string",
            "enum": ["newest", "oldest"],
            "default": "newest",
            "description": "newest or oldest first",
            "synonyms": {
                "newest": ["latest", "most recent", "last", "recent"],
                "oldest": ["earliest", "first"],
            },
        }
        for one in (False, True):
            source = Source(thing, self.kind)
            column = source.column((), date.name)
            way = choice("order", [("oldest", "ASC"), ("newest", "DESC")])
            keys = "".join(f", {key} {way}" for key in source.key_of(()))
            filters = beside(filters_of(source))
            lines = [f"AND {column} IS NOT NULL", *(x for f in filters for x in f.sql)]
            sql = select(
                shown_columns(source),
                source,
                where(lines),
                f"ORDER BY {column} {way}{keys}",
                "LIMIT 1" if one else "LIMIT :limit",
            )
            families = [f"{name}{'_one' if one else ''}" for name in ("newest", "oldest")]

            def say(turn: int) -> Saying:
                return {**self.nouns, "number": str(3 + 2 * (turn % 5))}, {}

            examples = write(frames(families[0]), say, most=7) + write(
                frames(families[1]), say, most=4
            )
            if not one:

                def some(turn: int, filters: Sequence[Filter] = filters) -> Saying:
                    words, given = self.some([f for f in filters if not f.is_period], turn)
                    return {**words, "number": str(3 + turn % 7)}, given

                examples += write(frames("newest_some"), some, most=6)
            noun = thing.one if one else thing.nouns
            yield DraftTemplate(
                f"newest_{slug(noun)}",
                f"The newest or oldest {noun} by {date.label}",
                sql,
                examples,
                write(test_frames(families[0]), say, most=1),
                (
                    order,
                    *(f.parameter for f in filters),
                    *(() if one else ({**LIMIT, "default": 10},)),
                ),
                counters=self.counters("not_newest"),
            )

    def _ranked(self) -> Iterator[DraftTemplate]:
        """The rows with the greatest or the smallest of a number."""
        thing = self.thing
        numbers = self.numbers
        births = [p for p in thing.of_role("date") if "birth" in p.label.split(" ")]
        if (not numbers and not births) or thing.table.rows < 2:
            return
        options, shorts, longs, ordering = _rankings(numbers, births)
        name = identifier(f"{thing.one} ranking")
        for one in (False, True):
            source = Source(thing, self.kind)
            order = choice(
                name,
                [(value, f"{source.column((), prop.name)} {way}") for value, prop, way in ordering],
            )
            column = choice(
                name, [(value, source.column((), prop.name)) for value, prop, _ in ordering]
            )
            keys = "".join(f", {key}" for key in source.key_of(()))
            filters = filters_of(source)
            lines = [f"AND {column} IS NOT NULL", *(x for f in filters for x in f.sql)]
            sql = select(
                shown_columns(source),
                source,
                where(lines),
                f"ORDER BY {order}{keys}",
                "LIMIT 1" if one else "LIMIT :limit",
            )
            kind = "one" if one else "top"

            def plain(turn: int) -> Saying:
                value, text = longs[turn % len(longs)]
                return {**self.nouns, "ranking": text, "number": str(3 + 2 * (turn % 4))}, {
                    name: value
                }

            def short(turn: int) -> Saying:
                value, text = shorts[turn % len(shorts)]
                return {**self.nouns, "ranking": text, "number": str(3 + 2 * (turn % 4))}, {
                    name: value
                }

            examples = write(frames(kind), plain, most=6 if shorts else 10)
            if shorts:
                examples += write(frames(f"{kind}_word"), short, most=6)
            yield DraftTemplate(
                f"{'top' if not one else 'the'}_{slug(thing.one if one else thing.nouns)}",
                f"The {thing.one if one else thing.nouns} with the highest or lowest number",
                sql,
                examples,
                write(test_frames(kind), plain, most=1),
                (
                    {
                        "name": name,
                        "type": "string",
                        "required": True,
                        "enum": list(options),
                        "synonyms": {v: list(w) for v, w in options.items() if w},
                        "description": "the highest or lowest of what",
                    },
                    *(f.parameter for f in filters),
                    *(() if one else ({**LIMIT, "default": 10},)),
                ),
            )


def _rankings(
    numbers: Sequence[Measure], births: Sequence[Property]
) -> tuple[
    dict[str, tuple[str, ...]],
    list[tuple[str, str]],
    list[tuple[str, str]],
    list[tuple[str, Property, str]],
]:
    """The values of a ranking with their words, those in one word, those in several, and orders."""
    options: dict[str, tuple[str, ...]] = {}
    shorts: list[tuple[str, str]] = []
    longs: list[tuple[str, str]] = []
    ordering: list[tuple[str, Property, str]] = []
    taken: set[str] = set()
    for measure in numbers:
        if measure.prop is None:
            continue
        most, least = superlatives(measure)
        labels = dict.fromkeys((measure.label, measure.prop.label, *measure.words))
        for way, adjectives, single in (
            ("highest", ("highest", "most", "largest", "biggest", "greatest", "top"), most),
            ("lowest", ("lowest", "least", "smallest", "fewest"), least),
        ):
            value = f"{way}_{measure.value}"
            words = [f"{adjective} {label}" for label in labels for adjective in adjectives]
            words += [*single, *([f"by {label}" for label in labels] if way == "highest" else [])]
            kept = tuple(w for w in dict.fromkeys(words) if w not in taken)
            taken |= {*kept}
            options[value] = kept
            ordering.append((value, measure.prop, "DESC" if way == "highest" else "ASC"))
            longs.append((value, f"{adjectives[0]} {measure.label}"))
            shorts += [(value, word) for word in single if word in kept]
    for birth in births[:1]:
        for value, way in (("oldest", "ASC"), ("youngest", "DESC")):
            if value not in taken:
                ordering.append((value, birth, way))
                shorts.append((value, value))
                longs.append((value, f"{'earliest' if way == 'ASC' else 'latest'} {birth.label}"))
                options[value] = (longs[-1][1],)
    return options, shorts, longs, ordering
