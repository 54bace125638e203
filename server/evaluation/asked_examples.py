"""Every example of a library, asked as a question while it is not among the examples.

What a library makes of an example that it has never seen is what it makes of a question like it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from server.core.decision import Ending
from server.core.tools import ToolCall
from server.errors import OrbitError
from server.evaluation.example_failures import Answer, FailedExample, judge_example
from server.evaluation.proposals import Proposal, propose
from server.evaluation.rehearsals import Rehearsals
from server.extraction.extractor import Extractor
from server.library.model import BuiltinExecution, Library, Template
from server.tools.registry import ToolRegistry

FOLDS: Final = 5
"""Into how many parts the examples are put, of which one at a time is away."""
_LANES: Final = 2
_LEAST_EXAMPLES: Final = 2
"""A template with fewer would have none left to be known by."""

_Key = tuple[str, str]
"""A template and one of its examples."""


@dataclass(frozen=True, slots=True)
class AskedExamples:
    """How many examples were asked, and those that failed, in the order of the library.

    `proposals` are what would help some of them, tried out. `skipped` are templates with too few
    examples for one of them to be away.
    """

    asked: int
    failed: tuple[FailedExample, ...]
    proposals: Mapping[tuple[str, str], Proposal] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()


async def ask_examples(library: Library, rehearsals: Rehearsals) -> AskedExamples:
    """Ask every example of a library while it is away, and compare with how it is read.

    Raises what opening an adapter does.
    """
    answer = _builtin_answers(library)
    templates = [t for t in library.templates.values() if len(t.nl_examples) >= _LEAST_EXAMPLES]
    known: dict[_Key, Ending] = {}
    async with rehearsals.opened(lambda whole: whole) as ask:
        for template in templates:
            for example in template.nl_examples:
                known[template.id, example] = await ask(example)
    failed: dict[_Key, FailedExample] = {}
    proposals: dict[_Key, Proposal] = {}

    async def ask_some(lane: int) -> None:
        for turn in range(lane, FOLDS, _LANES):
            away = {t.id: frozenset(t.nl_examples[turn::FOLDS]) for t in templates}
            if any(away.values()):
                fold = _Fold(library, away, known, rehearsals, answer, lane)
                found = await fold.ask()
                failed.update((_key(one), one) for one in found)
                proposals.update(await fold.try_proposals(found))

    # While one is learnt from, in a thread, the other is asked.
    await asyncio.gather(*map(ask_some, range(_LANES)))
    return AskedExamples(
        asked=len(known),
        failed=tuple(failed[key] for key in known if key in failed),
        proposals=proposals,
        skipped=tuple(t.id for t in library.templates.values() if len(t.nl_examples) == 1),
    )


@dataclass(frozen=True, slots=True)
class _Fold:
    """One part of the examples, which is away; `known` is what each comes to where it is there."""

    library: Library
    away: Mapping[str, frozenset[str]]
    known: Mapping[_Key, Ending]
    rehearsals: Rehearsals
    answer: Answer
    lane: int

    async def ask(self) -> list[FailedExample]:
        """Ask the examples that are away, and return those that fail."""
        templates = self.library.templates
        asked = [(templates[name], e) for name, some in self.away.items() for e in some]
        async with self.rehearsals.opened(self._without, lane=self.lane) as ask:
            judged = [self._judge(template, e, await ask(e)) for template, e in asked]
        return [one for one in judged if one is not None]

    async def try_proposals(self, failed: Sequence[FailedExample]) -> dict[_Key, Proposal]:
        """Return what helps examples that failed: with it, they are understood."""
        extractor = Extractor(self.library.domain)
        extractor.prepare(tuple(self._without(self.library).templates.values()))
        about = extractor.telling_words()
        embed = self.rehearsals.embed
        found = [await propose(self.library, about[f.template.id], f, embed) for f in failed]
        proposed = {_key(f): each for f, each in zip(failed, found, strict=True) if each}
        if not proposed:
            return {}

        def changed(whole: Library) -> Library:
            now = self._without(whole)
            for proposal in proposed.values():
                now = proposal.apply(now)
            return now

        helpful: dict[_Key, Proposal] = {}
        async with self.rehearsals.opened(changed, lane=self.lane) as ask:
            for one in failed:
                proposal = proposed.get(_key(one))
                if proposal is not None:
                    again = self._judge(one.template, one.example, await ask(one.example))
                    if again is None:
                        helpful[_key(one)] = proposal
        return helpful

    def _judge(self, template: Template, example: str, ending: Ending) -> FailedExample | None:
        known = self.known[template.id, example]
        return judge_example(self.library, template, example, known, ending, self.answer)

    def _without(self, whole: Library) -> Library:
        def kept(template: Template) -> Template:
            gone = self.away.get(template.id, frozenset())
            rest = tuple(example for example in template.nl_examples if example not in gone)
            return replace(template, nl_examples=rest)

        return replace(whole, templates={n: kept(t) for n, t in whole.templates.items()})


def _key(failed: FailedExample) -> _Key:
    return failed.template.id, failed.example


def _builtin_answers(library: Library) -> Answer:
    """What calls of the tools that ship come to, which change nothing and know no secrets."""
    tools = ToolRegistry.build(date_order=library.domain.date_order)

    def answer(call: ToolCall) -> Any:
        execution = library.templates[call.template_id].execution
        if not isinstance(execution, BuiltinExecution) or call.effect != "read":
            return None
        try:
            return tools.get(call.tool).run(call.operation, call.arguments).get("result")
        except OrbitError:
            return None

    return answer
