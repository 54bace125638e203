"""What the system made of one question."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from server.core.decision import (
    AskBack,
    AskFor,
    Blocked,
    Call,
    Clarify,
    Dropped,
    Ending,
    Held,
    Match,
    NoMatch,
    NotRun,
)
from server.evaluation.figures import equal
from server.library.model import Template


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
        case Call(found, call) | Held(found, call):
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
        case AskFor(found, missing, arguments):
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
        case AskBack() | Blocked() | Dropped() | NotRun():
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
