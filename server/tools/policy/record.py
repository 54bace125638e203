"""The last step: every call and every refusal is written down."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from server.access.audit.entry import Event
from server.access.audit.trail import Trail
from server.core.redaction import REDACTED
from server.errors import StoreUnavailable
from server.library.model import Template
from server.tools.policy.proposal import Outcome, Proposal, Refusal

Failing = Literal["allow", "deny"]


@dataclass(frozen=True, slots=True)
class Recorder:
    """`failing_…` say what happens to calls while nothing can be written down."""

    trail: Trail | None
    adapter: str
    failing_reads: Failing = "allow"
    failing_writes: Failing = "deny"

    async def before(
        self, proposal: Proposal, template: Template, arguments: Mapping[str, Any]
    ) -> Refusal | None:
        """Write that a call is about to run, where one that leaves no trace must not."""
        strict = self.failing_writes if template.effect == "write" else self.failing_reads
        if self.trail is None or strict == "allow" or not template.policy.log_invocations:
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
        ran = outcome in ("success", "error", "timeout")
        if self.trail is None or (ran and template and not template.policy.log_invocations):
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
            at=datetime.now(UTC),
            request_id=proposal.request_id,
            adapter=self.adapter,
            key_id=caller.key_id,
            user_id=caller.user_id,
            role=caller.role,
            intent=proposal.intent,
            template_id=call.template_id,
            tool=call.tool,
            operation=call.operation,
            outcome=outcome,
            reason=reason,
            duration_ms=duration_ms,
            proposed_by=proposal.proposed_by,
            arguments=arguments,
            proposal_id=proposal.proposal_id,
        )


def unjudged(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Names alone: of a call to nothing that is known, or with more than anybody would read."""
    return {str(name)[:60]: REDACTED for name in list(arguments)[:50]}
