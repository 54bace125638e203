"""What the system made of one question."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from math import ceil
from typing import Any

from server.core.decision import (
    Blocked,
    Call,
    Cancelled,
    Clarify,
    ClarifyingQuestion,
    Ending,
    Match,
    MissingArguments,
    NoMatch,
    PendingConfirmation,
    ProposalNotExecuted,
)
from server.core.tools import ToolCall, ToolResult, ToolResultStatus
from server.library.model import Template
from server.tools.policy.chain import Runner


def share(hits: Iterable[bool]) -> float | None:
    """The share of hits, 0 to 1; None when there was nothing to hit."""
    counted = list(hits)
    return sum(counted) / len(counted) if counted else None


def percentile(values: Collection[float], percent: float) -> float | None:
    """The least of the values that `percent` of them do not exceed; None without values."""
    if not values:
        return None
    rank = max(1, ceil(len(values) * percent / 100))
    return sorted(values)[rank - 1]


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """How likely a positive scores above a negative, a tie counting half.

    None when either side is empty: there is nothing to tell apart.
    """
    if not positives or not negatives:
        return None
    ranks = _mid_ranks([*positives, *negatives])
    count = len(positives)
    above = sum(ranks[:count]) - count * (count + 1) / 2
    return above / (count * len(negatives))


def _mid_ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value, from 1, equal values sharing the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            ranks[place] = (start + 1 + end) / 2
        start = end
    return ranks


def equal(expected: Any, got: Any) -> bool:
    """Whether two arguments are the same value, however they are written.

    Numbers by value (30 and 30.0, 0.1 and Decimal("0.1")), but never a number and a
    boolean; text exactly; lists and objects by what they hold. YAML turns an unquoted
    2025-03-04 into a date, which stands for its text.
    """
    return bool(_plain(expected) == _plain(got))


def _plain(value: Any) -> Any:
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
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            return value


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question, in the words a question is written in.

    `template` is the one that was chosen, None when the system abstained; `called` says
    whether it ran. `confidence` is that of the template chosen, or of `nearest`, the
    template that came closest, when nothing was. `defaulted` names the arguments that
    have their default, said or not; `asked` those that the answer asks for.
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


def outcome_of(
    decision: Ending,
    templates: Mapping[str, Template],
    *,
    latency_ms: float,
    answer: str = "",
) -> Outcome:
    """Read what a turn came to as an outcome. A question that is clarified chose nothing.

    A call that waits for a yes counts as made: that it was asked for first is right.
    """
    match decision:
        case Call(found, call) | PendingConfirmation(found, call):
            return Outcome(
                template=found.template_id,
                called=True,
                confidence=found.confidence,
                latency_ms=latency_ms,
                arguments=call.arguments,
                defaulted=_defaulted(templates[found.template_id], call.arguments),
                answer=answer,
                nearest=found.template_id,
            )
        case MissingArguments(found, missing, arguments):
            return Outcome(
                template=found.template_id,
                called=False,
                confidence=found.confidence,
                latency_ms=latency_ms,
                arguments=arguments,
                defaulted=_defaulted(templates[found.template_id], arguments),
                asked=tuple(m.name for m in missing),
                answer=answer,
                nearest=found.template_id,
            )
        case Clarify(options):
            return _abstained(options, latency_ms, answer)
        case NoMatch(_, nearest):
            return _abstained(nearest, latency_ms, answer)
        case ClarifyingQuestion() | Blocked() | Cancelled() | ProposalNotExecuted():
            return _abstained((), latency_ms, answer)


def _defaulted(template: Template, arguments: Mapping[str, Any]) -> frozenset[str]:
    defaults = {p.name: p.default for p in template.parameters if p.default is not None}
    return frozenset(
        name
        for name, value in arguments.items()
        if name in defaults and equal(defaults[name], value)
    )


def _abstained(nearest: tuple[Match, ...], latency_ms: float, answer: str) -> Outcome:
    best = nearest[0] if nearest else None
    return Outcome(
        template=None,
        called=False,
        confidence=best.confidence if best else 0.0,
        latency_ms=latency_ms,
        answer=answer,
        nearest=best.template_id if best else None,
    )


class Rehearsal:
    """Runs the calls that read, and says of those that write that they were not made."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def execute(self, call: ToolCall, *, timeout_s: float) -> ToolResult:
        if call.effect == "read":
            return await self._runner.execute(call, timeout_s=timeout_s)
        return ToolResult(
            tool_name=call.tool,
            operation=call.operation,
            status=ToolResultStatus.ERROR,
            execution_time_ms=0.0,
            parameters=call.arguments,
            error_message="a write is not made while a library is tested",
        )

    async def aclose(self) -> None:
        await self._runner.aclose()
