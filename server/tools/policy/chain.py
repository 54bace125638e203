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
from server.tools.policy.checks import size_problem
from server.tools.policy.proposal import Outcome, Proposal, Refusal
from server.tools.policy.recorder import (
    AuditRecorder,
    unjudged,
    visible_arguments,
    visible_call,
    visible_result,
)
from server.tools.policy.steps import Rates, unknown_template
from server.tools.policy.template_checks import TemplateChecks


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
        plans: Mapping[str, TemplateChecks],
        rates: Rates,
        runner: Runner,
        recorder: AuditRecorder,
    ) -> None:
        """`plans` has the plan of each template, by its id."""
        self._plans = plans
        self._rates = rates
        self._runner = runner
        self._recorder = recorder

    async def carry_out(self, proposal: Proposal, *, timeout_s: float) -> CallOutcome:
        """Judge a proposal, run it when nothing refuses it, and write down what happened.

        Raises:
            StoreUnavailable: the counts of rate limits cannot be reached.
        """
        plan = self._plans.get(proposal.call.template_id)
        if plan is None:
            return self._refused(proposal, None, unknown_template(proposal))
        refusal = plan.tool(proposal)
        if refusal is not None:
            return self._refused(proposal, None, refusal)
        refusal = plan.refuses(proposal)
        if refusal is None and plan.limited:
            refusal = await self._rates.look(plan.template, proposal.caller)
        if refusal is not None:
            return self._refused(proposal, plan, refusal)
        arguments = plan.arguments(proposal.call.arguments)
        if isinstance(arguments, Refusal):
            return self._refused(proposal, plan, arguments)
        system = _NOTHING if plan.system is None else plan.system(proposal.caller)
        if isinstance(system, Refusal):
            return self._refused(proposal, plan, system)
        if plan.confirmation is not None:
            refusal = plan.confirmation(proposal)
            if refusal is not None:
                return self._to_confirm(proposal, plan, arguments, refusal)
        refusal = await self._last_word(proposal, plan, arguments)
        if refusal is not None:
            return self._refused(proposal, plan, refusal)
        return await self._run(proposal, plan, arguments, system, timeout_s)

    def open_to(
        self, caller: Caller, intent: str | None = None, *, whatever_is_asked: bool = False
    ) -> tuple[Template, ...]:
        """The templates that the caller may run for an intent; `whatever_is_asked`, for any."""
        found = []
        for plan in self._plans.values():
            template = plan.template
            asked = Proposal(template.call({}), caller, intent=intent)
            checks = (plan.role, None if whatever_is_asked else plan.intent)
            if all(check is None or check(asked) is None for check in checks):
                found.append(template)
        return tuple(found)

    def rehearsed(self, wrap: Callable[[Runner], Runner]) -> "PolicyChain":
        """The same tools for trying a library out: judged alone by whether calls are right.

        Nothing is counted, written down or redacted, and nobody's role is asked for.
        """
        plans = {
            name: replace(
                plan,
                intent=None,
                role=None,
                limited=False,
                confirmation=None,
                redactor=Redactor(()),
            )
            for name, plan in self._plans.items()
        }
        nowhere = replace(self._recorder, trail=None)
        return PolicyChain(plans, self._rates, wrap(self._runner), nowhere)

    async def aclose(self) -> None:
        """Close what runs the calls."""
        await self._runner.aclose()

    async def _last_word(
        self, proposal: Proposal, plan: TemplateChecks, arguments: Mapping[str, Any]
    ) -> Refusal | None:
        """What is done with a call just before it runs, and may yet keep it from running."""
        refusal = None
        if self._recorder.comes_first(plan.template):
            shown = visible_arguments(plan.redactor, arguments)
            refusal = await self._recorder.before(proposal, shown)
        if refusal is None and plan.limited:
            refusal = await self._rates.count(plan.template, proposal.caller)
        if refusal is None and proposal.commit is not None:
            refusal = await _committed(proposal.commit)
        return refusal

    async def _run(
        self,
        proposal: Proposal,
        plan: TemplateChecks,
        arguments: Mapping[str, Any],
        system: Mapping[str, Any],
        timeout_s: float,
    ) -> CallOutcome:
        template, redactor = plan.template, plan.redactor
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
        plan: TemplateChecks,
        arguments: Mapping[str, Any],
        refusal: Refusal,
    ) -> CallOutcome:
        """What is refused for want of a yes: shown, and kept, with what was judged."""
        call = replace(proposal.call, arguments=arguments)
        refused = self._refused(replace(proposal, call=call), plan, refusal)
        return replace(refused, to_confirm=call)

    def _refused(
        self, proposal: Proposal, plan: TemplateChecks | None, refusal: Refusal
    ) -> CallOutcome:
        call = proposal.call
        secrets = NO_SECRETS
        if plan is None or size_problem(call.arguments) is not None:
            arguments: Mapping[str, Any] = unjudged(call.arguments)
            shown = replace(call, arguments=arguments, sources={})
        else:
            arguments = visible_arguments(plan.redactor, call.arguments)
            shown = visible_call(plan.redactor, call, arguments)
            secrets = plan.redactor.secrets(call.arguments)
        message = secrets.text(refusal.message) if secrets else refusal.message
        refusal = replace(refusal, message=message)
        template = None if plan is None else plan.template
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


_NOTHING: Mapping[str, Any] = {}

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
