"""The chain that every call passes, whoever proposes it.

tool known → intent allows it → role allows it → rate limit → arguments valid → system
parameters injected → confirmed where required → committed, where it was held → run with a
deadline → recorded. Nothing later happens when an earlier step refuses, and a refused call
costs no quota.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from server.core.redaction import NO_SECRETS, Redactor, Secrets
from server.core.tools import Source, ToolCall, ToolResult, ToolResultStatus
from server.core.turn import Caller
from server.errors import StoreUnavailable
from server.library.model import Template
from server.tools.policy.arguments import size_problem
from server.tools.policy.proposal import Outcome, Proposal, Refusal
from server.tools.policy.rates import Rates
from server.tools.policy.recorder import (
    AuditRecorder,
    unjudged,
    visible_arguments,
    visible_call,
    visible_result,
)
from server.tools.policy.template_checks import TemplateChecks, unknown_template


class Runner(Protocol):
    async def execute(self, call: ToolCall, *, timeout_s: float) -> ToolResult: ...
    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What became of a proposal, fit to be shown: everything sensitive is taken out.

    `call` is the call with its arguments as they may be shown; `secrets` is what has to
    be taken out of whatever else speaks of the call. `to_confirm`, when nothing but a yes is
    missing, is the call as it would run, sensitive arguments and all.
    """

    result: ToolResult
    call: ToolCall
    outcome: Outcome
    refusal: Refusal | None = None
    secrets: Secrets = NO_SECRETS
    to_confirm: ToolCall | None = None


class PolicyChain:
    """The one way to a tool of an adapter."""

    def __init__(
        self,
        checks: Mapping[str, TemplateChecks],
        rates: Rates,
        runner: Runner,
        recorder: AuditRecorder,
    ) -> None:
        """`checks` has those of each template, by its id."""
        self._checks = checks
        self._rates = rates
        self._runner = runner
        self._recorder = recorder

    async def carry_out(self, proposal: Proposal, *, timeout_s: float) -> CallOutcome:
        """Judge a proposal, run it when nothing refuses it, and write down what happened.

        Raises:
            StoreUnavailable: the counts of rate limits cannot be reached.
        """
        checks = self._checks.get(proposal.call.template_id)
        if checks is None:
            return self._refused(proposal, None, unknown_template(proposal))
        refusal = checks.unknown(proposal)
        if refusal is not None:
            return self._refused(proposal, None, refusal)
        refusal = checks.forbidden(proposal.caller, proposal.intent)
        if refusal is None and checks.limited:
            refusal = await self._rates.look(checks.template, proposal.caller)
        if refusal is not None:
            return self._refused(proposal, checks, refusal)
        arguments = checks.arguments(proposal.call.arguments)
        if isinstance(arguments, Refusal):
            return self._refused(proposal, checks, arguments)
        system = checks.system_values(proposal.caller)
        if isinstance(system, Refusal):
            return self._refused(proposal, checks, system)
        refusal = checks.unconfirmed(proposal)
        if refusal is not None:
            return self._to_confirm(proposal, checks, arguments, refusal)
        refusal = await self._last_word(proposal, checks, arguments)
        if refusal is not None:
            return self._refused(proposal, checks, refusal)
        return await self._run(proposal, checks, arguments, system, timeout_s)

    def open_to(
        self, caller: Caller, intent: str | None = None, *, whatever_is_asked: bool = False
    ) -> tuple[Template, ...]:
        """The templates that the caller may run for an intent; `whatever_is_asked`, for any."""
        return tuple(
            checks.template
            for checks in self._checks.values()
            if checks.forbidden(caller, intent, whatever_is_asked=whatever_is_asked) is None
        )

    def rehearsed(self, wrap: Callable[[Runner], Runner]) -> "PolicyChain":
        """The same tools for trying a library out: judged alone by whether calls are right.

        Nothing is counted, written down or redacted, and nobody's role is asked for.
        """
        checks = {
            name: replace(
                each, intents=None, roles=None, limited=False, holds=False, redactor=Redactor(())
            )
            for name, each in self._checks.items()
        }
        nowhere = replace(self._recorder, trail=None)
        return PolicyChain(checks, self._rates, wrap(self._runner), nowhere)

    async def aclose(self) -> None:
        """Close what runs the calls."""
        await self._runner.aclose()

    async def _last_word(
        self, proposal: Proposal, checks: TemplateChecks, arguments: Mapping[str, Any]
    ) -> Refusal | None:
        """What is done with a call just before it runs, and may yet keep it from running."""
        refusal = None
        if self._recorder.comes_first(checks.template):
            shown = visible_arguments(checks.redactor, arguments)
            refusal = await self._recorder.before(proposal, shown)
        if refusal is None and checks.limited:
            refusal = await self._rates.count(checks.template, proposal.caller)
        if refusal is None and proposal.commit is not None:
            refusal = await _committed(proposal.commit)
        return refusal

    async def _run(
        self,
        proposal: Proposal,
        checks: TemplateChecks,
        arguments: Mapping[str, Any],
        system: Mapping[str, Any],
        timeout_s: float,
    ) -> CallOutcome:
        template, redactor = checks.template, checks.redactor
        call = asked = template.call(arguments, proposal.call.sources)
        if system:
            # What the server itself adds is no argument of whoever asked.
            call = _with_system(asked, system)
        result = await self._runner.execute(call, timeout_s=timeout_s)
        secrets, shown = NO_SECRETS, asked
        if redactor:
            secrets = redactor.secrets(call.arguments)
            shown = visible_call(redactor, asked, visible_arguments(redactor, asked.arguments))
            parameters = visible_arguments(redactor, call.arguments)
            result = visible_result(redactor, secrets, result, parameters)
        outcome = _OUTCOMES[result.status]
        self._recorder.after(
            proposal,
            template,
            outcome,
            result.error_message or "",
            result.execution_time_ms,
            shown.arguments,
        )
        return CallOutcome(result, shown, outcome, None, secrets)

    def _to_confirm(
        self,
        proposal: Proposal,
        checks: TemplateChecks,
        arguments: Mapping[str, Any],
        refusal: Refusal,
    ) -> CallOutcome:
        """What is refused for want of a yes: shown, and kept, with what was judged."""
        call = replace(proposal.call, arguments=arguments)
        refused = self._refused(replace(proposal, call=call), checks, refusal)
        return replace(refused, to_confirm=call)

    def _refused(
        self, proposal: Proposal, checks: TemplateChecks | None, refusal: Refusal
    ) -> CallOutcome:
        call = proposal.call
        secrets = NO_SECRETS
        if checks is None or size_problem(call.arguments) is not None:
            arguments: Mapping[str, Any] = unjudged(call.arguments)
            shown = replace(call, arguments=arguments, sources={})
        else:
            arguments = visible_arguments(checks.redactor, call.arguments)
            shown = visible_call(checks.redactor, call, arguments)
            secrets = checks.redactor.secrets(call.arguments)
        message = secrets.text(refusal.message) if secrets else refusal.message
        refusal = replace(refusal, message=message)
        template = None if checks is None else checks.template
        self._recorder.after(proposal, template, refusal.outcome, message, 0.0, arguments)
        result = ToolResult(
            tool_name=call.tool,
            operation=call.operation,
            status=ToolResultStatus.ERROR,
            execution_time_ms=0.0,
            parameters=arguments,
            error_message=message,
        )
        return CallOutcome(result, shown, refusal.outcome, refusal, secrets)


async def _committed(commit: Callable[[], Awaitable[None]]) -> Refusal | None:
    try:
        await commit()
    except StoreUnavailable:
        why = "what is confirmed is written down before it is done, and cannot be now"
        return Refusal("commit_unavailable", why)
    return None


_OUTCOMES: Mapping[ToolResultStatus, Outcome] = {
    ToolResultStatus.SUCCESS: "success",
    ToolResultStatus.ERROR: "error",
    ToolResultStatus.TIMEOUT: "timeout",
}


def _with_system(call: ToolCall, system: Mapping[str, Any]) -> ToolCall:
    return replace(
        call,
        arguments={**call.arguments, **system},
        sources={**call.sources, **dict.fromkeys(system, Source("system"))},
    )
