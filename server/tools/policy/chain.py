"""The chain that every call passes, whoever proposes it.

tool known → intent allows it → role allows it → rate limit → arguments valid → system
parameters injected → confirmed where required → committed, where it was held → run with a
deadline → recorded. Nothing later happens when an earlier step refuses, and a refused call
costs no quota.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from server.core.redaction import NO_SECRETS, Redactor, Secrets
from server.core.tools import Source, ToolCall, ToolResult, ToolResultStatus
from server.core.turn import Caller
from server.errors import StoreUnavailable
from server.library.model import Template
from server.tools.policy.arguments import ArgumentsValid
from server.tools.policy.depth import size_problem
from server.tools.policy.intents import IntentAllows
from server.tools.policy.known import KnownTool
from server.tools.policy.proposal import Judged, Outcome, Proposal, Refusal
from server.tools.policy.rates import RateAllows
from server.tools.policy.record import Recorder, unjudged
from server.tools.policy.roles import RoleAllows
from server.tools.policy.system import SystemParameters


class Step(Protocol):
    async def __call__(self, judged: Judged) -> Judged | Refusal: ...


class Runner(Protocol):
    async def execute(self, call: ToolCall, *, timeout_s: float) -> ToolResult: ...
    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Carried:
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
        known: KnownTool,
        steps: Sequence[Step],
        rates: RateAllows | None,
        runner: Runner,
        recorder: Recorder,
        redactors: Mapping[str, Redactor],
    ) -> None:
        """`steps` come after `known`, in order; `redactors` has one for each template."""
        self._known = known
        self._steps = tuple(steps)
        self._rates = rates
        self._runner = runner
        self._recorder = recorder
        self._redactors = redactors

    async def carry_out(self, proposal: Proposal, *, timeout_s: float) -> Carried:
        """Judge a proposal, run it when nothing refuses it, and write down what happened.

        Raises:
            StoreUnavailable: the counts of rate limits cannot be reached.
        """
        found = self._known.judge(proposal)
        if isinstance(found, Refusal):
            return self._refused(proposal, None, found)
        judged = found
        for step in self._steps:
            verdict = await step(judged)
            if isinstance(verdict, Refusal):
                if verdict.outcome == "confirmation_required":
                    return self._to_confirm(judged, verdict)
                return self._refused(proposal, judged.template, verdict)
            judged = verdict
        refusal = await self._recorder.before(
            proposal, judged.template, self._shown(judged.template, judged.arguments)
        )
        if refusal is None and self._rates is not None:
            refusal = await self._rates.count(judged)
        if refusal is None and proposal.commit is not None:
            refusal = await _committed(proposal.commit)
        if refusal is not None:
            return self._refused(proposal, judged.template, refusal)
        return await self._run(judged, timeout_s)

    async def open_to(
        self, caller: Caller, intent: str | None = None, *, whatever_is_asked: bool = False
    ) -> tuple[Template, ...]:
        """The templates that the caller may run for an intent; `whatever_is_asked`, for any."""
        steps = [
            step
            for step in self._steps
            if isinstance(step, RoleAllows)
            or (isinstance(step, IntentAllows) and not whatever_is_asked)
        ]
        found = []
        for template in self._known.templates.values():
            execution = template.execution
            call = ToolCall(template.id, execution.tool, execution.operation, {})
            judged = Judged(Proposal(call, caller, intent=intent), template, {}, {})
            refused = [isinstance(await step(judged), Refusal) for step in steps]
            if not any(refused):
                found.append(template)
        return tuple(found)

    def rehearsed(self, wrap: Callable[[Runner], Runner]) -> "PolicyChain":
        """The same tools for trying a library out: judged alone by whether calls are right.

        Nothing is counted, written down or redacted, and nobody's role is asked for.
        """
        kept = (ArgumentsValid, SystemParameters)
        steps = [step for step in self._steps if isinstance(step, kept)]
        nowhere = replace(self._recorder, trail=None)
        open_ = dict.fromkeys(self._redactors, Redactor(()))
        return PolicyChain(self._known, steps, None, wrap(self._runner), nowhere, open_)

    async def aclose(self) -> None:
        """Close what runs the calls."""
        await self._runner.aclose()

    async def _run(self, judged: Judged, timeout_s: float) -> Carried:
        template, proposal = judged.template, judged.proposal
        call = _call(judged)
        result = await self._runner.execute(call, timeout_s=timeout_s)
        # What the server itself added is no argument of whoever asked.
        asked = (
            call
            if not judged.system
            else replace(call, arguments=judged.arguments, sources=proposal.call.sources)
        )
        secrets, shown_call = NO_SECRETS, asked
        redactor = self._redactors[template.id]
        if redactor:
            secrets = redactor.secrets(call.arguments)
            shown_call = self._shown_call(template, asked, self._shown(template, asked.arguments))
            shown = self._shown(template, call.arguments)
            result = _without(secrets, redactor, result, shown)
        outcome: Outcome = _OUTCOMES[result.status]
        self._recorder.after(
            proposal,
            template,
            outcome,
            result.error_message or "",
            result.execution_time_ms,
            shown_call.arguments,
        )
        return Carried(result, shown_call, outcome, secrets=secrets)

    def _to_confirm(self, judged: Judged, refusal: Refusal) -> Carried:
        """What is refused for want of a yes: shown, and kept, with what was judged."""
        call = replace(judged.proposal.call, arguments=judged.arguments)
        refused = self._refused(replace(judged.proposal, call=call), judged.template, refusal)
        return replace(refused, to_confirm=call)

    def _refused(self, proposal: Proposal, template: Template | None, refusal: Refusal) -> Carried:
        call = proposal.call
        secrets = NO_SECRETS
        if template is None or size_problem(call.arguments) is not None:
            arguments: Mapping[str, Any] = unjudged(call.arguments)
            shown_call = replace(call, arguments=arguments, sources={})
        else:
            arguments = self._shown(template, call.arguments)
            shown_call = self._shown_call(template, call, arguments)
            secrets = self._redactors[template.id].secrets(call.arguments)
        message = secrets.text(refusal.message) if secrets else refusal.message
        refusal = replace(refusal, message=message)
        self._recorder.after(proposal, template, refusal.outcome, message, 0.0, arguments)
        result = ToolResult(
            tool_name=call.tool,
            operation=call.operation,
            status=ToolResultStatus.ERROR,
            execution_time_ms=0.0,
            parameters=arguments,
            error_message=message,
        )
        return Carried(result, shown_call, refusal.outcome, refusal, secrets)

    def _shown(self, template: Template, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        redactor = self._redactors[template.id]
        if not redactor:
            return arguments
        # The same words may stand in an argument beside the sensitive one.
        shown: dict[str, Any] = redactor.secrets(arguments).data(redactor.arguments(arguments))
        return shown

    def _shown_call(
        self, template: Template, call: ToolCall, arguments: Mapping[str, Any]
    ) -> ToolCall:
        redactor = self._redactors[template.id]
        if not redactor:
            return call
        secrets = redactor.secrets(call.arguments)
        sources = {
            name: replace(source, text=secrets.text(source.text)) if source.text else source
            for name, source in redactor.sources(call.sources).items()
        }
        return replace(call, arguments=arguments, sources=sources)


async def _committed(commit: Callable[[], Awaitable[None]]) -> Refusal | None:
    try:
        await commit()
    except StoreUnavailable:
        why = "what is confirmed is written down before it is done, and cannot be now"
        return Refusal("commit_unavailable", why)
    return None


def _without(
    secrets: Secrets, redactor: Redactor, result: ToolResult, parameters: Mapping[str, Any]
) -> ToolResult:
    """A result as it may be shown: also what the tool repeats of its arguments is taken out."""
    found = result.result
    if isinstance(found, Mapping):
        found = redactor.arguments(found)
    message = result.error_message
    return replace(
        result,
        parameters=parameters,
        result=secrets.data(found),
        error_message=None if message is None else secrets.text(message),
    )


_OUTCOMES: Mapping[ToolResultStatus, Outcome] = {
    ToolResultStatus.SUCCESS: "success",
    ToolResultStatus.ERROR: "error",
    ToolResultStatus.TIMEOUT: "timeout",
}


def _call(judged: Judged) -> ToolCall:
    """The call that runs: what was judged, and not what was proposed."""
    template = judged.template
    sources = judged.proposal.call.sources
    arguments = judged.arguments
    if judged.system:
        arguments = {**arguments, **judged.system}
        sources = {**sources, **dict.fromkeys(judged.system, Source("system"))}
    return ToolCall(
        template.id,
        template.execution.tool,
        template.execution.operation,
        arguments,
        sources,
        template.effect,
        sensitive=bool(template.policy.sensitive_params),
    )
