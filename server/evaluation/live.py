"""Asking an adapter of a running server its questions: others are served, and nothing is kept."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Final
from uuid import uuid4

from server.chat.adapter import Adapter
from server.chat.pipeline import run_turn
from server.chat.sources import shared_library
from server.core.claims import MemoryClaims
from server.core.ports import Claims
from server.core.redaction import REDACTED
from server.core.turn import Caller, Turn
from server.errors import EvaluationRunning
from server.evaluation.curves import Curves, curves
from server.evaluation.outcomes import Outcome, outcome_of, tool_succeeded
from server.evaluation.questions import Question
from server.evaluation.rehearsals import silent
from server.evaluation.report import Report, Verdict, failure_of, score, verdict
from server.evaluation.trial import Measured
from server.library.model import Template

MOST_QUESTIONS: Final = 2000
"""Questions of one run."""
_KIND: Final = "evaluation"
_REST: Final = 0.5
"""How long others have the server to themselves, as a share of what a question took."""


class Evaluations:
    """Who evaluates on this server: one run a key, and the questions of all runs take turns."""

    def __init__(self, running: Claims | None = None) -> None:
        self._running = running or MemoryClaims()
        self.turns = asyncio.Lock()

    @asynccontextmanager
    async def run_of(self, caller: Caller) -> AsyncIterator[None]:
        """Hold the place of a key; raise `EvaluationRunning` where it has a run already."""
        if await self._running.claim(_KIND, caller.key_id) != "taken":
            raise EvaluationRunning("this key evaluates already; wait for its end, or leave it")
        try:
            yield
        finally:
            await self._running.release(_KIND, caller.key_id)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and what became of it."""

    number: int
    question: Question
    outcome: Outcome

    @property
    def verdict(self) -> Verdict:
        return verdict(self.question, self.outcome)

    @property
    def failure(self) -> str | None:
        return failure_of(self.question, self.outcome)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What came of all questions; the curves are drawn as if nothing were too unsure."""

    report: Report
    curves: Curves


@dataclass(frozen=True, slots=True)
class LiveTrial:
    """An open adapter, who asks it, and what. With `tools`, calls run that read and are open to
    the caller; `turns` is held while a question is asked.
    """

    adapter: Adapter
    caller: Caller
    questions: Sequence[Question]
    timeout_s: float
    tools: bool = False
    turns: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self) -> AsyncGenerator[Asked | Evaluated, None]:
        """Ask the questions one by one; what they come to together is last.

        Each is asked twice: as ever, and for the curves as if nothing were too unsure. Raises
        what a turn raises, with the question it was at.
        """
        async with AsyncExitStack() as held:
            rehearsed = _Rehearsed(held, self.caller)
            library = shared_library(self.adapter)
            templates = library.templates
            own = rehearsed.of(self.adapter, reads=self.tools)
            unsure = None
            if self.adapter.at_threshold is not None:
                deciders = await held.enter_async_context(self.adapter.at_threshold(0.0))
                unsure = replace(rehearsed.of(self.adapter, reads=False), decider=deciders)
            judged, outcomes, unsures = list[Question](), list[Outcome](), list[Outcome]()
            for number, question in enumerate(self.questions, 1):
                async with self.turns:
                    since = perf_counter()
                    outcome = await self._ask(own, question, templates)
                    # Several adapters judge by their own thresholds, so that none is lifted there.
                    second = outcome
                    if unsure is not None:
                        second = await self._ask(unsure, question, templates)
                    await asyncio.sleep(_REST * (perf_counter() - since))
                judged.append(self._judgeable(question, templates))
                outcomes.append(outcome)
                unsures.append(second)
                yield Asked(number, judged[-1], outcome)
            calls = Measured(library, judged, unsures).calls
            yield Evaluated(score(judged, outcomes), curves(calls))

    async def _ask(
        self, adapter: Adapter, question: Question, templates: Mapping[str, Template]
    ) -> Outcome:
        turn = Turn(
            id=uuid4().hex,
            text=question.ask,
            session_id="evaluation",
            caller=self.caller,
            received_at=datetime.now(UTC),
        )
        start = perf_counter()
        answer = await run_turn(adapter, turn, timeout_s=self.timeout_s)
        outcome = outcome_of(
            answer.decision,
            templates,
            latency_ms=(perf_counter() - start) * 1000,
            answer=answer.content,
            tool_succeeded=tool_succeeded(answer, templates) if self.tools else None,
        )
        shown = not _is_sensitive(templates.get(outcome.template or ""))
        return outcome if shown else replace(outcome, answer=REDACTED)

    def _judgeable(self, question: Question, templates: Mapping[str, Template]) -> Question:
        """The question without an answer that nobody can compare: no tool ran, or none is shown."""
        template = templates.get(question.template or "")
        if question.answer is None or (self.tools and not _is_sensitive(template)):
            return question
        return question.model_copy(update={"answer": None})


class _Rehearsed:
    """Open adapters, held while they are asked, as copies that keep and count nothing."""

    def __init__(self, held: AsyncExitStack, caller: Caller) -> None:
        self._held = held
        self._caller = caller
        self._copies: dict[tuple[str, bool], Adapter] = {}

    def of(self, adapter: Adapter, *, reads: bool) -> Adapter:
        """The adapter, and those that it leads to, as they were when they were first asked for."""
        key = adapter.name, reads
        if key not in self._copies:
            self._held.enter_context(adapter.leases.hold())
            self._copies[key] = self._copy(adapter, reads=reads)
        return self._copies[key]

    def _copy(self, adapter: Adapter, *, reads: bool) -> Adapter:
        resolve = adapter.resolve_adapter
        only = frozenset(t.id for t in adapter.chain.open_to(self._caller, any_intent=True))

        def behind(name: str) -> Adapter:
            assert resolve is not None  # noqa: S101  else nothing resolves
            known = self._copies.get((name, reads))
            return known or self.of(resolve(name), reads=reads)

        return replace(
            silent(adapter, reads=reads, only=only),
            resolve_adapter=behind if resolve is not None else None,
        )


def _is_sensitive(template: Template | None) -> bool:
    return template is not None and bool(template.policy.sensitive_params)
