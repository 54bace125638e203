"""The rows with the most or the least of a number, the newest and the oldest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from server.authoring.databases.family import LIMIT, DraftTemplate, Family, either, slug
from server.authoring.databases.filters import filters_of
from server.authoring.databases.groups import Measure, superlatives
from server.authoring.databases.sentences import Saying, frames, test_frames, write
from server.authoring.databases.statements import Source, choice, select, shown_columns, where
from server.authoring.databases.things import Property, Thing
from server.authoring.databases.words import words_of_columns
from server.authoring.naming import identifier
from server.authoring.sentences import ExampleQuestion

_MOST_TOLD: Final = 3


@dataclass(frozen=True, slots=True)
class Order:
    """One way to put rows in order: the value that says so, its words, and how it is said."""

    value: str
    prop: Property
    way: str
    said: str
    words: tuple[str, ...]
    single: tuple[str, ...] = ()
    """Those of its words that say it alone: cheapest."""
    is_day: bool = False


class Rankings(Family):
    """Rows in order, the first one or the first few."""

    def templates(self) -> Iterator[DraftTemplate]:
        if self.thing.is_line or self.thing.table.rows < 2:
            return
        orders = _orders(self.thing, self.numbers)
        if orders:
            yield self._ranked(orders, one=False)
            yield self._ranked(orders, one=True)

    def _ranked(self, orders: Sequence[Order], *, one: bool) -> DraftTemplate:
        """The first rows, or the first one, by a number or by the day."""
        thing, name = self.thing, identifier(f"{self.thing.one} ranking")
        source = Source(thing, self.kind)
        column = choice(name, [(o.value, source.column((), o.prop.name)) for o in orders])
        way = choice(name, [(o.value, f"{source.column((), o.prop.name)} {o.way}") for o in orders])
        ways = {o.value: o.way for o in orders if o.is_day}
        keys = "".join(
            f", {choice(name, [*((v, f'{key} {w}') for v, w in ways.items()), ('', key)])}"
            for key in source.key_of(())
        )
        filters = filters_of(source)
        sql = select(
            shown_columns(source),
            source,
            where([f"AND {column} IS NOT NULL", *(x for f in filters for x in f.sql)]),
            f"ORDER BY {way}{keys}",
            "LIMIT 1" if one else "LIMIT :limit",
        )
        kind, ending = ("one", "_one") if one else ("top", "")
        numbers = [o for o in orders if not o.is_day]
        shorts = [(o.value, word) for o in numbers for word in o.single]

        def ranked(turn: int, of: Sequence[tuple[str, str]]) -> Saying:
            value, text = of[turn % len(of)]
            words = {**self.nouns, "ranking": text, "number": str(3 + 2 * (turn % 4))}
            return words, {name: value}

        def some(turn: int, value: str = "") -> Saying:
            plain = [f for f in filters if not f.is_period]
            words, given = self.some(plain, turn) if value else (self.nouns, {})
            return {**words, "number": str(3 + 2 * (turn % 5))}, {**given, name: value}

        examples: tuple[ExampleQuestion, ...] = ()
        questions: tuple[ExampleQuestion, ...] = ()
        if numbers:
            longs = [(o.value, o.said) for o in numbers]
            asked = frames(kind)
            examples += write(asked, lambda t: ranked(t, longs), most=max(6, len(longs)))
            questions += write(test_frames(kind), lambda t: ranked(t, longs), most=1)
        if shorts:
            asked = frames(f"{kind}_word")
            examples += write(asked, lambda t: ranked(t, shorts), most=max(6, len(shorts)))
            asked = frames(f"{kind}_word_some")
            examples += write(
                asked,
                lambda t: (
                    {**ranked(t, shorts)[0], **some(t, "any")[0]},
                    {**some(t, "any")[1], name: shorts[t % len(shorts)][0]},
                ),
                most=3,
            )

        def dated(value: str) -> tuple[ExampleQuestion, ...]:
            return write(frames(f"{value}{ending}"), lambda t: (some(t)[0], {name: value}), most=7)

        days = {o.value for o in orders if o.is_day}
        examples += tuple(e for v in ("newest", "oldest") if v in days for e in dated(v))
        if "newest" in days:
            if not one:
                examples += write(frames("newest_some"), lambda t: some(t, "newest"), most=5)
            questions += write(test_frames(f"newest{ending}"), lambda t: some(t, "newest"), most=1)
        noun = thing.one if one else thing.nouns
        return DraftTemplate(
            f"{'the' if one else 'top'}_{slug(noun)}",
            f"The {noun} with the {either(o.said for o in orders[:_MOST_TOLD])}",
            sql,
            examples,
            questions,
            (
                {
                    "name": name,
                    "type": "string",
                    "required": True,
                    "enum": [o.value for o in orders],
                    "synonyms": {o.value: list(o.words) for o in orders if o.words},
                    "description": "the first by what",
                },
                *(f.parameter for f in filters),
                *(() if one else ({**LIMIT, "default": 10},)),
            ),
            counters=self.counters("not_newest"),
        )


def _orders(thing: Thing, numbers: Sequence[Measure]) -> list[Order]:
    """The ways to put rows in order: each number from above and from below, and the day."""
    found: list[Order] = []
    taken: set[str] = set()

    def add(value: str, prop: Property, way: str, said: str, **words: Sequence[str]) -> None:
        every = dict.fromkeys((*words.get("more", ()), *words.get("single", ())))
        kept = tuple(w for w in every if w not in taken and w != value)
        taken.update(kept, [value])
        single = tuple(w for w in words.get("single", ()) if w in kept)
        found.append(Order(value, prop, way, said, kept, single, is_day="single" not in words))

    for measure in numbers:
        if measure.prop is None:
            continue
        most, least = superlatives(measure)
        labels = dict.fromkeys((measure.label, measure.prop.label, *measure.words))
        for way, adjectives, single in (
            ("highest", ("highest", "most", "largest", "biggest", "greatest", "top"), most),
            ("lowest", ("lowest", "least", "smallest", "fewest"), least),
        ):
            words = [f"{adjective} {label}" for label in labels for adjective in adjectives]
            words += [f"by {label}" for label in labels] if way == "highest" else []
            add(
                f"{way}_{measure.value}",
                measure.prop,
                "DESC" if way == "highest" else "ASC",
                f"{adjectives[0]} {measure.label}",
                more=words,
                single=single,
            )
    births = [p for p in thing.of_role("date") if "birth" in p.label.split(" ")]
    for birth in births[:1]:
        for value, way in (("oldest", "ASC"), ("youngest", "DESC")):
            said = f"{'earliest' if way == 'ASC' else 'latest'} {birth.label}"
            add(value, birth, way, said, more=[said])
    if thing.newest_date is not None:
        known = words_of_columns().newest
        for value, way in (("newest", "DESC"), ("oldest", "ASC")):
            said = f"{'latest' if value == 'newest' else 'earliest'} {thing.newest_date.label}"
            name = value if value not in taken else "earliest"
            add(name, thing.newest_date, way, said, more=known[value])
    return found
