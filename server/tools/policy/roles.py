"""Step 3: who asks may run it."""

from dataclasses import dataclass
from typing import Literal

from server.library.model import Template
from server.tools.policy.proposal import Check, Proposal, Refusal


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
