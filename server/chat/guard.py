"""What a guard's verdict means for a turn."""

import logging
from dataclasses import dataclass, replace

from server.chat.adapter import Adapter
from server.core.decision import Blocked, Decision, Trace
from server.core.turn import Turn
from server.errors import AdapterUnavailable
from server.guards.model import GuardVerdict
from server.library.rendering import RenderingFailed, render

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GuardOutcome:
    """Who answers, the decision when it is made already, and the verdict that led to both."""

    adapter: Adapter
    decision: Decision | None = None
    verdict: GuardVerdict | None = None


async def guard_turn(
    adapter: Adapter, turn: Turn, trace: Trace, *, routed: bool = False
) -> GuardOutcome:
    """Let the adapter's guard judge, and follow where it leads: once, never in circles.

    Raises:
        AdapterUnknown, AdapterUnavailable: it leads to an adapter that does not serve.
    """
    if adapter.guard is None:
        return GuardOutcome(adapter)
    verdict = await adapter.guard.check(turn, trace)
    if not verdict.enforced:
        return GuardOutcome(adapter, None, verdict)
    if verdict.action == "block":
        return GuardOutcome(adapter, _blocked(adapter, turn, verdict), verdict)
    if verdict.action != "route" or verdict.route is None or routed:
        return GuardOutcome(adapter, None, verdict)
    if verdict.route.template is not None:
        if adapter.to_template is None:
            raise AdapterUnavailable(f"adapter {adapter.name!r} cannot be led to a template")
        return GuardOutcome(adapter, adapter.to_template(verdict.route.template, turn), verdict)
    if adapter.resolve_adapter is None:
        raise AdapterUnavailable(
            f"the guard leads to adapter {verdict.route.adapter!r}, which only a server opens"
        )
    other = adapter.resolve_adapter(verdict.route.adapter or "")
    there = await guard_turn(other, turn, trace, routed=True)
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
