"""The chain that every call passes, whoever proposes it.

tool known → intent allows it → role allows it → rate limit → arguments valid → system
parameters injected → confirmed where required → committed, where it was held → run with a
deadline → recorded. Nothing later happens when an earlier step refuses, and a refused call
costs no quota.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal, Protocol

from server.access.rate_limits import RateLimits
from server.audit.changes import ChangeRecorder
from server.audit.entry import Event
from server.audit.writer import AuditWriter
from server.core.redaction import NO_SECRETS, REDACTED, Redactor, Secrets
from server.core.tools import RowTaker, Source, ToolCall, ToolResult, ToolResultStatus
from server.core.turn import Caller
from server.errors import StoreUnavailable
from server.library.model import Library, Template
from server.library.sql_model import SqlExecution
from server.settings.models import AccessSettings
from server.tools.policy.checks import (
    Outcome,
    Proposal,
    Rates,
    Refusal,
    Roles,
    TemplateChecks,
    checks_of,
    size_problem,
)
from server.tools.registry import ToolRegistry

_OUTCOMES: Final[Mapping[ToolResultStatus, Outcome]] = {
    ToolResultStatus.SUCCESS: "success",
    ToolResultStatus.ERROR: "error",
    ToolResultStatus.TIMEOUT: "timeout",
}


class Runner(Protocol):
    async def execute(self, call: ToolCall, *, timeout_s: float) -> ToolResult: ...
    async def aclose(self) -> None: ...


Rows = Sequence[Mapping[str, Any]]


class Exporter(Protocol):
    """Runs calls whose rows go somewhere as they come; `hide` takes out what is not to be shown."""

    async def export(
        self, call: ToolCall, taker: RowTaker, hide: Callable[[Rows], Rows], *, timeout_s: float
    ) -> ToolResult: ...


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What became of a proposal, fit to be shown: take `secrets` out of whatever else is.

    `to_confirm`, where only a yes is missing, is the call as it would run, sensitive or not.
    """

    result: ToolResult
    call: ToolCall
    outcome: Outcome
    refusal: Refusal | None = None
    secrets: Secrets = NO_SECRETS
    to_confirm: ToolCall | None = None


@dataclass(frozen=True, slots=True)
class AuditRecorder:
    """Writes down calls and refusals. `failing_…` say what happens while that is impossible."""

    trail: AuditWriter | None
    adapter: str
    failing_reads: Literal["allow", "deny"] = "allow"
    failing_writes: Literal["allow", "deny"] = "deny"

    async def record_start(
        self, proposal: Proposal, checks: TemplateChecks, arguments: Mapping[str, Any]
    ) -> tuple[Proposal, Refusal | None]:
        """Write that a call is about to run, where it must not run without a record.

        Return the proposal as it is to be recorded from now on.
        """
        template = checks.template
        failing = self.failing_writes if template.effect == "write" else self.failing_reads
        if self.trail is None or not template.policy.log_invocations or failing == "allow":
            return proposal, None
        proposal = replace(proposal, call_id=self.trail.new_call_id())
        shown = _visible_arguments(checks.redactor, arguments)
        try:
            await self.trail.write(self._event(proposal, "started", shown))
        except StoreUnavailable:
            why = "this is written down when it is done, and cannot be now"
            return proposal, Refusal("audit_unavailable", why)
        except BaseException as failure:
            self.record_interruption(proposal, checks, arguments, failure, ran=False)
            raise
        return proposal, None

    def record_refusal(self, proposal: Proposal, ended: CallOutcome) -> None:
        """Note a refusal, also of calls that are not recorded."""
        if self.trail is not None:
            self.trail.note(self._ended(proposal, ended))

    async def record_refused_start(self, proposal: Proposal) -> None:
        """Return when it is written that a call which was entered as started did not run."""
        if self.trail is not None and proposal.call_id is not None:
            await self.trail.written()

    async def record_end(self, proposal: Proposal, template: Template, ended: CallOutcome) -> None:
        """Note how a call ended; where its start was written, return when that is, too."""
        if self.trail is None or not template.policy.log_invocations:
            return
        event = self._ended(proposal, ended)
        if proposal.call_id is None:
            self.trail.note(event)
        else:
            await self.trail.record(event)

    def record_interruption(
        self,
        proposal: Proposal,
        checks: TemplateChecks,
        arguments: Mapping[str, Any],
        failure: BaseException,
        *,
        ran: bool,
    ) -> None:
        """Note that a call was given up: whoever asked left, its time was over, or it failed."""
        if self.trail is None or not checks.template.policy.log_invocations:
            return
        shown = _visible_arguments(checks.redactor, arguments)
        done = "whether it was done is not known" if ran else "nothing was done"
        reason = f"given up ({type(failure).__name__}): {done}"
        self.trail.note(self._event(proposal, "interrupted", shown, reason))

    def _ended(self, proposal: Proposal, ended: CallOutcome) -> Event:
        reason, taken_ms = ended.result.error_message or "", ended.result.execution_time_ms
        return self._event(proposal, ended.outcome, ended.call.arguments, reason, taken_ms)

    def _event(
        self,
        proposal: Proposal,
        outcome: Outcome,
        arguments: Mapping[str, Any],
        reason: str = "",
        duration_ms: float = 0.0,
    ) -> Event:
        call, caller = proposal.call, proposal.caller
        return Event(
            datetime.now(UTC),
            proposal.request_id,
            self.adapter,
            caller.key_id,
            caller.user_id,
            caller.role,
            proposal.intent,
            call.template_id,
            call.tool,
            call.operation,
            outcome,
            reason,
            duration_ms,
            proposal.proposed_by,
            arguments,
            proposal.proposal_id,
            call_id=proposal.call_id,
        )


@dataclass(frozen=True, slots=True)
class PolicyChain:
    """The one way to the tools of an adapter. `checks` has those of each template, by its id."""

    checks: Mapping[str, TemplateChecks]
    rates: Rates
    runner: Runner
    recorder: AuditRecorder
    exporter: Exporter | None = None

    def can_export(self, template_id: str) -> bool:
        """Whether all rows of a template's calls can be sent as they come."""
        checks = self.checks.get(template_id)
        template = checks.template if checks is not None else None
        if self.exporter is None or template is None or template.effect == "write":
            return False
        return isinstance(template.execution, SqlExecution)

    async def carry_out(
        self, proposal: Proposal, *, timeout_s: float, taker: RowTaker | None = None
    ) -> CallOutcome:
        """Judge a proposal, run and record it; raise `StoreUnavailable` without rate limits.

        With a `taker`, all rows go there as they come, where `can_export` says that they may.
        """
        judged = await self._judge(proposal)
        if isinstance(judged, CallOutcome):
            return judged
        checks, arguments, system = judged
        refusal = checks.check_confirmed(proposal)
        if refusal is not None:
            call = replace(proposal.call, arguments=arguments)
            refused = self._refused(replace(proposal, call=call), checks, refusal)
            return replace(refused, to_confirm=call)
        proposal, refusal = await self.recorder.record_start(proposal, checks, arguments)
        if refusal is not None:
            return self._refused(proposal, checks, refusal)
        try:
            refusal = await self._count_and_commit(proposal, checks)
        except BaseException as failure:
            self.recorder.record_interruption(proposal, checks, arguments, failure, ran=False)
            raise
        if refusal is not None:
            refused = self._refused(proposal, checks, refusal)
            await self.recorder.record_refused_start(proposal)
            return refused
        return await self._run(proposal, checks, arguments, system, timeout_s, taker)

    async def judge(self, proposal: Proposal) -> ToolCall | CallOutcome:
        """Return the call as it would run, or why it may not; nothing runs, and none is counted.

        A call that has to be confirmed is as good as any: who runs it has to ask.

        Raises:
            StoreUnavailable: the counts of rate limits cannot be reached.
        """
        judged = await self._judge(proposal)
        if isinstance(judged, CallOutcome):
            return judged
        checks, arguments, _ = judged
        return checks.template.call(arguments, proposal.call.sources)

    async def take_result(self, proposal: Proposal, result: Any) -> CallOutcome:
        """Judge a call that the client made itself, and return it with the result it tells of.

        Raises:
            StoreUnavailable: the counts of rate limits cannot be reached.
        """
        judged = await self._judge(proposal)
        if isinstance(judged, CallOutcome):
            return judged
        checks, arguments, _ = judged
        call = checks.template.call(arguments, proposal.call.sources)
        success = ToolResultStatus.SUCCESS
        told = ToolResult(call.tool, call.operation, success, 0.0, arguments, result)
        return _shown(checks.redactor, call, call, told)

    async def _judge(
        self, proposal: Proposal
    ) -> tuple[TemplateChecks, Mapping[str, Any], Mapping[str, Any]] | CallOutcome:
        """Return the checks, the arguments and the system parameters of a call, or a refusal."""
        call, caller = proposal.call, proposal.caller
        checks = self.checks.get(call.template_id)
        if checks is None:
            message = f"there is no tool {call.template_id[:80]!r} here"
            return self._refused(proposal, None, Refusal("tool_unknown", message))
        refusal = checks.check_known(call)
        if refusal is not None:
            return self._refused(proposal, None, refusal)
        template = checks.template
        named = proposal.proposed_by == "caller"  # no question was asked that has an intent
        refusal = checks.check_allowed(caller, proposal.intent, any_intent=named)
        if refusal is None and checks.limited:
            refusal = await self.rates.look(template, caller)
        if refusal is not None:
            return self._refused(proposal, checks, refusal)
        arguments = checks.arguments(call.arguments)
        if isinstance(arguments, Refusal):
            return self._refused(proposal, checks, arguments)
        system = checks.system_values(caller) if checks.system else {}
        if isinstance(system, Refusal):
            return self._refused(proposal, checks, system)
        return checks, arguments, system

    def open_to(
        self, caller: Caller, intent: str | None = None, *, any_intent: bool = False
    ) -> tuple[Template, ...]:
        """Return the templates that the caller may run for an intent, or for any."""
        return tuple(
            checks.template
            for checks in self.checks.values()
            if checks.check_allowed(caller, intent, any_intent=any_intent) is None
        )

    def rehearsed(self, wrap: Callable[[Runner], Runner]) -> "PolicyChain":
        """Return the same tools for trials: only arguments are judged, and nothing is recorded."""
        checks = {
            name: replace(
                each, intents=None, roles=None, limited=False, holds=False, redactor=Redactor(())
            )
            for name, each in self.checks.items()
        }
        silent = replace(self.recorder, trail=None)
        wrapped = wrap(self.runner)
        return replace(self, checks=checks, runner=wrapped, recorder=silent, exporter=None)

    async def aclose(self) -> None:
        await self.runner.aclose()

    async def _count_and_commit(self, proposal: Proposal, checks: TemplateChecks) -> Refusal | None:
        if checks.limited:
            refusal = await self.rates.look(checks.template, proposal.caller, count=True)
            if refusal is not None:
                return refusal
        if proposal.commit is not None:
            try:
                await proposal.commit()
            except StoreUnavailable:
                why = "what is confirmed is written down before it is done, and cannot be now"
                return Refusal("commit_unavailable", why)
        return None

    async def _run(
        self,
        proposal: Proposal,
        checks: TemplateChecks,
        arguments: Mapping[str, Any],
        system: Mapping[str, Any],
        timeout_s: float,
        taker: RowTaker | None,
    ) -> CallOutcome:
        template, redactor = checks.template, checks.redactor
        # What was judged runs, and not what was proposed.
        call = asked = template.call(arguments, proposal.call.sources)
        if system:
            # What the server itself adds is not shown as an argument of whoever asked.
            sources = {**asked.sources, **dict.fromkeys(system, Source("system"))}
            call = replace(asked, arguments={**arguments, **system}, sources=sources)
        try:
            if taker is not None and self.exporter is not None:
                hide = _hider(redactor, redactor.secrets(call.arguments))
                result = await self.exporter.export(call, taker, hide, timeout_s=timeout_s)
            else:
                result = await self.runner.execute(call, timeout_s=timeout_s)
        except BaseException as failure:
            self.recorder.record_interruption(proposal, checks, arguments, failure, ran=True)
            raise
        ended = _shown(redactor, asked, call, result)
        await self.recorder.record_end(proposal, template, ended)
        return ended

    def _refused(
        self, proposal: Proposal, checks: TemplateChecks | None, refusal: Refusal
    ) -> CallOutcome:
        call = shown = proposal.call
        secrets = NO_SECRETS
        if checks is None or size_problem(call.arguments) is not None:
            # Names alone: the call is to nothing known, or has more than anybody would read.
            names = [str(name)[:60] for name in list(call.arguments)[:50]]
            shown = replace(call, arguments=dict.fromkeys(names, REDACTED), sources={})
        elif checks.redactor.paths:
            shown = _visible_call(checks.redactor, call)
            secrets = checks.redactor.secrets(call.arguments)
        refusal = replace(refusal, message=secrets.text(refusal.message))
        result = ToolResult.of_no_call(shown, refusal.message)
        ended = CallOutcome(result, shown, refusal.outcome, refusal, secrets)
        self.recorder.record_refusal(proposal, ended)
        return ended


def _visible_arguments(redactor: Redactor, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    if not redactor.paths:
        return arguments
    # The same words may stand in an argument beside the sensitive one.
    shown: dict[str, Any] = redactor.secrets(arguments).data(redactor.arguments(arguments))
    return shown


def _hider(redactor: Redactor, secrets: Secrets) -> Callable[[Rows], Rows]:
    def hide(rows: Rows) -> Rows:
        if not redactor.paths:
            return rows
        hidden: Rows = secrets.data([redactor.arguments(row) for row in rows])
        return hidden

    return hide


def _shown(redactor: Redactor, asked: ToolCall, ran: ToolCall, result: ToolResult) -> CallOutcome:
    """What came of a call as it was asked for, and as it ran, fit to be shown."""
    secrets = NO_SECRETS
    if asked is not ran:
        result = replace(result, parameters=asked.arguments)
    if redactor.paths:
        secrets = redactor.secrets(ran.arguments)
        asked = _visible_call(redactor, asked)
        result = _visible_result(redactor, secrets, result)
    return CallOutcome(result, asked, _OUTCOMES[result.status], None, secrets)


def _visible_call(redactor: Redactor, call: ToolCall) -> ToolCall:
    secrets = redactor.secrets(call.arguments)
    sources = {
        name: replace(source, text=secrets.text(source.text)) if source.text else source
        for name, source in redactor.sources(call.sources).items()
    }
    return replace(call, arguments=_visible_arguments(redactor, call.arguments), sources=sources)


def _visible_result(redactor: Redactor, secrets: Secrets, result: ToolResult) -> ToolResult:
    data, message, rejection = result.result, result.error_message, result.rejection
    if isinstance(data, Mapping):
        data = redactor.arguments(data)
    return replace(
        result,
        parameters=_visible_arguments(redactor, result.parameters),
        result=secrets.data(data),
        error_message=None if message is None else secrets.text(message),
        rejection=None if rejection is None else secrets.text(rejection),
    )


@dataclass(frozen=True, slots=True)
class Guardrails:
    """What the chains of all adapters share."""

    limits: RateLimits
    trail: AuditWriter | None = None
    access: AccessSettings = field(default_factory=AccessSettings)

    @property
    def changes(self) -> ChangeRecorder:
        return ChangeRecorder(self.trail, self.access.audit.failing_writes)

    async def close(self) -> None:
        if self.trail is not None:
            await self.trail.close()
        await self.limits.close()


def build_chain(
    adapter: str,
    library: Library,
    registry: ToolRegistry,
    runner: Runner,
    guardrails: Guardrails,
    *,
    intent_tools: Mapping[str, tuple[str, ...]] | None = None,
    system: Mapping[str, frozenset[str]] | None = None,
    exporter: Exporter | None = None,
) -> PolicyChain:
    access, audit = guardrails.access, guardrails.access.audit
    roles = Roles(access.roles.names, access.roles.order)
    return PolicyChain(
        checks_of(library, registry, roles, intent_tools, system or {}),
        Rates(guardrails.limits, adapter),
        runner,
        AuditRecorder(guardrails.trail, adapter, audit.failing_reads, audit.failing_writes),
        exporter,
    )
