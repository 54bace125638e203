"""What is learnt of a question before anything is decided: its guard's verdict and its intent."""

import logging
from contextlib import ExitStack
from dataclasses import dataclass, replace

from server.chat.adapter import Adapter
from server.core.decision import Blocked, Decision, Trace
from server.core.turn import NO_CONTEXT, ConversationContext, Turn
from server.errors import AdapterUnavailable
from server.guards.model import GuardVerdict
from server.intents.detector import Detection
from server.library.rendering import RenderingFailed, render

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GuardOutcome:
    """Who answers, the decision when it is made already, and the verdict that led to both."""

    adapter: Adapter
    decision: Decision | None = None
    verdict: GuardVerdict | None = None


async def guard_turn(
    adapter: Adapter, turn: Turn, trace: Trace, leases: ExitStack, *, routed: bool = False
) -> GuardOutcome:
    """Let the adapter's guard judge, and follow where it leads: once, never in circles.

    `leases` hold the adapter that it leads to as well.

    Raises:
        AdapterUnknown, AdapterUnavailable: it leads to an adapter that does not serve.
    """
    if adapter.guard is None:
        return GuardOutcome(adapter)
    verdict = await adapter.guard.check(turn, trace)
    if verdict.enforced and verdict.action == "block":
        return GuardOutcome(adapter, _blocked(adapter, turn, verdict), verdict)
    if not verdict.enforced or verdict.action != "route" or verdict.route is None or routed:
        return GuardOutcome(adapter, None, verdict)
    if verdict.route.template is not None:
        if adapter.to_template is None:
            raise AdapterUnavailable(f"adapter {adapter.name!r} cannot be led to a template")
        decision = adapter.to_template(verdict.route.template, turn, {})
        return GuardOutcome(adapter, decision, verdict)
    if adapter.resolve_adapter is None:
        raise AdapterUnavailable(
            f"the guard leads to adapter {verdict.route.adapter!r}, which only a server opens"
        )
    other = adapter.resolve_adapter(verdict.route.adapter or "")
    leases.enter_context(other.leases.hold())
    there = await guard_turn(other, turn, trace, leases, routed=True)
    return there if isinstance(there.decision, Blocked) else replace(there, verdict=verdict)


def _blocked(adapter: Adapter, turn: Turn, verdict: GuardVerdict) -> Blocked:
    context = {
        "question": turn.text,
        "category": verdict.category,
        "adapter": adapter.name,
        "language": adapter.library.domain.response.choose_language(turn.languages),
    }
    try:
        response = render(verdict.response, context)
    except RenderingFailed as failed:
        _log.warning("response of guard category %s: %s", verdict.category, failed)
        response = "I cannot help with that type of question."
    return Blocked(verdict.category, response, verdict.confidence, verdict.method)


async def detect_intent(
    adapter: Adapter, turn: Turn, trace: Trace
) -> tuple[Turn, Detection | None]:
    """The turn with its intent, and what the adapter's rule pack detected, if it has one.

    Raises:
        ProviderError: the pack's examples are compared by meaning, and cannot be.
    """
    if adapter.detect is None:
        return turn, None
    with trace.stage("intent") as details:
        detection = await adapter.detect(turn.text, turn.received_at)
        intent = detection.intent._replace(places=detection.places(turn.text))
        details |= {
            "intent": intent.name,
            "confidence": round(intent.confidence, 4),
            "method": intent.method,
            "evidence": detection.evidence,
            "entities": dict(intent.entities),
            "read_from": detection.words,
            "flags": dict(intent.flags),
            "route": intent.route,
            "explanation": intent.explanation,
        }
    mentions = None
    if detection.question is not None and turn.context is not NO_CONTEXT:
        mentions = detection.intent._replace(entities=dict(detection.question.values))
        places = detection._replace(intent=mentions).places(turn.text)
        mentions = mentions._replace(places=places)
    return replace(turn, intent=intent, mentions=mentions), detection


def without_follow_up(turn: Turn, text: str | None = None) -> Turn:
    """The turn as one that goes on with nothing, with another text where one is given.

    What was said before stays: models read it.
    """
    alone = replace(turn, context=ConversationContext(turn.context.messages))
    return alone if text is None else replace(alone, text=text, intent=None, mentions=None)
