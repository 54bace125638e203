"""What belongs to what: the orders of a customer, the lines of an order, films with an actor."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from server.authoring.databases.amounts import of_measures
from server.authoring.databases.family import (
    LAST,
    LIMIT,
    DraftTemplate,
    Family,
    beside,
    by_name,
    either,
    one_line,
    slug,
)
from server.authoring.databases.filters import (
    COMPARISONS,
    Parameter,
    comparison_choice,
    date_of,
    filters_of,
)
from server.authoring.databases.groups import (
    Measure,
    sums,
)
from server.authoring.databases.sentences import (
    Saying,
    fill,
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
    written,
)
from server.authoring.databases.things import Link, Thing, is_sayable, paths_from
from server.authoring.databases.words import words_of_columns
from server.authoring.naming import identifier
from server.authoring.phrases import phrases, plural, possessive, with_article


class Relations(Family):
    """Rows by what they refer to, through what joins two, and things without any."""

    def templates(self) -> Iterator[DraftTemplate]:
        yield from self._belonging(self.amounts)
        yield from self._in_one()
        yield from self._across()
        yield from self._with_children()

    def _belonging(self, amounts: Sequence[Measure]) -> Iterator[DraftTemplate]:
        """The rows that belong to something of a name, their number, and what they come to."""
        thing = self.thing
        if thing.joins_two:
            return
        for path in paths_from(thing, 2):
            link = path[-1]
            far = len(path) > 1
            if len(link.thing.names) != 2:  # a name in one column is a filter
                continue
            if far and not (thing.names or thing.main_date):
                continue
            name = identifier(f"{link.noun} name")
            known = link.thing.name_samples() or phrases().person_names
            leads = words_of_columns().lead_to(link.noun)
            done = words_of_columns().doings.get(thing.noun, "") if link.thing.is_person else ""
            parameter: Parameter = {
                "name": name,
                "type": "string",
                "required": True,
                "description": f"name of the {link.noun}",
                "example": known[0],
            }

            def say(
                turn: int,
                *,
                known: Sequence[str] = known,
                leads: Sequence[str] = leads,
                name: str = name,
                done: str = done,
                noun: str = link.noun,
            ) -> Saying:
                value = known[turn % len(known)]
                times = words_of_columns().times
                spoken = value if turn % 4 != 3 else f"{noun} {value}"
                title = words_of_columns().titles.get(noun, "")
                if title and turn % 3 == 2:
                    value = spoken = f"{title} {value}"
                words = {
                    **self.nouns,
                    "name": value,
                    "name's": possessive(value),
                    "done": done,
                    "of": leads[turn % len(leads)].format(value=spoken),
                    "when": times[turn % len(times)],
                }
                if amounts:
                    words["measure"] = amounts[turn % len(amounts)].label
                return words, {name: known[turn % len(known)]}

            stem = f"{thing.stem}_of_{slug(link.noun)}"
            near = ("count_of", *(("sum_of",) if amounts else ()))
            for family in ("of", *(near if not far and link.thing is not thing else ())):
                source = Source(thing, self.kind)
                condition = by_name(source, path, name)
                filters = beside(filters_of(source))
                lines = where([condition, *(x for f in filters for x in f.sql)])
                extra = [f.parameter for f in filters]
                if family == "of":
                    asked = [*frames("of"), *(frames("of_doing") if done else ())]
                    if link.thing is thing and link.noun == "manager":
                        asked[1:1] = frames("of_manager")
                    if any(f.is_period for f in filters):
                        asked[3:3] = frames("of_dated")
                    sql = select(shown_columns(source), source, lines, self.order(source), LAST)
                    text, about = stem, f"The {thing.nouns} of one {link.noun}, by name"
                    extra.append(LIMIT)
                elif family == "count_of":
                    asked = [*frames("count_of"), *(frames("count_of_doing") if done else ())]
                    sql = select([f"COUNT(*) AS {written(thing.stem, self.kind)}"], source, lines)
                    text, about = f"count_{stem}", f"How many {thing.nouns} one {link.noun} has"
                else:
                    asked = list(frames("sum_of"))
                    if any("revenue" in sums(m) for m in amounts) and pays(link.thing):
                        asked[2:2] = frames("sum_of_spent")
                    expression = choice(
                        "measure", [(m.value, m.expression(source)) for m in amounts]
                    )
                    sql = select([f"SUM({expression}) AS total"], source, lines)
                    text, about = (
                        f"total_of_{stem}",
                        f"Total of {either(m.label for m in amounts)} of one {link.noun}",
                    )
                    extra = [*of_measures(amounts), *extra]
                yield DraftTemplate(
                    text,
                    about,
                    sql,
                    write(asked, say),
                    write(test_frames(family), lambda t, say=say: say(t + 12), most=1),  # type: ignore[misc]
                    (parameter, *extra),
                    "table" if family == "of" else "single",
                    tuple(filter(None, (fill(f, say(0)[0]) for f in frames(f"not_{family}")))),
                )

    def _in_one(self) -> Iterator[DraftTemplate]:
        """What is on one thing that has a number and no name: the lines of an order."""
        thing = self.thing
        if thing.names and not thing.joins_two:
            return
        for link in thing.links:
            other = link.thing
            key = other.of_column(other.key[0]) if len(other.key) == 1 else None
            if other.names or key is None or other is thing:
                continue
            others = [each.noun for each in thing.links if each is not link and each.thing.names]
            if not others and not thing.joins_two and date_of(thing) is None:
                continue
            source = Source(thing, self.kind)
            name = identifier(f"{other.noun} id")
            column = source.column((), link.columns[0])
            sql = select(
                shown_columns(source),
                source,
                where([f"AND {column} = :{name}"]),
                self.order(source),
            )
            keys = [v for v in key.column.samples if is_sayable(str(v))] or [12, 25, 7]
            spoken = [thing.nouns, *(plural(each) for each in others), "items"]
            is_number = key.column.column.kind == "integer"

            def say(
                turn: int,
                keys: Sequence[Any] = keys,
                spoken: Sequence[str] = spoken,
                owner: str = other.noun,
                name: str = name,
            ) -> Saying:
                value = keys[(3 * turn + 4) % len(keys)]
                words = {"things": spoken[turn % len(spoken)], "owner": owner, "key": str(value)}
                return words, {name: value}

            yield DraftTemplate(
                f"{thing.stem}_of_{slug(other.noun)}",
                f"The {thing.nouns} of one {other.noun}, by its number",
                sql,
                write(frames("in_one"), say, most=10),
                write(test_frames("in_one"), lambda t, say=say: say(t + 20), most=1),  # type: ignore[misc]
                (
                    {
                        "name": name,
                        "type": "integer" if is_number else "string",
                        "required": True,
                        "description": f"number of the {other.noun}",
                        "example": say(0)[1][name],
                    },
                ),
            )

    def _across(self) -> Iterator[DraftTemplate]:
        """Through a table that joins two: the films with an actor, and the actors of a film."""
        thing = self.thing
        if not thing.joins_two:
            return
        for wanted in thing.links:
            for given in thing.links:
                if (
                    wanted is given
                    or len(given.thing.names) != 2  # a name in one column is a filter
                    or not (wanted.thing.names or wanted.thing.links)
                ):
                    continue
                yield from self._through(wanted, given)

    def _through(self, wanted: Link, given: Link) -> Iterator[DraftTemplate]:
        thing, target = self.thing, wanted.thing
        name = identifier(f"{given.noun} name")
        known = given.thing.name_samples() or phrases().person_names
        leads = words_of_columns().lead_to(given.noun)
        for family in ("of", "count_of"):
            source = Source(target, self.kind)
            inner = Source(thing, self.kind)
            condition = by_name(inner, (given,), name)
            mine = ", ".join(inner.column((), column) for column in wanted.columns)
            keys = ", ".join(source.column((), column) for column in wanted.referred)
            keys = f"({keys})" if len(wanted.columns) > 1 else keys
            joined = "\n".join(
                f"    {line}" for line in select([mine], inner, where([condition])).split("\n")
            )
            lines = where([f"AND {keys} IN (\n{joined}\n  )"])
            if family == "of":
                sql = select(
                    shown_columns(source),
                    source,
                    lines,
                    Relations(target, self.things, self.kind).order(source),
                )
            else:
                sql = select([f"COUNT(*) AS {written(target.stem, self.kind)}"], source, lines)

            def say(turn: int) -> Saying:
                value = known[turn % len(known)]
                words = {
                    "thing": target.noun,
                    "things": target.nouns,
                    "name": value,
                    "name's": possessive(value),
                    "of": leads[turn % len(leads)].format(value=value),
                }
                return words, {name: value}

            prefix = "count_" if family == "count_of" else ""
            yield DraftTemplate(
                f"{prefix}{target.stem}_with_{slug(given.noun)}",
                f"{'How many' if prefix else 'The'} {target.nouns} of one {given.noun}, by name",
                sql,
                write(frames(family), say),
                write(test_frames(family), lambda t: say(t + 12), most=1),
                (
                    {
                        "name": name,
                        "type": "string",
                        "required": True,
                        "description": f"name of the {given.noun}",
                        "example": known[0],
                    },
                ),
                "single" if prefix else "table",
            )

    def _with_children(self) -> Iterator[DraftTemplate]:
        """What has none, or more than some number, of what refers to it."""
        thing = self.thing
        for child, link, nouns in self._children():
            source, inner = Source(thing, self.kind), Source(child, self.kind)
            on = f"{inner.column((), link.columns[0])} = {source.column((), thing.key[0])}"
            lines = where([f"AND NOT EXISTS (SELECT 1 {one_line(inner.text())} WHERE {on})"])
            sql = select(shown_columns(source), source, lines, self.order(source))
            words = {**self.nouns, "others": nouns, "an_other": with_article(_one(nouns, child))}

            def say(turn: int, words: Mapping[str, str] = words) -> Saying:  # noqa: ARG001
                return words, {}

            yield DraftTemplate(
                f"{thing.stem}_without_{slug(nouns)}",
                f"The {thing.nouns} that have no {nouns}",
                sql,
                write(frames("without"), say),
                write(test_frames("without"), say, most=1),
            )
        yield from self._by_children()

    def _by_children(self) -> Iterator[DraftTemplate]:
        """What has more, or fewer, of what refers to it than a number."""
        thing = self.thing
        source = Source(thing, self.kind)
        counts: dict[str, tuple[str, str]] = {}
        for child, link, nouns in self._children():
            inner = Source(child, self.kind)
            on = f"{inner.column((), link.columns[0])} = {source.column((), thing.key[0])}"
            counted = f"(SELECT COUNT(*) {one_line(inner.text())} WHERE {on})"
            counts.setdefault(slug(nouns), (nouns, counted))
        if not counts:
            return
        counted = choice("counted", [(value, sql) for value, (_, sql) in counts.items()])
        compared = choice("comparison", [*COMPARISONS.items()])
        columns = [*shown_columns(source), f"{counted} AS number"]
        sql = select(
            columns, source, where([f"AND {counted} {compared} :number"]), "ORDER BY number DESC"
        )
        nouns_of = [(value, nouns) for value, (nouns, _) in counts.items()]

        def say(turn: int) -> Saying:
            value, nouns = nouns_of[turn % len(nouns_of)]
            number = 2 + turn % 9
            words = {**self.nouns, "others": nouns, "number": str(number)}
            return words, {"counted": value, "comparison": "above", "number": number}

        counters = [
            fill(frame, {**self.nouns, "others": nouns})
            for _, nouns in nouns_of[:2]
            for frame in frames("not_more_than")
        ]
        yield DraftTemplate(
            f"{thing.stem}_by_number_of_what",
            f"The {thing.nouns} with more or fewer of what belongs to them than a number",
            sql,
            write(frames("more_than"), say, most=10),
            (),
            (
                {
                    "name": "counted",
                    "type": "string",
                    "required": True,
                    "description": "what is counted",
                    "enum": list(counts),
                    "synonyms": {v: [n] for v, n in nouns_of if n != v},
                },
                comparison_choice() | {"required": True},
                {"name": "number", "type": "integer", "required": True, "description": "how many"},
            ),
            counters=tuple(counters),
        )

    def _children(self) -> Iterator[tuple[Thing, Link, str]]:
        """What refers to the thing, by what link, and what such things are called."""
        thing = self.thing
        if not thing.names or self.is_list or len(thing.key) != 1:
            return
        for child in self.things:
            for link in child.links:
                if link.thing is not thing or child is thing:
                    continue
                nouns = child.nouns
                if child.joins_two:
                    nouns = next((plural(o.noun) for o in child.links if o is not link), nouns)
                yield child, link, nouns


def pays(thing: Thing) -> bool:
    return bool({*thing.noun.split(" "), *thing.also} & words_of_columns().payers)


def _one(nouns: str, child: Thing) -> str:
    return (
        child.noun
        if nouns == child.nouns
        else next((link.noun for link in child.links if plural(link.noun) == nouns), child.noun)
    )
