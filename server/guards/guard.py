"""The guard in front of one adapter."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
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


class Guard:
    """Judges the questions of one adapter. `rebuild` has to be awaited before the first."""

    def __init__(
        self,
        options: GuardOptions,
        packs: GuardSet,
        compared: GuardSet | None,
        *,
        embedder: Embedder,
        vectors: ExampleVectors,
        readings: Readings,
        harmless: Sequence[str],
        metrics: Metrics,
        store: GuardStore,
    ) -> None:
        self.options = options
        self.packs = packs
        self._compared_packs = compared
        self._embedder = embedder
        self._vectors = vectors
        self._readings = readings
        self._harmless = tuple(harmless)
        self._metrics = metrics
        self._store = store
        self.changed = ChangedGuards(packs, {})
        self._engine: Engine | None = None
        self._compared: Engine | None = None

    async def rebuild(self, changes: Iterable[Change]) -> None:
        """Apply `changes` to the packs; questions go on being judged meanwhile.

        Raises:
            ProviderError: new examples could not be embedded; the guard is as it was.
        """
        changed = with_changes(self.packs, changes)
        for change in changed.unusable:
            _log.warning("guard %s: %s does not fit its packs", self.options.adapter, change)
        engine = await self._build(changed.guards, changed.thresholds)
        if self._compared is None and self._compared_packs is not None:
            self._compared = await self._build(self._compared_packs, {})
        self._engine, self.changed = engine, changed

    async def trial(self, text: str, change: Change | None = None) -> dict[str, Any]:
        """Return what the guard makes of a question, now and with a change, counting nothing.

        Raises:
            RequestInvalid: the change cannot be made.
            ProviderError: its example could not be embedded.
        """
        question = GuardQuestion(text, self._readings, self._embedder)
        answer = {"now": await self._try(self._ready(), question)}
        if change is not None:
            changed = with_changes(self.packs, (*self.changed.active, change))
            engine = await self._build(changed.guards, changed.thresholds)
            answer["then"] = await self._try(engine, question)
        return answer

    async def check(self, turn: Turn, trace: Trace) -> GuardVerdict:
        """Judge a question, and count, log and keep what came of it.

        In shadow mode the verdict is not `enforced`, and everything else is as usual.
        """
        since = perf_counter()
        options = self.options
        question = GuardQuestion(turn.text, self._readings, self._embedder)
        with trace.stage("guard") as details:
            verdict, scores = await self._judge(self._ready(), question)
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
        self._count(turn, verdict, other, perf_counter() - since)
        return verdict

    def describe(self) -> dict[str, Any]:
        """Return its categories with their thresholds, its mode, and its changes, JSON-ready."""
        engine, options = self._ready(), self.options
        return {
            "adapter": options.adapter,
            "packs": self.packs.name,
            "compared": self._compared_packs.name if self._compared_packs else None,
            "mode": "shadow" if options.shadow else "enforce",
            "fail_closed": options.fail_closed,
            "patterns": engine.pattern_count,
            "categories": [_category_row(engine, each) for each in engine.guards.categories],
            "allowed": [
                {"question": a.question, "similarity": a.similarity} for a in engine.guards.allowed
            ],
            "changes": len(self.changed.active),
        }

    def _ready(self) -> Engine:
        assert self._engine is not None  # noqa: S101  `rebuild` comes first
        return self._engine

    async def _build(self, guards: GuardSet, by_admin: dict[str, float]) -> Engine:
        given = GivenThresholds(self.options.threshold, by_admin)
        return await Engine.build(guards, self._vectors, self._readings, self._harmless, given)

    async def _judge(
        self, engine: Engine, question: GuardQuestion
    ) -> tuple[GuardVerdict, dict[str, Any]]:
        """Return the verdict, and the scores as traces and trials show them."""
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
        """Put a decision into metrics, log and store."""
        options, outcome = self.options, verdict.outcome
        differs = other is not None and _restriction(other) != _restriction(verdict)
        self._metrics.guard_decided(
            options.adapter,
            outcome,
            intent=verdict.category,
            method=verdict.method,
            score=verdict.confidence,
            seconds=seconds,
        )
        for stage in verdict.failures:
            policy = "closed" if options.fail_closed else "open"
            self._metrics.guard_failed(options.adapter, stage, policy)
        if differs:
            self._metrics.guards_differ(options.adapter)
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
        self._store.note((options.adapter, verdict.category, verdict.method, outcome), kept)


def _restriction(verdict: GuardVerdict) -> tuple[str | None, str]:
    """Return what two sets are compared by: the action and category, where it restricts."""
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
