"""The last step: every call and every refusal is written down."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal

from server.audit.entry import Event
from server.audit.writer import AuditWriter
from server.core.redaction import REDACTED, Redactor, Secrets
from server.core.tools import ToolCall, ToolResult
from server.errors import StoreUnavailable
from server.library.model import Template
from server.tools.policy.proposal import Outcome, Proposal, Refusal

Failing = Literal["allow", "deny"]

_RAN: Final = ("success", "error", "timeout")


@dataclass(frozen=True, slots=True)
class AuditRecorder:
    """`failing_…` say what happens to calls while nothing can be written down."""

    trail: AuditWriter | None
    adapter: str
    failing_reads: Failing = "allow"
    failing_writes: Failing = "deny"

    def comes_first(self, template: Template) -> bool:
        """Whether a call of the template must not run before that is written down."""
        if self.trail is None or not template.policy.log_invocations:
            return False
        return (self.failing_writes if template.effect == "write" else self.failing_reads) == "deny"

    async def before(self, proposal: Proposal, arguments: Mapping[str, Any]) -> Refusal | None:
        """Write that a call is about to run, which one that leaves no trace must not."""
        if self.trail is None:
            return None
        try:
            await self.trail.write(self._event(proposal, "started", "", 0.0, arguments))
        except StoreUnavailable:
            return Refusal(
                "audit_unavailable", "this is written down when it is done, and cannot be now"
            )
        return None

    def after(
        self,
        proposal: Proposal,
        template: Template | None,
        outcome: Outcome,
        reason: str,
        duration_ms: float,
        arguments: Mapping[str, Any],
    ) -> None:
        """Note how it ended. Refusals are noted even where calls are not."""
        if self.trail is None:
            return
        if template and not template.policy.log_invocations and outcome in _RAN:
            return
        self.trail.note(self._event(proposal, outcome, reason, duration_ms, arguments))

    def _event(
        self,
        proposal: Proposal,
        outcome: Outcome,
        reason: str,
        duration_ms: float,
        arguments: Mapping[str, Any],
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
        )


def unjudged(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Names alone: of a call to nothing that is known, or with more than anybody would read."""
    return {str(name)[:60]: REDACTED for name in list(arguments)[:50]}


def visible_arguments(redactor: Redactor, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    if not redactor:
        return arguments
    # The same words may stand in an argument beside the sensitive one.
    shown: dict[str, Any] = redactor.secrets(arguments).data(redactor.arguments(arguments))
    return shown


def visible_call(redactor: Redactor, call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    """The call with `arguments`, which may be shown, and sources that may be."""
    if not redactor:
        return call
    secrets = redactor.secrets(call.arguments)
    sources = {
        name: replace(source, text=secrets.text(source.text)) if source.text else source
        for name, source in redactor.sources(call.sources).items()
    }
    return replace(call, arguments=arguments, sources=sources)


def visible_result(
    redactor: Redactor, secrets: Secrets, result: ToolResult, parameters: Mapping[str, Any]
) -> ToolResult:
    """Also what the tool repeats of its arguments is taken out."""
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
