"""The steps of the chain, each of which can refuse a call."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from server.access.rate_limits import LimitStatus, RateLimits
from server.core.turn import Caller
from server.library.model import BuiltinExecution, Template
from server.tools.policy.proposal import Check, Proposal, Refusal
from server.tools.registry import ToolRegistry


def unknown_template(proposal: Proposal) -> Refusal:
    return Refusal("tool_unknown", f"there is no tool {proposal.call.template_id[:80]!r} here")


def tool_check(template: Template, registry: ToolRegistry) -> Check:
    """Tool and operation come from the template; a call that names others is refused."""
    execution = template.execution
    tool, operation = execution.tool, execution.operation
    there = not isinstance(execution, BuiltinExecution) or (
        tool in registry.names and operation in registry.get(tool).operations
    )

    def check(proposal: Proposal) -> Refusal | None:
        call = proposal.call
        if call.tool != tool or call.operation != operation:
            return Refusal("tool_unknown", f"{template.id!r} does not run that tool")
        if not there:
            return Refusal("tool_unknown", f"the tool of {template.id!r} is not there")
        return None

    return check


def intent_check(
    template: Template, templates_of: Mapping[str, frozenset[str]] | None
) -> Check | None:
    """`templates_of` maps each intent to what it allows; None where no intent is detected."""
    if templates_of is None:
        return None
    allowing = frozenset(intent for intent, names in templates_of.items() if template.id in names)

    def check(proposal: Proposal) -> Refusal | None:
        if proposal.intent in allowing:
            return None
        return Refusal("intent_forbids", "that is not something this question can ask for")

    return check


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles there are, least first; the first is the guest.

    `listed`: a template names each role that may run it. `ordered`: every role above one
    that it names may as well. A role that is not known here may do what a guest may.
    """

    names: tuple[str, ...] = ("guest", "user", "premium", "admin")
    order: Literal["listed", "ordered"] = "listed"

    def is_known_user(self, role: str) -> bool:
        return role in self.names[1:]

    def admits(self, role: str, allowed: tuple[str, ...]) -> bool:
        """Whether `role` may run what `allowed` names; an empty `allowed` is everybody."""
        if not allowed:
            return True
        held = role if role in self.names else self.names[0]
        if self.order == "listed":
            return held in allowed
        return any(
            self.names.index(held) >= self.names.index(name)
            for name in allowed
            if name in self.names
        )


def role_check(template: Template, roles: Roles) -> Check | None:
    """None where everybody may run the template."""
    policy = template.policy
    if not policy.requires_auth and not policy.allowed_roles:
        return None
    admitted = frozenset(role for role in roles.names if roles.admits(role, policy.allowed_roles))
    unknown_roles_are_admitted = roles.names[0] in admitted

    def check(proposal: Proposal) -> Refusal | None:
        caller = proposal.caller
        role = caller.role
        if policy.requires_auth and (caller.user_id is None or not roles.is_known_user(role)):
            return Refusal("auth_required", "this is only for users who are known by name")
        if role in admitted or (unknown_roles_are_admitted and role not in roles.names):
            return None
        return Refusal("role_forbids", f"the role {role[:40]!r} may not do that")

    return check


@dataclass(frozen=True, slots=True)
class Rates:
    """Looks, and does not count: what a later step refuses shall cost nothing."""

    limits: RateLimits
    adapter: str

    async def look(self, template: Template, caller: Caller) -> Refusal | None:
        """Refuse what the counts leave no room for."""
        standing = await self.limits.peek(template.policy.rate_limit, self._who(template, caller))
        return None if standing is None else _refusal(standing)

    async def count(self, template: Template, caller: Caller) -> Refusal | None:
        """Count a call, which is about to run; refuse it where others were quicker."""
        standing = await self.limits.take(template.policy.rate_limit, self._who(template, caller))
        return None if standing is None else _refusal(standing)

    def _who(self, template: Template, caller: Caller) -> str:
        # One text, quoted: who a user is can then never run over into what is counted.
        return f"tool/{self.adapter}/{template.id}/{limit_identity(caller)!r}"


def limit_identity(caller: Caller) -> str:
    """Under whose name calls are counted: the user's, or the key's where there is none."""
    return f"key:{caller.key_id}" if caller.user_id is None else f"user:{caller.user_id}"


def _refusal(standing: LimitStatus) -> Refusal:
    seconds = max(1, math.ceil(standing.reset_s))
    count, unit = standing.limit.split("/")
    message = (
        f"the limit of {count} an {unit}" if unit == "hour" else f"the limit of {count} a {unit}"
    )
    return Refusal(
        "rate_limited", f"{message} is reached; try again in {_spoken(seconds)}", seconds
    )


def _spoken(seconds: int) -> str:
    for size, unit in ((3600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            number = math.ceil(seconds / size)
            return f"{number} {unit}{'s' if number != 1 else ''}"
    return "a moment"


SYSTEM_PARAMETERS = frozenset({"user_id"})
"""Names that no template may use for a parameter of a Python function."""


SystemValues = Callable[[Caller], Mapping[str, Any] | Refusal]


def system_values(names: frozenset[str]) -> SystemValues | None:
    """What gives the system parameters of `names` their values; None where there are none."""
    if not names:
        return None

    def values(caller: Caller) -> Mapping[str, Any] | Refusal:
        if "user_id" in names and caller.user_id is None:
            return Refusal("auth_required", "this is only for users who are known by name")
        return {name: value for name, value in _known(caller).items() if name in names}

    return values


def _known(caller: Caller) -> dict[str, str | None]:
    return {"user_id": caller.user_id}


def confirmation_check(template: Template) -> Check:
    must_confirm = template.policy.confirm

    def check(proposal: Proposal) -> Refusal | None:
        if proposal.confirmed or not (must_confirm or proposal.must_confirm):
            return None
        what = template.description or template.id
        return Refusal(
            "confirmation_required",
            f"this runs only after it was confirmed, so nothing was done ({what})",
        )

    return check
