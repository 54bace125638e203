"""What the system made of one question."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from math import ceil
from typing import Any, Final

from server.core.decision import (
    Answer,
    Call,
    Clarify,
    ClarifyingQuestion,
    Ending,
    Match,
    MissingArguments,
    NoMatch,
    PendingConfirmation,
    SeveralEndings,
)
from server.core.tools import ToolCall, ToolResult
from server.library.model import Template
from server.text.durations import read_iso_duration
from server.tools.policy.chain import Runner


def share(hits: Iterable[bool]) -> float | None:
    """Return the share of hits, 0 to 1; None when there was nothing to hit."""
    counted = list(hits)
    return sum(counted) / len(counted) if counted else None


def percentile(values: Collection[float], percent: float) -> float | None:
    """Return the least of the values that `percent` of them do not exceed; None without values."""
    if not values:
        return None
    rank = max(1, ceil(len(values) * percent / 100))
    return sorted(values)[rank - 1]


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """Return how likely a positive scores above a negative, a tie counting half.

    None when either side is empty: there is nothing to tell apart.
    """
    if not positives or not negatives:
        return None
    ranked = sorted(negatives)
    twice_above = sum(bisect_left(ranked, p) + bisect_right(ranked, p) for p in positives)
    return twice_above / (2 * len(positives) * len(negatives))


def equal(expected: Any, got: Any) -> bool:
    """Return whether two arguments are the same value, however they are written.

    Numbers by value, moments and spans of time too, but never a number and a boolean; lists and
    objects by what they hold. A date, which YAML makes of an unquoted 2025-03-04, stands for its
    text.
    """
    return bool(_comparable(expected) == _comparable(got))


_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?")


def _comparable(value: Any) -> Any:
    match value:
        case bool():
            return ("boolean", value)
        case int() | Decimal():
            return Decimal(value)
        case float():
            # repr is what the author wrote: 0.1, not the binary fraction nearest to it
            return Decimal(repr(value))
        case date() | datetime() | time():
            return value.isoformat()
        case Mapping():
            return {str(key): _comparable(item) for key, item in value.items()}
        case list() | tuple():
            return [_comparable(item) for item in value]
        case str() if _MOMENT.fullmatch(value):
            return datetime.fromisoformat(value).isoformat()  # with seconds or without
        case str() if (span := read_iso_duration(value)) is not None:
            return span.to_iso()
        case _:
            return value


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question, in the words a question is written in.

    `template` is None when the system abstained; `nearest` is then what it leaned to, and
    `confidence` of that. `defaulted` names the arguments that have their default.
    """

    template: str | None
    called: bool
    confidence: float
    latency_ms: float
    arguments: Mapping[str, Any] = field(default_factory=dict)
    defaulted: frozenset[str] = frozenset()
    asked: tuple[str, ...] = ()
    answer: str = ""
    nearest: str | None = None
    tool_succeeded: bool | None = None
    """Whether the tool did what it was called for; None where none was made."""
    clarified: bool = False
    """Whether it was asked which of several is meant, or what a rule pack has to know first."""


def equal_arguments(expected: Mapping[str, Any], asks: Collection[str], outcome: Outcome) -> bool:
    """Return whether the arguments are the expected ones; defaults need not be spelt out."""
    unforeseen = outcome.arguments.keys() - expected.keys() - outcome.defaulted
    return (
        set(outcome.asked) == set(asks)
        and not unforeseen
        and all(
            name in outcome.arguments and equal(value, outcome.arguments[name])
            for name, value in expected.items()
        )
    )


def outcome_of(
    decision: Ending,
    templates: Mapping[str, Template],
    *,
    latency_ms: float,
    answer: str = "",
    tool_succeeded: bool | None = None,
) -> Outcome:
    """Return what a turn came to as an outcome. A question that is clarified chose nothing.

    A call that waits for a yes counts as made: that it was asked for first is right. Of several
    calls the first counts.
    """
    if isinstance(decision, SeveralEndings):
        decision = decision.parts[0]
    asked: tuple[str, ...] = ()
    arguments: Mapping[str, Any]
    match decision:
        case Call(match, call) | PendingConfirmation(match, call):
            arguments = call.arguments
        case MissingArguments(match, missing, arguments):
            asked = tuple(each.name for each in missing)
        case _:
            nearest = _nearest(decision)
            return Outcome(
                template=None,
                called=False,
                confidence=nearest.confidence if nearest else 0.0,
                latency_ms=latency_ms,
                answer=answer,
                nearest=nearest.template_id if nearest else None,
                clarified=isinstance(decision, Clarify | ClarifyingQuestion),
            )
    now = datetime.now().astimezone()
    template = templates.get(match.template_id)  # None where a guard leads to another adapter
    defaults = {p.name: p.default_on(now) for p in template.parameters} if template else {}
    return Outcome(
        template=match.template_id,
        called=not isinstance(decision, MissingArguments),
        confidence=match.confidence,
        latency_ms=latency_ms,
        arguments=arguments,
        defaulted=frozenset(
            name
            for name, value in arguments.items()
            if defaults.get(name) is not None and equal(defaults[name], value)
        ),
        asked=asked,
        answer=answer,
        nearest=match.template_id,
        tool_succeeded=tool_succeeded,
    )


def _nearest(decision: Ending) -> Match | None:
    match decision:
        case Clarify([first, *_]) | NoMatch(_, [first, *_]):
            return first
    return None


def tool_succeeded(answer: Answer, templates: Mapping[str, Template]) -> bool | None:
    """Whether the tool did its work; None where no call was made, as one that writes is not."""
    decision = answer.decision
    template = templates.get(decision.match.template_id) if isinstance(decision, Call) else None
    status = answer.metadata.get("tool_execution", {}).get("status")
    if template is None or template.effect != "read":
        return None
    return None if status is None else status == "success"


class Rehearsal:
    """Runs the calls that read, unless nothing is to run; others end with an error instead.

    With `only`, those of other templates do not run either.
    """

    def __init__(
        self, runner: Runner, *, reads: bool = True, only: Collection[str] | None = None
    ) -> None:
        self._runner = runner
        self._reads = reads
        self._only = only

    async def execute(self, call: ToolCall, *, timeout_s: float) -> ToolResult:
        is_open = self._only is None or call.template_id in self._only
        if call.effect == "read" and self._reads and is_open:
            return await self._runner.execute(call, timeout_s=timeout_s)
        return ToolResult.of_no_call(call, f"a {call.effect} is not made while a library is tested")

    async def aclose(self) -> None:
        await self._runner.aclose()
