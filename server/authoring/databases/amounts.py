"""How many, how much in all and how much on average, and by what."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from server.authoring.databases.family import LIMIT, DraftTemplate, Family, beside, either
from server.authoring.databases.filters import (
    Parameter,
    filters_of,
)
from server.authoring.databases.groups import (
    Group,
    Measure,
    levels_of,
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
    when,
    where,
    written,
)
from server.authoring.databases.words import words_of_columns
from server.authoring.phrases import plural
from server.authoring.sentences import ExampleQuestion


class Amounts(Family):
    """Counts by group, totals and averages."""

    def templates(self) -> Iterator[DraftTemplate]:
        fall_into_groups = bool(self.groups) and not self.is_list
        if fall_into_groups and (self.amounts or not self.thing.joins_two):
            yield from self._count_by()
            yield self._most_by()
        if self.amounts:
            yield self._total("sum", self.amounts)
            if self.groups:
                yield from self._total_by("sum", self.amounts)
                yield self._best_by(self.amounts)
        levels = [m for m in levels_of(self.thing) if "year" not in m.label]
        averaged = [*self.measures, *levels]
        if averaged and not self.thing.joins_two:
            yield self._total("average", averaged)
            if fall_into_groups:
                yield from self._total_by("average", averaged)

    def _count_by(self) -> Iterator[DraftTemplate]:
        counted = f"COUNT(*) AS {written(self.thing.stem, self.kind)}"
        nouns = self.thing.nouns
        yield self._grouped(
            "count_by",
            f"count_{self.thing.stem}_by",
            [counted],
            f"Count {nouns} by what they belong to",
        )
        yield self._grouped(
            "count_top_by",
            f"top_by_{self.thing.stem}",
            [counted],
            f"What has the most {nouns}, the first few",
        )

    def _most_by(self) -> DraftTemplate:
        source = Source(self.thing, self.kind)
        alias = written(self.thing.stem, self.kind)
        return self._ranking_of_groups(
            "most_by",
            f"most_{self.thing.stem}_by",
            f"COUNT(*) AS {alias}",
            alias,
            source,
            f"Which has the most {self.thing.nouns}",
            (),
            {"highest": ["most"], "lowest": ["fewest", "least"]},
        )

    def _total(self, family: str, measures: Sequence[Measure]) -> DraftTemplate:
        source = Source(self.thing, self.kind)
        function = {"sum": "SUM", "average": "AVG"}[family]
        expression = choice("measure", [(m.value, m.expression(source)) for m in measures])
        alias = {"sum": "total", "average": "average"}[family]
        filters = filters_of(source)
        conditions = where(line for f in filters for line in f.sql)
        sql = select([f"{function}({expression}) AS {alias}"], source, conditions)

        def say(turn: int, *, test: bool = False) -> Saying | None:
            some = (self.testable(filters) if test else lambda t: self.some(filters, t, first=3))(
                turn
            )
            if some is None:
                return None
            words, arguments = some
            measure = measures[turn % len(measures)]
            spoken = (measure.label, *said_too(measure, turn))[0 if turn % 3 else -1]
            verbs, done = _verbs(measure)
            words = {**words, "measure": spoken}
            if verbs:
                words |= {"verb": verbs[turn % len(verbs)], "done": done[turn % len(done)]}
            return words, {**arguments, **chosen("measure", measure, measures)}

        asked = list(frames(family))
        if family == "sum":
            asked[2:2] = frames("sum_spent")
        examples = write(asked, say)
        if any(f.is_period for f in filters):

            def dated(turn: int) -> Saying:
                measure = measures[turn % len(measures)]
                verbs, done = _verbs(measure)
                words = {**self.nouns, "when": times[turn % len(times)]}
                words["measure"] = (*sums(measure), measure.label)[turn % (len(sums(measure)) + 1)]
                if verbs:
                    words |= {"verb": verbs[turn % len(verbs)], "done": done[turn % len(done)]}
                return words, {**chosen("measure", measure, measures), "start_date": None}

            times = words_of_columns().times
            examples += write(frames(f"{family}_dated"), dated, most=6)
            if family == "sum":
                examples += write(frames("sum_spent_dated"), dated, most=3)
        return DraftTemplate(
            f"{'total' if family == 'sum' else family}_of_{self.thing.stem}",
            f"{'Total' if family == 'sum' else 'Average'} of {either(m.label for m in measures)} "
            f"over {self.thing.nouns}",
            sql,
            examples,
            write(test_frames(family), lambda turn: say(turn, test=True), most=2),
            (*of_measures(measures), *(f.parameter for f in filters)),
            "single",
            tuple(
                filled
                for frame in frames("not_sum" if family == "sum" else "not_average")
                if (filled := fill(frame, {**self.nouns, "measure": measures[0].label}))
            ),
        )

    def _total_by(self, family: str, measures: Sequence[Measure]) -> Iterator[DraftTemplate]:
        source = Source(self.thing, self.kind)
        function = {"sum": "SUM", "average": "AVG"}[family]
        expression = choice("measure", [(m.value, m.expression(source)) for m in measures])
        alias = {"sum": "total", "average": "average"}[family]
        name = "total" if family == "sum" else family
        labels = either(m.label for m in measures)
        figures = [f"{function}({expression}) AS {alias}"]
        yield self._grouped(
            f"{family}_by",
            f"{name}_of_{self.thing.stem}_by",
            figures,
            f"{name.capitalize()} of {labels} by what {self.thing.nouns} belong to",
            measures,
            alias,
        )
        if family == "sum":
            yield self._grouped(
                "sum_top_by",
                f"top_by_total_of_{self.thing.stem}",
                figures,
                f"What has the highest total of {labels}, the first few",
                measures,
                alias,
            )

    def _best_by(self, measures: Sequence[Measure]) -> DraftTemplate:
        source = Source(self.thing, self.kind)
        expression = choice("measure", [(m.value, m.expression(source)) for m in measures])
        return self._ranking_of_groups(
            "best_by",
            f"best_{self.thing.stem}_by",
            f"SUM({expression}) AS total",
            "total",
            source,
            f"Which has the highest total of {either(m.label for m in measures)}",
            measures,
            {
                "highest": ["most", "best", "largest", "biggest"],
                "lowest": ["least", "worst", "smallest"],
            },
        )

    def _done_most(self, family: str) -> tuple[ExampleQuestion, ...]:
        """The most rented film, of rentals."""
        done = words_of_columns().done_with.get(self.thing.noun, "")
        groups = [g for g in self.groups if g.path and not g.path[-1].thing.is_person]
        groups = [g for g in groups if not g.path[-1].thing.is_small or len(g.path) == 1]
        if not done or not groups:
            return ()

        def say(turn: int) -> Saying:
            group = groups[turn % len(groups)]
            arguments = {"by": group.value}
            return {**self.nouns, "done": done, "group": group.noun}, arguments

        return write(frames(f"{family}_done"), say, most=6)

    def _grouped(
        self,
        family: str,
        template_id: str,
        figures: Sequence[str],
        description: str,
        measures: Sequence[Measure] = (),
        figure: str = "",
    ) -> DraftTemplate:
        source = Source(self.thing, self.kind)
        is_top = family.endswith("top_by")
        groups = [g for g in self.groups if not (is_top and g.is_time)] or self.groups
        figure = figure or written(self.thing.stem, self.kind)
        _join_when(groups, source)
        labels = measures[0].label if measures else ""
        columns, by = _group_sql(groups, source)
        filters = beside(filters_of(source))
        order = choice_or("by", groups, lambda g: g.is_time, "1", f"{figure} DESC")
        sql = select(
            [columns, *figures],
            source,
            where([*_known_groups(groups, source), *(x for f in filters for x in f.sql)]),
            f"GROUP BY {by}",
            f"ORDER BY {order}",
            *(["LIMIT :limit"] if is_top else []),
        )

        def say(turn: int) -> Saying | None:
            group = groups[turn % len(groups)]
            words: dict[str, str] = {
                **self.nouns,
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
                words["measure"] = (measure.label, *said_too(measure, turn))[0 if turn % 3 else -1]
                arguments |= chosen("measure", measure, measures)
            return words, arguments

        def test(turn: int) -> Saying | None:
            said = say(turn + 1)
            if said is None:
                return None
            if measures:
                measure = measures[(turn + 1) % len(measures)]
                return {**said[0], "measure": measure.label}, said[1]
            return said

        each_time = words_of_columns().each_time
        timed = [(g, e) for g in groups if g.is_time for e in each_time.get(g.noun, ())]

        def each(turn: int) -> Saying | None:
            group, word = timed[turn % len(timed)]
            said = say(groups.index(group) + turn * len(groups))
            return said and ({**said[0], "each": word}, said[1])

        examples = write(frames(family), say)
        if timed and not is_top:
            examples += write(frames(f"{family}_time"), each, most=8)
        return DraftTemplate(
            template_id,
            description,
            sql,
            examples,
            write(test_frames(family), test, most=2),
            (
                *_choice_of_groups(
                    "what they are put together by",
                    groups,
                    words_of_columns().top_leads if is_top else words_of_columns().group_leads,
                ),
                *of_measures(measures),
                *(f.parameter for f in filters),
                *([{**LIMIT, "required": True}] if is_top else []),
            ),
            counters=tuple(
                filled
                for frame in frames("not_sum_by" if measures else "not_count_by")
                if (filled := fill(frame, {**self.nouns, "measure": labels}))
            ),
        )

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
        groups = self.groups
        _join_when(groups, source)
        columns, by = _group_sql(groups, source)
        filters = beside(filters_of(source))
        direction = choice("order", [("lowest", "ASC"), ("highest", "DESC")])
        sql = select(
            [columns, counted],
            source,
            where([*_known_groups(groups, source), *(x for f in filters for x in f.sql)]),
            f"GROUP BY {by}",
            f"ORDER BY {figure} {direction}",
            "LIMIT 1",
        )

        def say(turn: int) -> Saying | None:
            group = groups[turn % len(groups)]
            words = {**self.nouns, "group": group.noun}
            arguments: dict[str, Any] = {"by": group.value}
            if measures:
                measure = measures[turn % len(measures)]
                words["measure"] = (measure.label, *said_too(measure, turn))[0 if turn % 3 else -1]
                arguments |= chosen("measure", measure, measures)
            return words, arguments

        order: Parameter = {
            "name": "order",
            "type": "string",
            "enum": list(orders),
            "default": "highest",
            "synonyms": {name: list(words) for name, words in orders.items()},
            "description": "the highest or the lowest",
        }
        return DraftTemplate(
            template_id,
            description,
            sql,
            write(frames(family), say) + self._done_most(family),
            write(test_frames(family), lambda t: say(t + 1), most=1),
            (
                *_choice_of_groups("which of what", groups, words_of_columns().which_leads),
                *of_measures(measures),
                order,
                *(f.parameter for f in filters),
            ),
        )


def choice_or(name: str, groups: Sequence[Group], test: Any, then: str, otherwise: str) -> str:
    chosen = [g.value for g in groups if test(g)]
    if not chosen:
        return otherwise
    if len(chosen) == len(groups):
        return then
    condition = " or ".join(f"{name} == '{value}'" for value in chosen)
    return f"{{% if {condition} %}}{then}{{% else %}}{otherwise}{{% endif %}}"


def _group_sql(groups: Sequence[Group], source: Source) -> tuple[str, str]:
    columns = choice("by", [(g.value, ", ".join(g.columns(source))) for g in groups])
    by = choice("by", [(g.value, ", ".join(g.by(source))) for g in groups])
    return columns, by


def _join_when(groups: Sequence[Group], source: Source) -> None:
    """What may be joined several times to one row is joined only to put rows together by it."""
    if len(groups) > 1:
        source.when_joined.update(
            {g.path[-1].noun: f"by == '{g.value}'" for g in groups if g.path and g.path[-1].through}
        )


def _known_groups(groups: Sequence[Group], source: Source) -> list[str]:
    """Only rows that have what they are put together by, where that is another thing."""
    alone = len(groups) == 1
    return [
        when(f"by == '{g.value}'", f"AND {g.by(source)[0]} IS NOT NULL")
        for g in groups
        if g.path or alone
    ]


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
    parameter: Parameter = {
        "name": name,
        "type": "string",
        "description": about,
        "enum": [each.value for each in options],
    }
    if default is None:
        parameter["required"] = True
    else:
        parameter["default"] = default
    return parameter | ({"synonyms": synonyms} if synonyms else {})


def _choice_of_groups(
    about: str, groups: Sequence[Group], leads: Sequence[str]
) -> tuple[Parameter, ...]:
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
        if group.is_time:
            words += words_of_columns().each_time.get(group.noun, ())
        kept = [w for w in dict.fromkeys(words) if w not in taken]
        taken |= {*kept}
        synonyms[group.value] = kept
    parameter: Parameter = {
        "name": "by",
        "type": "string",
        "description": about,
        "required": True,
        "enum": [g.value for g in groups],
        "synonyms": synonyms,
    }
    return (parameter,)


def of_measures(measures: Sequence[Measure]) -> tuple[Parameter, ...]:
    if len(measures) < 2:
        return ()
    with_more = [replace(m, words=(*m.words, *sums(m))) for m in measures]
    return (_enumeration("measure", "which amount", with_more, default=measures[0].value),)


def chosen(name: str, measure: Measure, measures: Sequence[Measure]) -> dict[str, Any]:
    return {name: measure.value} if len(measures) > 1 else {}


def _verbs(measure: Measure) -> tuple[tuple[str, ...], tuple[str, ...]]:
    spoken = {*measure.label.split(" ")}
    found = next((m for m in words_of_columns().measures if m.words & spoken), None)
    return (
        (found.verbs, found.done)
        if found is not None and measure.adds_up and found.done
        else ((), ())
    )


def said_too(measure: Measure, turn: int) -> tuple[str, ...]:
    words = tuple(dict.fromkeys((*sums(measure), *measure.words[:1])))
    return (words[turn // 3 % len(words)],) if words else ()
