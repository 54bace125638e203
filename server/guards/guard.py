"""The guard in front of one adapter."""

import logging
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from server.core.decision import Trace
from server.core.ports import Embedder
from server.core.turn import Turn
from server.guards.changes import Change, ChangedGuards, with_changes
from server.guards.engine import Engine, GivenThresholds, GuardQuestion, Readings, evaluate_set
from server.guards.model import (
    NOTHING,
    WHEN_FAILED,
    Category,
    GuardSet,
    GuardVerdict,
    choose_response,
    redact_question,
)
from server.guards.options import GuardOptions
from server.guards.scorer import ExampleVectors
from server.guards.store import GuardDecision, GuardStore
from server.metrics.metrics import Metrics

_log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class Guard:
    """Judges the questions of one adapter. `rebuild` has to be awaited before the first."""

    options: GuardOptions
    packs: GuardSet
    compared_packs: GuardSet | None
    embedder: Embedder
    vectors: ExampleVectors
    readings: Readings
    harmless: Sequence[str]
    metrics: Metrics
    store: GuardStore
    keeps: bool = True
    """Whether what it decides is counted, logged and kept."""
    changed: ChangedGuards = field(init=False)
    _engine: Engine = field(init=False)
    _compared: Engine | None = field(init=False, default=None)

    async def rebuild(self, changes: Iterable[Change]) -> None:
        """Apply `changes` to the packs; on a `ProviderError` the guard stays as it was."""
        changed = with_changes(self.packs, changes)
        for change in changed.unusable:
            _log.warning("guard %s: %s does not fit its packs", self.options.adapter, change)
        engine = await self._build(changed.guards, changed.thresholds)
        if self._compared is None and self.compared_packs is not None:
            self._compared = await self._build(self.compared_packs, {})
        self._engine, self.changed = engine, changed

    def rehearsed(self) -> "Guard":
        """Return the guard as it is now, for trials: it keeps nothing."""
        silent = copy(self)
        silent.keeps = False
        return silent

    async def trial(self, text: str, change: Change | None = None) -> dict[str, Any]:
        """Judge without counting, also with a change; raise `RequestInvalid` or `ProviderError`."""
        question = GuardQuestion(text, self.embedder)
        answer = {"now": await self._try(self._engine, question)}
        if change is not None:
            changed = with_changes(self.packs, (*self.changed.active, change))
            engine = await self._build(changed.guards, changed.thresholds)
            answer["then"] = await self._try(engine, question)
        return answer

    async def check(self, turn: Turn, trace: Trace) -> GuardVerdict:
        """Judge a question; count, log and keep what came of it, in shadow mode as well."""
        since = perf_counter()
        options = self.options
        question = GuardQuestion(turn.text, self.embedder)
        with trace.stage("guard") as details:
            verdict, scores = await self._judge(self._engine, question)
            verdict = replace(verdict, enforced=not options.shadow)
            if verdict.action == "block":
                verdict = replace(verdict, response=self._response(verdict, turn))
            details |= verdict.to_dict() | scores
            if self.changed.active:
                details["changes"] = [str(change) for change in self.changed.active]
            other = None
            if self._compared is not None:
                other, _ = await self._judge(self._compared, question)
                details["compared"] = other.to_dict()
        if self.keeps:
            self._count(turn, verdict, other, perf_counter() - since)
        return verdict

    def describe(self) -> dict[str, Any]:
        """Return its categories with their thresholds, its mode, and its changes, JSON-ready."""
        engine, options = self._engine, self.options
        return {
            "adapter": options.adapter,
            "packs": self.packs.name,
            "compared": self.compared_packs.name if self.compared_packs else None,
            "mode": "shadow" if options.shadow else "enforce",
            "fail_closed": options.fail_closed,
            "patterns": len(engine.patterns),
            "categories": [_category_row(engine, each) for each in engine.guards.categories],
            "allowed": [asdict(allowed) for allowed in engine.guards.allowed],
            "changes": len(self.changed.active),
        }

    async def _build(self, guards: GuardSet, by_admin: dict[str, float]) -> Engine:
        given = GivenThresholds(self.options.threshold, by_admin)
        return await Engine.build(guards, self.vectors, self.readings, self.harmless, given)

    async def _judge(
        self, engine: Engine, question: GuardQuestion
    ) -> tuple[GuardVerdict, dict[str, Any]]:
        options = self.options
        verdict, scores = await evaluate_set(
            engine,
            question,
            fail_closed=options.fail_closed,
            stage_timeout_s=options.stage_timeout_s,
        )
        rounded = {name: round(score, 4) for name, score in scores.items()}
        return verdict, {"scores": rounded} if rounded else {}

    async def _try(self, engine: Engine, question: GuardQuestion) -> dict[str, Any]:
        verdict, scores = await self._judge(engine, question)
        return verdict.to_dict() | scores

    def _response(self, verdict: GuardVerdict, turn: Turn) -> str:
        category = self.changed.guards.category(verdict.category)
        if category is None:
            responses = self.packs.failure_responses or {"": (WHEN_FAILED,)}
        else:
            responses = category.responses
        return choose_response(responses, turn.languages, turn.id)[0]

    def _count(
        self, turn: Turn, verdict: GuardVerdict, other: GuardVerdict | None, seconds: float
    ) -> None:
        options, outcome = self.options, verdict.outcome
        differs = other is not None and _restriction(other) != _restriction(verdict)
        self.metrics.guard_decided(
            options.adapter,
            outcome,
            intent=verdict.category,
            method=verdict.method,
            score=verdict.confidence,
            seconds=seconds,
        )
        for stage in verdict.failures:
            policy = "closed" if options.fail_closed else "open"
            self.metrics.guard_failed(options.adapter, stage, policy)
        if differs:
            self.metrics.guards_differ(options.adapter)
        preview = redact_question(turn.text, limit=options.preview_chars)
        fields = {"adapter": options.adapter, "turn": turn.id} | verdict.to_dict()
        _log.log(
            logging.INFO if verdict.action in ("block", "route", "flag") else logging.DEBUG,
            "guard of %s: %s: intent=%s method=%s confidence=%.3f%s",
            options.adapter,
            outcome,
            verdict.category,
            verdict.method,
            verdict.confidence,
            f" question={preview!r}" if preview else "",
            extra={"fields": fields | ({"question": preview} if preview else {})},
        )
        kept = None
        if differs or verdict.failures or verdict.action not in (None, "allow"):
            compared = other.to_dict() if differs and other is not None else None
            kept = GuardDecision(
                datetime.now(UTC), options.adapter, turn.id, preview, verdict.to_dict(), compared
            )
        self.store.note((options.adapter, verdict.category, verdict.method, outcome), kept)


def _restriction(verdict: GuardVerdict) -> tuple[str | None, str]:
    restricts = verdict.action in ("block", "route", "flag")
    return (verdict.action, verdict.category) if restricts else (None, NOTHING)


def _category_row(engine: Engine, category: Category) -> dict[str, Any]:
    threshold = engine.thresholds.get(category.name)
    return {
        "name": category.name,
        "action": category.action,
        "patterns": list(category.patterns),
        "examples": list(category.examples),
        "threshold": None if threshold is None else round(threshold.value, 4),
        "threshold_origin": None if threshold is None else threshold.origin,
    }
