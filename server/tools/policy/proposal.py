"""A call that somebody proposes, and the ways in which it can be refused."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from server.core.tools import ToolCall
from server.core.turn import Caller

ProposedBy = Literal["system", "model"]

Outcome = Literal[
    "started",
    "success",
    "error",
    "timeout",
    "tool_unknown",
    "intent_forbids",
    "auth_required",
    "role_forbids",
    "rate_limited",
    "arguments_invalid",
    "confirmation_required",
    "audit_unavailable",
    "commit_unavailable",
]
"""How a call ended, in the audit and in `metadata.policy.outcome`."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call, who asks for it and why. Nothing in it is trusted until the chain has passed.

    `intent` is what the rule engine found, never what a user or a model says of itself.
    `must_confirm` asks for the user's yes whatever the template says. `confirmed` is set by
    whoever held the call until it came, and `commit` is then called last, just before the
    tool: where it raises `StoreUnavailable`, nothing runs. `proposal_id` is what the call is,
    or would be, held as.
    """

    call: ToolCall
    caller: Caller
    request_id: str = ""
    intent: str | None = None
    proposed_by: ProposedBy = "system"
    must_confirm: bool = False
    confirmed: bool = False
    proposal_id: str | None = None
    commit: Callable[[], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call does not run; `message` is for the person who asked."""

    outcome: Outcome
    message: str
    retry_after_s: float | None = None


Check = Callable[[Proposal], Refusal | None]
"""One step, made for one template: why a call of it does not run, or None."""
