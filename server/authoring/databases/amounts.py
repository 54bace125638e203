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
            yield self._count_by()
        levels = [m for m in levels_of(self.thing) if "year" not in m.label]
        averaged = [] if self.thing.joins_two else [*self.measures, *levels]
        measures = [*self.amounts, *(m for m in averaged if m not in self.amounts)]
        if measures:
            yield self._figure(measures)
        if measures and (fall_into_groups or (self.amounts and self.groups)):
            yield self._figure_by(measures)

    def _count_by(self) -> DraftTemplate:
        figure = written(self.thing.stem, self.kind)
        examples = self._by_examples("count", ())
        return DraftTemplate(
            f"count_{self.thing.stem}_by",
            f"Count {self.thing.nouns} by what they belong to, and what has the most of them",
            examples=examples + self._done_most(),
            questions=write(test_frames("count_by"), lambda t: self._group_said(t + 1, ()), most=2),
            counters=tuple(
                filled for f in frames("not_count_by") if (filled := fill(f, self.nouns))
            ),
            **self._by(f"COUNT(*) AS {figure}", figure, ()),
        )

    def _figure_by(self, measures: Sequence[Measure]) -> DraftTemplate:
        kinds = self._kinds(measures)
        examples: tuple[ExampleQuestion, ...] = ()
        if self.amounts:
            examples += self._by_examples("sum", self.amounts)
        examples += write(frames("average_by"), lambda t: self._group_said(t, measures), most=8)
        name = "figures" if len(kinds) > 1 else "average"
        return DraftTemplate(
            f"{name}_of_{self.thing.stem}_by",
            f"{either(kinds).capitalize()} of {either(m.label for m in measures)} "
            f"by what {self.thing.nouns} belong to",
            examples=examples,
            questions=tuple(
                q
                for kind in kinds
                for q in write(
                    test_frames("sum_by" if kind == "total" else "average_by"),
                    lambda t: self._group_said(t + 1, self.amounts or measures),
                    most=1,
                )
            ),
            counters=tuple(
                filled
                for f in frames("not_figure_by")
                if (filled := fill(f, {**self.nouns, "measure": measures[0].label}))
            ),
            **self._by("", "", measures),
        )

    def _kinds(self, measures: Sequence[Measure]) -> list[str]:
        """The figures that are worked out: only what adds up has a total."""
        return ["total", "average"] if any(m.adds_up for m in measures) else ["average"]

    def _figure_sql(self, measures: Sequence[Measure], source: Source) -> str:
        expression = choice("measure", [(m.value, m.expression(source)) for m in measures])
        if len(self._kinds(measures)) == 1:
            return f"AVG({expression}) AS average"
        single = [m.value for m in measures if not m.adds_up]
        of_these = " or ".join(f"measure == '{value}'" for value in single)
        other = f"{{% elif {of_these} %}}AVG({expression}) AS average" if single else ""
        return (
            f"{{% if figure == 'average' %}}AVG({expression}) AS average"
            f"{{% elif figure == 'total' %}}SUM({expression}) AS total"
            f"{other}{{% else %}}SUM({expression}) AS total{{% endif %}}"
        )

    def _figure_choice(self, measures: Sequence[Measure]) -> tuple[Parameter, ...]:
        """Which figure, a total unless it is said; and of which amount."""
        kinds = self._kinds(measures)
        known = words_of_columns().figures
        figure: Parameter = {
            "name": "figure",
            "type": "string",
            "description": "total or average",
            "required": False,
            "enum": kinds,
            "synonyms": {kind: list(known[kind]) for kind in kinds},
        }
        return (*([figure] if len(kinds) > 1 else []), *of_measures(measures))

    def _figure(self, measures: Sequence[Measure]) -> DraftTemplate:
        source = Source(self.thing, self.kind)
        filters = filters_of(source)
        kinds, times = self._kinds(measures), words_of_columns().times
        sql = select(
            [self._figure_sql(measures, source)],
            source,
            where(line for f in filters for line in f.sql),
        )

        def say(turn: int, of: Sequence[Measure], *, test: bool = False) -> Saying:
            said = self.testable(filters) if test else lambda t: self.some(filters, t, first=3)
            words, arguments = said(turn)
            return self._measured(turn, of, words), {**arguments, **chosen("measure", of, turn)}

        def dated(turn: int, of: Sequence[Measure]) -> Saying:
            words = self._measured(turn, of, {**self.nouns, "when": times[turn % len(times)]})
            measure = of[turn % len(of)]
            words["measure"] = (*sums(measure), measure.label)[turn % (len(sums(measure)) + 1)]
            return words, {**chosen("measure", of, turn), "start_date": None}

        is_dated = any(f.is_period for f in filters)
        examples: tuple[ExampleQuestion, ...] = ()
        if self.amounts:
            asked = list(frames("sum"))
            asked[2:2] = frames("sum_spent")
            examples += write(asked, lambda t: say(t, self.amounts))
            if is_dated:
                examples += write(frames("sum_dated"), lambda t: dated(t, self.amounts), most=6)
                examples += write(
                    frames("sum_spent_dated"), lambda t: dated(t, self.amounts), most=3
                )
            examples += self.of_names("sum", self.amounts)
        most = 10 if not self.amounts else 8
        examples += write(frames("average"), lambda t: say(t, measures), most=most)
        if is_dated:
            examples += write(frames("average_dated"), lambda t: dated(t, measures), most=4)
        questions = tuple(
            q
            for kind in kinds
            for q in write(
                test_frames("sum" if kind == "total" else kind),
                lambda t, kind=kind: say(  # type: ignore[misc]
                    t, self.amounts if kind == "total" else measures, test=True
                ),
                most=1,
            )
        )
        name = "figures" if len(kinds) > 1 else "average"
        return DraftTemplate(
            f"{name}_of_{self.thing.stem}",
            f"{either(kinds).capitalize()} of {either(m.label for m in measures)} "
            f"over {self.thing.nouns}",
            sql,
            examples,
            questions,
            (*self._figure_choice(measures), *(f.parameter for f in filters)),
            "single",
            tuple(
                filled
                for frame in frames("not_figure")
                if (filled := fill(frame, {**self.nouns, "measure": measures[0].label}))
            ),
        )

    def _measured(
        self, turn: int, measures: Sequence[Measure], words: Mapping[str, str]
    ) -> dict[str, str]:
        """Words with those for the amount of a turn, and what people do with it."""
        measure = measures[turn % len(measures)]
        verbs, done = _verbs(measure)
        found = {**words, "measure": (measure.label, *said_too(measure, turn))[-(turn % 3 == 0)]}
        if verbs:
            found |= {"verb": verbs[turn % len(verbs)], "done": done[turn % len(done)]}
        return found

    def _done_most(self) -> tuple[ExampleQuestion, ...]:
        """The most rented film, of rentals."""
        done = words_of_columns().done_with.get(self.thing.noun, "")
        groups = [g for g in self.groups if _may_be_done(g)]
        if not done or not groups:
            return ()

        def say(turn: int) -> Saying:
            group = groups[turn % len(groups)]
            words = {"group": group.noun, "groups": plural(group.noun), "number": str(3 + turn)}
            return {**self.nouns, **words, "done": done}, {"by": group.value}

        return write(frames("count_by_done"), say, most=6)

    def _group_said(self, turn: int, measures: Sequence[Measure]) -> Saying:
        group, number = self.groups[turn % len(self.groups)], 3 + turn % 5
        words: dict[str, str] = {
            **self.nouns,
            "group": group.noun,
            "groups": plural(group.noun),
            "number": str(number),
        }
        if not measures:
            return words, {"by": group.value}
        return self._measured(turn, measures, words), {
            "by": group.value,
            **chosen("measure", measures, turn),
        }

    def _by_examples(self, family: str, measures: Sequence[Measure]) -> tuple[ExampleQuestion, ...]:
        """By each group, by time in one word, the first few, and the one with the most."""
        each_time, groups = words_of_columns().each_time, self.groups
        things = [at for at, group in enumerate(groups) if not group.is_time] or [0]
        timed = [(at, e) for at, g in enumerate(groups) for e in each_time.get(g.noun, ())]

        def say(turn: int) -> Saying:
            return self._group_said(turn, measures)

        def of_thing(turn: int) -> Saying:
            words, arguments = say(things[turn % len(things)])
            return words, arguments

        def each(turn: int) -> Saying:
            at, word = timed[turn % len(timed)]
            words, arguments = say(at + turn * len(groups))
            return {**words, "each": word}, arguments

        examples = write(frames(f"{family}_by"), say, most=max(10, min(len(groups), 14)))
        if timed:
            examples += write(frames(f"{family}_by_time"), each, most=6)
        examples += write(frames(f"{family}_by_top"), of_thing, most=5)
        people = [at for at in things if groups[at].path and groups[at].path[-1].thing.is_person]
        if people:
            examples += write(
                frames(f"{family}_by_who"), lambda t: say(people[t % len(people)]), most=3
            )
        return examples + write(frames(f"{family}_by_most"), of_thing, most=6)

    def _by(self, counted: str, figure: str, measures: Sequence[Measure]) -> dict[str, Any]:
        """The SQL and the parameters of figures by group: all, the first few, or the first one."""
        source, groups = Source(self.thing, self.kind), self.groups
        _join_when(groups, source)
        columns, by = _group_sql(groups, source)
        filters = beside(filters_of(source))
        counted = counted or self._figure_sql(measures, source)
        place = figure or "2"
        in_order = f"{{% if which == 'lowest' %}}{place} ASC{{% elif which or limit %}}{place} DESC"
        order = choice_or("by", groups, lambda g: g.is_time, "1", f"{place} DESC")
        sql = select(
            [columns, counted],
            source,
            where([*_known_groups(groups, source), *(x for f in filters for x in f.sql)]),
            f"GROUP BY {by}",
            f"ORDER BY {in_order}{{% else %}}{order}{{% endif %}}",
            "{% if limit %}LIMIT :limit{% elif which %}LIMIT 1{% endif %}",
        )
        which: Parameter = {
            "name": "which",
            "type": "string",
            "description": "only what has the most, or the least",
            "required": False,
            "enum": ["highest", "lowest"],
            "synonyms": {name: list(said) for name, said in words_of_columns().which.items()},
        }
        done = words_of_columns().done_with.get(self.thing.noun, "")
        return {
            "sql": sql,
            "parameters": (
                _choice_of_groups("what they are put together by", groups, done),
                *(self._figure_choice(measures) if measures else ()),
                which,
                *(f.parameter for f in filters),
                LIMIT,
            ),
        }


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


def _may_be_done(group: Group) -> bool:
    """Whether it is what something is done with: a film is rented, and no customer."""
    if not group.path or group.path[-1].thing.is_person:
        return False
    return not group.path[-1].thing.is_small or len(group.path) == 1


def _done_leads(done: str) -> tuple[str, ...]:
    return (f"{done} {{group}}", f"{done} {{groups}}") if done else ()


def _choice_of_groups(about: str, groups: Sequence[Group], done: str) -> Parameter:
    """What rows are put together by, said with what says so: a customer alone is no group."""
    known = words_of_columns()
    synonyms: dict[str, list[str]] = {}
    taken: set[str] = set()
    for group in groups:
        leads = known.group_leads if group.is_time else (*known.group_leads, *known.which_leads)
        words = [
            lead.format(group=noun, groups=plural(noun))
            for noun in dict.fromkeys((group.noun, *group.words))
            for lead in (*leads, *(_done_leads(done) if _may_be_done(group) else ()))
        ]
        if group.is_time:
            words += known.each_time.get(group.noun, ())
        kept = [w for w in dict.fromkeys(words) if w not in taken]
        taken |= {*kept}
        synonyms[group.value] = kept
    return {
        "name": "by",
        "type": "string",
        "description": about,
        "required": True,
        "enum": [g.value for g in groups],
        "synonyms": synonyms,
    }


def of_measures(measures: Sequence[Measure]) -> tuple[Parameter, ...]:
    if len(measures) < 2:
        return ()
    with_more = [replace(m, words=(*m.words, *sums(m))) for m in measures]
    return (_enumeration("measure", "which amount", with_more, default=measures[0].value),)


def chosen(name: str, measures: Sequence[Measure], turn: int) -> dict[str, Any]:
    return {name: measures[turn % len(measures)].value} if len(measures) > 1 else {}


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
