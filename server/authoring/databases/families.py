"""The templates of each thing: lists, counts, amounts, rankings, details, and what belongs to it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from server.authoring.databases.filters import (
    COMPARISONS,
    Filter,
    Parameter,
    comparison_choice,
    date_of,
    filters_of,
    number_choice,
    number_filters,
    round_between,
    spoken_filter,
)
from server.authoring.databases.groups import (
    Group,
    Measure,
    groups_of,
    levels_of,
    measures_of,
    superlatives,
)
from server.authoring.databases.sentences import (
    MOST_EXAMPLES,
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
    when,
    where,
    written,
)
from server.authoring.databases.things import Link, Path, Property, Thing, is_sayable, paths_from
from server.authoring.databases.words import words_of_columns
from server.authoring.naming import identifier
from server.authoring.phrases import phrases, plural, possessive, with_article
from server.authoring.sentences import ExampleQuestion
from server.tools.sql.address import DatabaseKind

_SHORT: Final = 12
"""Most rows of what is but a short list."""
_LIMIT: Final[Parameter] = {
    "name": "limit", "type": "integer", "description": "how many at most", "required": False,
    "ge": 1,
}  # fmt: skip
_LAST: Final = "{% if limit %}LIMIT :limit{% endif %}"
"""The last line of what may be long."""
_ORDERS: Final = ("highest", "lowest")


@dataclass(frozen=True, slots=True)
class DraftTemplate:
    """One template, and the questions that test it."""

    id: str
    description: str
    sql: str
    examples: tuple[ExampleQuestion, ...]
    questions: tuple[ExampleQuestion, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    shape: str = "table"
    counters: tuple[str, ...] = ()
    """What looks like it and is not."""


class Families:
    """Writes the templates of one thing; `things` are all that there are."""

    def __init__(self, thing: Thing, things: Sequence[Thing], kind: DatabaseKind) -> None:
        self._thing, self._things, self._kind = thing, things, kind
        self._nouns = {"thing": thing.one, "things": thing.nouns}
        earns = _earner(things) is thing
        self._measures = [m if earns else m.of_another() for m in measures_of(thing)]
        self._numbers = [m for m in (*self._measures, *levels_of(thing)) if m.prop is not None]
        self._groups = groups_of(thing)

    def templates(self) -> Iterator[DraftTemplate]:
        thing = self._thing
        if thing.table.rows == 0 and thing.joins_two:
            return
        amounts = [m for m in self._measures if m.adds_up]
        if not thing.joins_two:
            yield self._list()
            yield self._count()
            yield from self._between()
            yield from self._details()
            yield from self._newest()
            yield from self._ranked()
            yield from self._missing()
            yield from self._sold_out()
        if self._groups and not self._is_list:
            yield from self._count_by()
            yield self._most_by()
        if amounts:
            yield self._total("sum", amounts)
            if self._groups:
                yield from self._total_by("sum", amounts)
                yield self._best_by(amounts)
        if self._measures or levels_of(thing):
            averaged = [*self._measures, *(m for m in levels_of(thing) if "year" not in m.label)]
            if averaged and not thing.joins_two:
                yield self._total("average", averaged)
                if self._groups and not self._is_list:
                    yield from self._total_by("average", averaged)
        yield from self._belonging(amounts)
        yield from self._in_one()
        yield from self._across()
        yield from self._with_children()

    @property
    def _is_list(self) -> bool:
        """Whether it is but a short list, of which nobody asks how it falls into groups."""
        return not self._thing.links and self._thing.table.rows <= _SHORT

    # Lists and counts

    def _list(self) -> DraftTemplate:
        source = Source(self._thing, self._kind)
        columns = shown_columns(source)
        filters = self._filters(source)
        sql = select(
            columns, source, where(line for f in filters for line in f.sql),
            self._order(source),
        )  # fmt: skip
        wording = frames("list_people") if self._thing.is_person else ()
        number = len(frames("list_all"))

        def say(turn: int) -> Saying | None:
            return self._some(filters, turn)

        examples = write(frames("list_all"), lambda turn: (self._nouns, {}), most=number)
        examples += write(
            (*frames("list")[:1], *wording, *frames("list")[1:]), say, most=_wide(filters) - number
        )
        questions = write(test_frames("list"), self._testable(filters), most=2)
        questions += write(test_frames("list_all"), lambda turn: (self._nouns, {}), most=1)
        return DraftTemplate(
            f"list_{self._thing.stem}",
            f"List {self._thing.nouns}{_by_what(filters)}",
            sql,
            examples,
            questions,
            tuple(f.parameter for f in filters),
            counters=self._counters("not_list"),
        )

    def _count(self) -> DraftTemplate:
        source = Source(self._thing, self._kind)
        filters = self._filters(source)
        conditions = where(line for f in filters for line in f.sql)
        sql = select([f"COUNT(*) AS {written(self._thing.stem, self._kind)}"], source, conditions)
        examples = write(
            frames("count"), lambda turn: self._some(filters, turn, first=2), most=_wide(filters)
        )
        return DraftTemplate(
            f"count_{self._thing.stem}",
            f"Count {self._thing.nouns}{_by_what(filters)}",
            sql,
            examples,
            write(test_frames("count"), self._testable(filters), most=2),
            tuple(f.parameter for f in filters),
            "single",
        )

    def _between(self) -> Iterator[DraftTemplate]:
        """Rows whose amount is between two numbers."""
        numbers = self._numbers
        if not numbers:
            return
        source = Source(self._thing, self._kind)
        column = choice("field", [(m.value, m.expression(source)) for m in numbers])
        sql = select(
            shown_columns(source), source,
            where([f"AND {column} BETWEEN :min_value AND :max_value"]), f"ORDER BY {column} DESC",
        )  # fmt: skip

        def between(turn: int) -> Saying:
            measure = numbers[turn % len(numbers)]
            low, high = sorted((round_between(measure, turn), round_between(measure, turn + 1)))
            if low == high:
                high = low + 1
            label = "" if len(numbers) == 1 and turn % 2 else f"{with_article(measure.label)} "
            text = f"with {label}between {low} and {high}" if label else f"between {low} and {high}"
            words = {**self._nouns, "range": text, "bare_range": text.removeprefix("with ")}
            return words, {"field": measure.value, "min_value": low, "max_value": high}

        bounds: list[Parameter] = [
            {"name": name, "type": "number", "description": about, "required": True}
            for name, about in (("min_value", "the lowest"), ("max_value", "the highest"))
        ]
        if len(numbers) > 1:
            bounds.insert(0, number_choice("field", "which number", numbers))
        yield DraftTemplate(
            f"{self._thing.stem}_between",
            f"Find {self._thing.nouns} with a number between two others",
            sql,
            write(frames("numeric"), between, most=10),
            (),
            tuple(bounds),
        )

    # Amounts and groups

    def _count_by(self) -> Iterator[DraftTemplate]:
        counted = f"COUNT(*) AS {written(self._thing.stem, self._kind)}"
        nouns = self._thing.nouns
        yield self._grouped("count_by", f"count_{self._thing.stem}_by", [counted],
                            f"Count {nouns} by what they belong to")  # fmt: skip
        yield self._grouped("count_top_by", f"top_by_{self._thing.stem}", [counted],
                            f"What has the most {nouns}, the first few")  # fmt: skip

    def _most_by(self) -> DraftTemplate:
        source = Source(self._thing, self._kind)
        alias = written(self._thing.stem, self._kind)
        return self._ranking_of_groups(
            "most_by", f"most_{self._thing.stem}_by", f"COUNT(*) AS {alias}", alias, source,
            f"Which has the most {self._thing.nouns}", (), {"highest": ["most"], "lowest": ["fewest", "least"]},
        )  # fmt: skip

    def _total(self, family: str, measures: Sequence[Measure]) -> DraftTemplate:
        source = Source(self._thing, self._kind)
        function = {"sum": "SUM", "average": "AVG"}[family]
        expression = choice("measure", [(m.value, m.expression(source)) for m in measures])
        alias = {"sum": "total", "average": "average"}[family]
        filters = filters_of(source)
        conditions = where(line for f in filters for line in f.sql)
        sql = select([f"{function}({expression}) AS {alias}"], source, conditions)

        def say(turn: int, *, test: bool = False) -> Saying | None:
            some = (self._testable(filters) if test else lambda t: self._some(filters, t, first=3))(
                turn
            )
            if some is None:
                return None
            words, arguments = some
            measure = measures[turn % len(measures)]
            spoken = (measure.label, *_said_too(measure, turn))[0 if turn % 3 else -1]
            verbs, done = _verbs(measure)
            words = {**words, "measure": spoken}
            if verbs:
                words |= {"verb": verbs[turn % len(verbs)], "done": done[turn % len(done)]}
            return words, {**arguments, **_chosen("measure", measure, measures)}

        asked = list(frames(family))
        if family == "sum":
            asked[2:2] = frames("sum_spent")
        examples = write(asked, say)
        return DraftTemplate(
            f"{'total' if family == 'sum' else family}_of_{self._thing.stem}",
            f"{'Total' if family == 'sum' else 'Average'} of {_either(m.label for m in measures)} "
            f"over {self._thing.nouns}",
            sql,
            examples,
            write(test_frames(family), lambda turn: say(turn, test=True), most=2),
            (*_of_measures(measures), *(f.parameter for f in filters)),
            "single",
        )

    def _total_by(self, family: str, measures: Sequence[Measure]) -> Iterator[DraftTemplate]:
        source = Source(self._thing, self._kind)
        function = {"sum": "SUM", "average": "AVG"}[family]
        expression = choice("measure", [(m.value, m.expression(source)) for m in measures])
        alias = {"sum": "total", "average": "average"}[family]
        name = "total" if family == "sum" else family
        labels = _either(m.label for m in measures)
        figures = [f"{function}({expression}) AS {alias}"]
        yield self._grouped(
            f"{family}_by", f"{name}_of_{self._thing.stem}_by", figures,
            f"{name.capitalize()} of {labels} by what {self._thing.nouns} belong to", measures, alias,
        )  # fmt: skip
        if family == "sum":
            yield self._grouped(
                "sum_top_by", f"top_by_total_of_{self._thing.stem}", figures,
                f"What has the highest total of {labels}, the first few", measures, alias,
            )  # fmt: skip

    def _best_by(self, measures: Sequence[Measure]) -> DraftTemplate:
        source = Source(self._thing, self._kind)
        expression = choice("measure", [(m.value, m.expression(source)) for m in measures])
        return self._ranking_of_groups(
            "best_by", f"best_{self._thing.stem}_by", f"SUM({expression}) AS total", "total", source,
            f"Which has the highest total of {_either(m.label for m in measures)}", measures,
            {"highest": ["most", "best", "largest", "biggest"], "lowest": ["least", "worst", "smallest"]},
        )  # fmt: skip

    def _grouped(
        self,
        family: str,
        template_id: str,
        figures: Sequence[str],
        description: str,
        measures: Sequence[Measure] = (),
        figure: str = "",
    ) -> DraftTemplate:
        source = Source(self._thing, self._kind)
        is_top = family.endswith("top_by")
        groups = [g for g in self._groups if not (is_top and g.is_time)] or self._groups
        figure = figure or written(self._thing.stem, self._kind)
        columns, by = _group_sql(groups, source)
        filters = _beside(filters_of(source))
        order = choice_or(
            "by", groups, lambda g: g.is_time, f"{columns_alias(groups, source)}", f"{figure} DESC"
        )
        sql = select([columns, *figures], source, where([*_known_groups(groups, source), *(x for f in filters for x in f.sql)]),
                     f"GROUP BY {by}", f"ORDER BY {order}", *(["LIMIT :limit"] if is_top else []))  # fmt: skip

        def say(turn: int) -> Saying | None:
            group = groups[turn % len(groups)]
            words: dict[str, str] = {
                **self._nouns,
                "group": group.noun,
                "groups": plural(group.noun),
            }
            arguments: dict[str, Any] = {"by": group.value}
            number = 3 + turn % 5
            words["number"] = str(number)
            if is_top:
                arguments["limit"] = number
            if measures:
                measure = measures[turn % len(measures)]
                words["measure"] = (measure.label, *_said_too(measure, turn))[0 if turn % 3 else -1]
                arguments |= _chosen("measure", measure, measures)
            return words, arguments

        def test(turn: int) -> Saying | None:
            said = say(turn + 1)
            if said is None:
                return None
            if measures:
                measure = measures[(turn + 1) % len(measures)]
                return {**said[0], "measure": measure.label}, said[1]
            return said

        return DraftTemplate(
            template_id, description, sql, write(frames(family), say), write(test_frames(family), test, most=2),
            (_group_choice("what they are put together by", groups,
                           words_of_columns().top_leads if is_top else words_of_columns().group_leads),
             *_of_measures(measures), *(f.parameter for f in filters),
             *([{**_LIMIT, "required": True}] if is_top else [])),
        )  # fmt: skip

    def _ranking_of_groups(
        self,
        family: str,
        template_id: str,
        counted: str,
        figure: str,
        source: Source,
        description: str,
        measures: Sequence[Measure],
        orders: Mapping[str, Sequence[str]],
    ) -> DraftTemplate:
        groups = self._groups
        columns, by = _group_sql(groups, source)
        filters = _beside(filters_of(source))
        direction = choice("order", [("lowest", "ASC"), ("highest", "DESC")])
        sql = select([columns, counted], source, where([*_known_groups(groups, source), *(x for f in filters for x in f.sql)]),
                     f"GROUP BY {by}", f"ORDER BY {figure} {direction}", "LIMIT 1")  # fmt: skip

        def say(turn: int) -> Saying | None:
            group = groups[turn % len(groups)]
            words = {**self._nouns, "group": group.noun}
            arguments: dict[str, Any] = {"by": group.value}
            if measures:
                measure = measures[turn % len(measures)]
                words["measure"] = (measure.label, *_said_too(measure, turn))[0 if turn % 3 else -1]
                arguments |= _chosen("measure", measure, measures)
            return words, arguments

        order: Parameter = {
            "name": "order", "type": "string", "enum": list(orders), "default": "highest",
            "synonyms": {name: list(words) for name, words in orders.items()},
            "description": "the highest or the lowest",
        }  # fmt: skip
        return DraftTemplate(
            template_id, description, sql, write(frames(family), say), write(test_frames(family), lambda t: say(t + 1), most=1),
            (_group_choice("which of what", groups, words_of_columns().which_leads), *_of_measures(measures), order,
             *(f.parameter for f in filters)),
        )  # fmt: skip

    # Rankings of single rows

    def _newest(self) -> Iterator[DraftTemplate]:
        thing = self._thing
        date = thing.newest_date
        if date is None:
            return
        order: Parameter = {
            "name": "order", "type": "string", "enum": ["newest", "oldest"], "default": "newest",
            "description": "newest or oldest first",
            "synonyms": {"newest": ["latest", "most recent", "last", "recent"],
                         "oldest": ["earliest", "first"]},
        }  # fmt: skip
        for one in (False, True):
            source = Source(thing, self._kind)
            column = source.column((), date.name)
            way = choice("order", [("oldest", "ASC"), ("newest", "DESC")])
            keys = "".join(f", {key} {way}" for key in source.key_of(()))
            filters = _beside(filters_of(source))
            lines = [f"AND {column} IS NOT NULL", *(x for f in filters for x in f.sql)]
            sql = select(shown_columns(source), source, where(lines), f"ORDER BY {column} {way}{keys}",
                         "LIMIT 1" if one else "LIMIT :limit")  # fmt: skip
            families = [f"{name}{'_one' if one else ''}" for name in ("newest", "oldest")]

            def say(turn: int) -> Saying:
                return {**self._nouns, "number": str(3 + 2 * (turn % 5))}, {}

            examples = write(frames(families[0]), say, most=7) + write(
                frames(families[1]), say, most=4
            )
            noun = thing.one if one else thing.nouns
            yield DraftTemplate(
                f"newest_{_slug(noun)}",
                f"The newest or oldest {noun} by {date.label}",
                sql,
                examples,
                write(test_frames(families[0]), say, most=1),
                (
                    order,
                    *(f.parameter for f in filters),
                    *(() if one else ({**_LIMIT, "default": 10},)),
                ),
                counters=self._counters("not_newest"),
            )

    def _ranked(self) -> Iterator[DraftTemplate]:
        """The rows with the greatest or the smallest of a number."""
        thing = self._thing
        numbers = self._numbers
        births = [p for p in thing.of_role("date") if "birth" in p.label.split(" ")]
        if (not numbers and not births) or thing.table.rows < 2:
            return
        options, shorts, longs, ordering = _rankings(numbers, births)
        name = identifier(f"{thing.one} ranking")
        for one in (False, True):
            source = Source(thing, self._kind)
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
            sql = select(shown_columns(source), source, where(lines),
                         f"ORDER BY {order}{keys}", "LIMIT 1" if one else "LIMIT :limit")  # fmt: skip
            kind = "one" if one else "top"

            def plain(turn: int) -> Saying:
                value, text = longs[turn % len(longs)]
                return {**self._nouns, "ranking": text, "number": str(3 + 2 * (turn % 4))}, {
                    name: value
                }

            def short(turn: int) -> Saying:
                value, text = shorts[turn % len(shorts)]
                return {**self._nouns, "ranking": text, "number": str(3 + 2 * (turn % 4))}, {
                    name: value
                }

            examples = write(frames(kind), plain, most=6 if shorts else 10)
            if shorts:
                examples += write(frames(f"{kind}_word"), short, most=6)
            yield DraftTemplate(
                f"{'top' if not one else 'the'}_{_slug(thing.one if one else thing.nouns)}",
                f"The {thing.one if one else thing.nouns} with the highest or lowest number",
                sql, examples, write(test_frames(kind), plain, most=1),
                ({"name": name, "type": "string", "required": True, "enum": list(options),
                  "synonyms": {v: list(w) for v, w in options.items() if w}, "description": "the highest or lowest of what"},
                 *(f.parameter for f in filters),
                 *(() if one else ({**_LIMIT, "default": 10},))),
            )  # fmt: skip

    # One row

    def _details(self) -> Iterator[DraftTemplate]:
        thing = self._thing
        fields = [
            p.label
            for p in thing.properties
            if p.role not in ("key", "name", "reference", "upkeep", "flag")
        ]
        fields += [link.noun for link in thing.links if link.thing.names]
        names = thing.name_samples()
        if thing.names and thing.table.rows > 1 and (len(fields) > 0):
            source = Source(thing, self._kind)
            name = identifier(f"{thing.noun} name")
            sql = select(
                shown_columns(source, everything=True), source,
                where([_like(source, (), name)]), self._order(source),
            )  # fmt: skip
            known = names or phrases().person_names
            money = any(superlatives(m)[0][:1] == ("most expensive",) for m in self._measures)
            asked = list(frames("details"))
            title = words_of_columns().titles.get(thing.noun, "")
            if thing.is_person:
                asked[2:2] = frames("details_person")
            if money and not thing.is_person:
                asked[3:3] = frames("details_money")

            def say(turn: int) -> Saying:
                value = known[turn % len(known)]
                titled = f"{title} {value}" if title and turn % 3 == 2 else value
                words = {
                    **self._nouns,
                    "name": titled,
                    "name's": possessive(titled),
                    "field": fields[turn % len(fields)],
                }
                return words, {name: value}

            yield DraftTemplate(
                f"{_slug(thing.noun)}_details", f"Everything about one {thing.noun}, by its name", sql,
                write(asked, say), write(test_frames("details"), lambda t: say(t + 12), most=2),
                ({"name": name, "type": "string", "required": True, "description": f"name of the {thing.noun}",
                  "example": known[0]},),
                counters=tuple(fill(f, {**self._nouns, "name": known[0]}) for f in frames("not_details")),
            )  # fmt: skip
        if len(thing.key) == 1 and not (
            thing.is_small and thing.table.rows < 30 and not thing.links
        ):
            yield from self._by_key(fields)

    def _by_key(self, fields: Sequence[str]) -> Iterator[DraftTemplate]:
        thing = self._thing
        key = thing.of_column(thing.key[0])
        if key is None or key.role not in ("key", "name") or not fields:
            return
        source = Source(thing, self._kind)
        name = identifier(f"{thing.noun} id")
        is_number = key.column.column.kind == "integer"
        sql = select(shown_columns(source, everything=True), source,
                     where([f"AND {source.column((), key.name)} = :{name}"]))  # fmt: skip
        keys = [v for v in key.column.samples if is_sayable(str(v))] or [12, 25, 7]

        def say(turn: int) -> Saying:
            value = keys[(3 * turn + 4) % len(keys)]
            return {**self._nouns, "key": str(value), "field": fields[turn % len(fields)]}, {
                name: value
            }

        yield DraftTemplate(
            f"{_slug(thing.noun)}_by_{_slug(key.label)}",
            f"One {thing.noun} by its number",
            sql,
            write(frames("by_key"), say, most=10),
            write(test_frames("by_key"), lambda t: say(t + 20), most=1),
            (
                {
                    "name": name,
                    "type": "integer" if is_number else "string",
                    "required": True,
                    "description": f"number of the {thing.noun}",
                    "example": say(0)[1][name],
                },  # fmt: skip
            ),
            counters=tuple(fill(f, {**self._nouns, **say(0)[0]}) for f in frames("not_key")),
        )

    def _missing(self) -> Iterator[DraftTemplate]:
        """Rows that lack a date or what they refer to."""
        thing = self._thing
        for prop in thing.of_role("date", "reference"):
            if not prop.column.filled or prop.column.filled >= thing.table.looked_at:
                continue
            link = next((each for each in thing.links if prop.name in each.columns), None)
            source = Source(thing, self._kind)
            sql = select(shown_columns(source), source,
                         where([f"AND {source.column((), prop.name)} IS NULL"]), self._order(source))  # fmt: skip
            label = link.noun if link is not None else prop.label
            done = words_of_columns().done_on(prop.label) if link is None else ""
            family = "missing_done" if done else "missing"

            def say(turn: int, label: str = label, done: str = done) -> Saying:  # noqa: ARG001
                return {
                    **self._nouns,
                    "field": label,
                    "a_field": with_article(label),
                    "done": done,
                }, {}

            yield DraftTemplate(
                f"{thing.stem}_without_{_slug(label)}",
                f"The {thing.nouns} that {f'have not been {done}' if done else f'have no {label}'}",
                sql,
                write(frames(family), say),
                write(test_frames(family), say, most=1),
            )

    def _sold_out(self) -> Iterator[DraftTemplate]:
        """What there is none left of."""
        thing = self._thing
        stock = next(
            (p for p in thing.of_role("measure") if p.spoken & {"stock", "inventory"}), None
        )
        if stock is None:
            return
        source = Source(thing, self._kind)
        lines = where([f"AND {source.column((), stock.name)} <= 0"])

        def say(turn: int) -> Saying:  # noqa: ARG001
            return self._nouns, {}

        yield DraftTemplate(
            f"{thing.stem}_out_of_stock",
            f"The {thing.nouns} that are out of stock",
            select(shown_columns(source), source, lines, self._order(source)),
            write(frames("without_stock"), say),
            write(test_frames("without_stock"), say, most=1),
        )

    # What belongs to what

    def _belonging(self, amounts: Sequence[Measure]) -> Iterator[DraftTemplate]:
        """The rows that belong to something of a name, their number, and what they come to."""
        thing = self._thing
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
                "name": name, "type": "string", "required": True,
                "description": f"name of the {link.noun}", "example": known[0],
            }  # fmt: skip

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
                    **self._nouns, "name": value, "name's": possessive(value), "done": done,
                    "of": leads[turn % len(leads)].format(value=spoken), "when": times[turn % len(times)],
                }  # fmt: skip
                if amounts:
                    words["measure"] = amounts[turn % len(amounts)].label
                return words, {name: known[turn % len(known)]}

            stem = f"{thing.stem}_of_{_slug(link.noun)}"
            near = ("count_of", *(("sum_of",) if amounts else ()))
            for family in ("of", *(near if not far and link.thing is not thing else ())):
                source = Source(thing, self._kind)
                condition = _like(source, path, name)
                filters = _beside(filters_of(source))
                lines = where([condition, *(x for f in filters for x in f.sql)])
                extra = [f.parameter for f in filters]
                if family == "of":
                    asked = [*frames("of"), *(frames("of_doing") if done else ())]
                    if any(f.is_period for f in filters):
                        asked[3:3] = frames("of_dated")
                    sql = select(shown_columns(source), source, lines, self._order(source), _LAST)
                    text, about = stem, f"The {thing.nouns} of one {link.noun}, by name"
                    extra.append(_LIMIT)
                elif family == "count_of":
                    asked = [*frames("count_of"), *(frames("count_of_doing") if done else ())]
                    sql = select([f"COUNT(*) AS {written(thing.stem, self._kind)}"], source, lines)
                    text, about = f"count_{stem}", f"How many {thing.nouns} one {link.noun} has"
                else:
                    asked = list(frames("sum_of"))
                    expression = choice(
                        "measure", [(m.value, m.expression(source)) for m in amounts]
                    )
                    sql = select([f"SUM({expression}) AS total"], source, lines)
                    text, about = (
                        f"total_of_{stem}",
                        f"Total of {_either(m.label for m in amounts)} of one {link.noun}",
                    )
                    extra = [*_of_measures(amounts), *extra]
                yield DraftTemplate(
                    text, about, sql, write(asked, say),
                    write(test_frames(family), lambda t, say=say: say(t + 12), most=1),  # type: ignore[misc]
                    (parameter, *extra), "table" if family == "of" else "single",
                )  # fmt: skip

    def _in_one(self) -> Iterator[DraftTemplate]:
        """What is on one thing that has a number and no name: the lines of an order."""
        thing = self._thing
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
            source = Source(thing, self._kind)
            name = identifier(f"{other.noun} id")
            column = source.column((), link.columns[0])
            sql = select(
                shown_columns(source),
                source,
                where([f"AND {column} = :{name}"]),
                self._order(source),
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
                f"{thing.stem}_of_{_slug(other.noun)}",
                f"The {thing.nouns} of one {other.noun}, by its number",
                sql, write(frames("in_one"), say, most=10),
                write(test_frames("in_one"), lambda t, say=say: say(t + 20), most=1),  # type: ignore[misc]
                ({"name": name, "type": "integer" if is_number else "string", "required": True,
                  "description": f"number of the {other.noun}", "example": say(0)[1][name]},),
            )  # fmt: skip

    def _across(self) -> Iterator[DraftTemplate]:
        """Through a table that joins two: the films with an actor, and the actors of a film."""
        thing = self._thing
        if not thing.joins_two:
            return
        for wanted in thing.links:
            for given in thing.links:
                if (
                    wanted is given
                    or not given.thing.names
                    or not (wanted.thing.names or wanted.thing.links)
                ):
                    continue
                yield from self._through(wanted, given)

    def _through(self, wanted: Link, given: Link) -> Iterator[DraftTemplate]:
        thing, target = self._thing, wanted.thing
        name = identifier(f"{given.noun} name")
        known = given.thing.name_samples() or phrases().person_names
        leads = words_of_columns().lead_to(given.noun)
        for family in ("of", "count_of"):
            source = Source(target, self._kind)
            inner = Source(thing, self._kind)
            condition = _like(inner, (given,), name)
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
                    Families(target, self._things, self._kind)._order(source),
                )
            else:
                sql = select([f"COUNT(*) AS {written(target.stem, self._kind)}"], source, lines)

            def say(turn: int) -> Saying:
                value = known[turn % len(known)]
                words = {
                    "thing": target.noun, "things": target.nouns, "name": value, "name's": possessive(value),
                    "of": leads[turn % len(leads)].format(value=value),
                }  # fmt: skip
                return words, {name: value}

            prefix = "count_" if family == "count_of" else ""
            yield DraftTemplate(
                f"{prefix}{target.stem}_with_{_slug(given.noun)}",
                f"{'How many' if prefix else 'The'} {target.nouns} of one {given.noun}, by name",
                sql, write(frames(family), say), write(test_frames(family), lambda t: say(t + 12), most=1),
                ({"name": name, "type": "string", "required": True, "description": f"name of the {given.noun}",
                  "example": known[0]},),
                "single" if prefix else "table",
            )  # fmt: skip

    def _with_children(self) -> Iterator[DraftTemplate]:
        """What has none, or more than some number, of what refers to it."""
        thing = self._thing
        for child, link, nouns in self._children():
            source, inner = Source(thing, self._kind), Source(child, self._kind)
            on = f"{inner.column((), link.columns[0])} = {source.column((), thing.key[0])}"
            lines = where([f"AND NOT EXISTS (SELECT 1 {_one_line(inner.text())} WHERE {on})"])
            sql = select(shown_columns(source), source, lines, self._order(source))
            words = {**self._nouns, "others": nouns, "an_other": with_article(_one(nouns, child))}

            def say(turn: int, words: Mapping[str, str] = words) -> Saying:  # noqa: ARG001
                return words, {}

            yield DraftTemplate(
                f"{thing.stem}_without_{_slug(nouns)}",
                f"The {thing.nouns} that have no {nouns}",
                sql,
                write(frames("without"), say),
                write(test_frames("without"), say, most=1),
            )
        yield from self._by_children()

    def _by_children(self) -> Iterator[DraftTemplate]:
        """What has more, or fewer, of what refers to it than a number."""
        thing = self._thing
        source = Source(thing, self._kind)
        counts: dict[str, tuple[str, str]] = {}
        for child, link, nouns in self._children():
            inner = Source(child, self._kind)
            on = f"{inner.column((), link.columns[0])} = {source.column((), thing.key[0])}"
            counted = f"(SELECT COUNT(*) {_one_line(inner.text())} WHERE {on})"
            counts.setdefault(_slug(nouns), (nouns, counted))
        if not counts:
            return
        counted = choice("counted", [(value, sql) for value, (_, sql) in counts.items()])
        compared = choice("comparison", [*COMPARISONS.items()])
        columns = [*shown_columns(source), f"{counted} AS number"]
        sql = select(columns, source, where([f"AND {counted} {compared} :number"]),
                     "ORDER BY number DESC")  # fmt: skip
        nouns_of = [(value, nouns) for value, (nouns, _) in counts.items()]

        def say(turn: int) -> Saying:
            value, nouns = nouns_of[turn % len(nouns_of)]
            number = 2 + turn % 9
            words = {**self._nouns, "others": nouns, "number": str(number)}
            return words, {"counted": value, "comparison": "above", "number": number}

        counters = [
            fill(frame, {**self._nouns, "others": nouns})
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
                    "synonyms": {v: [n] for v, n in nouns_of if n != v} or None,
                },  # fmt: skip
                comparison_choice() | {"required": True},
                {"name": "number", "type": "integer", "required": True, "description": "how many"},
            ),
            counters=tuple(counters),
        )

    def _children(self) -> Iterator[tuple[Thing, Link, str]]:
        """What refers to the thing, by what link, and what such things are called."""
        thing = self._thing
        if not thing.names or self._is_list or len(thing.key) != 1:
            return
        for child in self._things:
            for link in child.links:
                if link.thing is not thing or child is thing:
                    continue
                nouns = child.nouns
                if child.joins_two:
                    nouns = next((plural(o.noun) for o in child.links if o is not link), nouns)
                yield child, link, nouns

    # Parts

    def _filters(self, source: Source) -> list[Filter]:
        """What a list can be narrowed by, numbers among them."""
        found = filters_of(source)
        at = next((n for n, f in enumerate(found) if f.is_period), len(found))
        names = {f.parameter["name"] for f in found}
        return [
            *found[:at],
            *(f for f in number_filters(source, self._numbers) if f.parameter["name"] not in names),
            *found[at:],
        ]

    def _counters(self, name: str) -> tuple[str, ...]:
        return tuple(fill(frame, self._nouns) for frame in frames(name))

    def _order(self, source: Source) -> str:
        thing = self._thing
        if thing.names:
            names = [source.column((), name) for name in reversed(thing.names)]
            return f"ORDER BY {', '.join(names)}"
        dated = date_of(thing)
        keys = ", ".join(source.key_of(()))
        if dated is not None:
            day = source.column(dated[0], dated[1].name)
            return f"ORDER BY {day} DESC{f', {keys}' if keys else ''}"
        return f"ORDER BY {keys}" if keys else ""

    def _some(self, filters: Sequence[Filter], turn: int, *, first: int = 0) -> Saying:
        """The noun with the filters of a turn; without any in the first turns."""
        thing = self._thing
        if turn < first or not filters:
            before, after, arguments, timed = "", "", {}, False
        else:
            before, after, arguments, timed = spoken_filter(filters, turn - first)
        nouns = (thing.nouns, *map(plural, thing.also))
        noun = nouns[turn % len(nouns)] if turn % 3 == 2 else thing.nouns
        some = " ".join(part for part in (before, noun, after) if part)
        words = {
            **self._nouns, "some": some,
            **({"are": before} if before and not after else {}),
            **({"after": after} if after.startswith("in ") and thing.noun in ("staff", "employee") else {}),
            "with": f" for {some}" if before else f" {after}" if after else "",
            "of_some": f" of {some}" if before or after or turn % 2 else "",
        }  # fmt: skip
        given = dict(arguments)
        if timed:
            given["start_date"] = None
        return words, given

    def _testable(self, filters: Sequence[Filter]) -> Any:
        plain = [f for f in filters if not f.is_period]

        def say(turn: int) -> Saying:
            if not plain:
                return self._some([], turn)
            before, after, arguments, _ = spoken_filter(plain, turn + 1, most=1)
            some = " ".join(part for part in (before, self._thing.nouns, after) if part)
            words = {**self._nouns, "some": some, "with": f" for {some}", "of_some": f" of {some}"}
            return words, arguments

        return say


def choice_or(name: str, groups: Sequence[Group], test: Any, then: str, otherwise: str) -> str:
    chosen = [g.value for g in groups if test(g)]
    if not chosen:
        return otherwise
    if len(chosen) == len(groups):
        return then
    condition = " or ".join(f"{name} == '{value}'" for value in chosen)
    return f"{{% if {condition} %}}{then}{{% else %}}{otherwise}{{% endif %}}"


def columns_alias(groups: Sequence[Group], source: Source) -> str:  # noqa: ARG001
    return "1"


def _group_sql(groups: Sequence[Group], source: Source) -> tuple[str, str]:
    columns = choice("by", [(g.value, ", ".join(g.columns(source))) for g in groups])
    by = choice("by", [(g.value, ", ".join(g.by(source))) for g in groups])
    return columns, by


def _known_groups(groups: Sequence[Group], source: Source) -> list[str]:
    """Only rows that have what they are put together by, where that is another thing."""
    return [
        when(f"by == '{g.value}'", f"AND {g.by(source)[0]} IS NOT NULL")
        for g in groups
        if g.path and any(_may_lack(link, at, g.path) for at, link in enumerate(g.path))
    ]


def _may_lack(link: Link, at: int, path: Path) -> bool:  # noqa: ARG001
    return True


def _wide(filters: Sequence[Filter]) -> int:
    """How many examples show every filter."""
    return MOST_EXAMPLES if len(filters) < 8 else MOST_EXAMPLES + 6


def _beside(filters: Sequence[Filter], most: int = 6) -> list[Filter]:
    """The filters that go with a group or an owner: the first kinds, and the time."""
    return [f for f in filters if not f.is_period][:most] + [f for f in filters if f.is_period]


def _like(source: Source, path: Path, name: str) -> str:
    """A name in one column is looked up as the database has it; of two columns, a part will do."""
    thing = path[-1].thing if path else source.thing
    if len(thing.names) == 1:
        return f"AND {source.name_of(path)} = :{name}"
    return f"AND LOWER({source.name_of(path)}) LIKE LOWER(:{name})"


def _enumeration(
    name: str, about: str, options: Sequence[Group] | Sequence[Measure], default: str | None = None
) -> Parameter:
    synonyms: dict[str, list[str]] = {}
    taken = {each.value.lower() for each in options}
    for each in options:
        label = each.noun if isinstance(each, Group) else each.label
        own = each.words if isinstance(each, Group) and each.is_time else (label, *each.words)
        kept = [w for w in dict.fromkeys(own) if w.lower() not in taken]
        taken |= {word.lower() for word in kept}
        if kept:
            synonyms[each.value] = kept
    parameter: Parameter = {"name": name, "type": "string", "description": about,
                            "enum": [each.value for each in options]}  # fmt: skip
    if default is None:
        parameter["required"] = True
    else:
        parameter["default"] = default
    return parameter | ({"synonyms": synonyms} if synonyms else {})


def _group_choice(about: str, groups: Sequence[Group], leads: Sequence[str]) -> Parameter:
    """What rows are put together by, said with what says so: a customer alone is no group."""
    synonyms: dict[str, list[str]] = {}
    taken: set[str] = set()
    for group in groups:
        nouns = dict.fromkeys((group.noun, *group.words))
        words = [
            lead.format(group=noun, groups=plural(noun))
            for noun in nouns
            for lead in leads
            if not (group.is_time and lead == "{groups}")
        ]
        kept = [w for w in dict.fromkeys(words) if w not in taken]
        taken |= {*kept}
        synonyms[group.value] = kept
    return {
        "name": "by", "type": "string", "description": about, "required": True,
        "enum": [g.value for g in groups], "synonyms": synonyms,
    }  # fmt: skip


def _of_measures(measures: Sequence[Measure]) -> tuple[Parameter, ...]:
    if len(measures) < 2:
        return ()
    with_more = [replace(m, words=(*m.words, *_sums(m))) for m in measures]
    return (_enumeration("measure", "which amount", with_more, default=measures[0].value),)


def _chosen(name: str, measure: Measure, measures: Sequence[Measure]) -> dict[str, Any]:
    return {name: measure.value} if len(measures) > 1 else {}


def _earner(things: Sequence[Thing]) -> Thing | None:
    """The thing whose amounts are the revenue."""
    sums = {"revenue"}
    earning = [
        thing
        for thing in things
        if any(m.adds_up and {*_sums(m)} & sums or m.value == "revenue" for m in measures_of(thing))
    ]
    first = words_of_columns().money_first
    ranked = [
        t for noun in first for t in earning if t.noun.split(" ")[-1] == noun and not t.joins_two
    ]
    return ranked[0] if ranked else earning[0] if earning else None


def _verbs(measure: Measure) -> tuple[tuple[str, ...], tuple[str, ...]]:
    spoken = {*measure.label.split(" ")}
    found = next((m for m in words_of_columns().measures if m.words & spoken), None)
    return (
        (found.verbs, found.done)
        if found is not None and measure.adds_up and found.done
        else ((), ())
    )


def _sums(measure: Measure) -> tuple[str, ...]:
    spoken = {*measure.label.split(" ")}
    if not measure.adds_up or not measure.earns:
        return ()
    return next((m.sum for m in words_of_columns().measures if m.words & spoken), ())


def _said_too(measure: Measure, turn: int) -> tuple[str, ...]:
    words = tuple(dict.fromkeys((*_sums(measure), *measure.words[:1])))
    return (words[turn // 3 % len(words)],) if words else ()


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
        assert measure.prop is not None
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
        for value, words, way in (("oldest", ("eldest",), "ASC"), ("youngest", (), "DESC")):
            if value not in taken:
                options[value] = words
                ordering.append((value, birth, way))
                shorts.append((value, value))
                longs.append((value, f"{'earliest' if way == 'ASC' else 'latest'} {birth.label}"))
                options[value] = (*words, longs[-1][1])
    return options, shorts, longs, ordering


def _one(nouns: str, child: Thing) -> str:
    return (
        child.noun
        if nouns == child.nouns
        else next((link.noun for link in child.links if plural(link.noun) == nouns), child.noun)
    )


def _slug(text: str) -> str:
    """A noun within the id of a template."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def _one_line(text: str) -> str:
    return " ".join(text.split("\n"))


def _either(labels: Iterable[str]) -> str:
    *others, last = dict.fromkeys(labels)
    return f"{', '.join(others)} or {last}" if others else last


def _by_what(filters: Sequence[Filter]) -> str:
    labels = [str(f.parameter["description"]) for f in filters if not f.is_period]
    return f", by {_either(labels)}" if labels else ""
