"""What a template asks of a call: that it is known, that it is allowed, and a yes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from server.core.redaction import Redactor
from server.core.turn import Caller
from server.library.model import BuiltinExecution, Library, Template
from server.tools.policy.arguments import ArgumentsCheck
from server.tools.policy.proposal import Proposal, Refusal
from server.tools.registry import ToolRegistry

SYSTEM_PARAMETERS: Final = frozenset({"user_id"})
"""Names that no template may use for a parameter of a Python function."""

_AUTH_REQUIRED: Final = Refusal("auth_required", "this is only for users who are known by name")


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


@dataclass(frozen=True, slots=True)
class TemplateChecks:
    """The checks of one template. None of `intents` and of `roles` asks nothing.

    `is_there` says whether its tool exists, `intents` which of them allow it, and `system`
    which parameters the server itself fills.
    """

    template: Template
    arguments: ArgumentsCheck
    redactor: Redactor
    is_there: bool
    intents: frozenset[str] | None
    roles: Roles | None
    limited: bool
    """Whether its calls are counted against limits."""
    system: frozenset[str] = frozenset()
    holds: bool = True
    """Whether calls wait for a yes where one is asked for."""

    def unknown(self, proposal: Proposal) -> Refusal | None:
        """Tool and operation come from the template; a call that names others is refused."""
        call, execution = proposal.call, self.template.execution
        if (call.tool, call.operation) != (execution.tool, execution.operation):
            return Refusal("tool_unknown", f"{self.template.id!r} does not run that tool")
        if not self.is_there:
            return Refusal("tool_unknown", f"the tool of {self.template.id!r} is not there")
        return None

    def forbidden(
        self, caller: Caller, intent: str | None, *, whatever_is_asked: bool = False
    ) -> Refusal | None:
        """Why what was asked for, or who asks, does not allow the template."""
        if not whatever_is_asked and self.intents is not None and intent not in self.intents:
            return Refusal("intent_forbids", "that is not something this question can ask for")
        if self.roles is None:
            return None
        policy, role = self.template.policy, caller.role
        known = caller.user_id is not None and self.roles.is_known_user(role)
        if policy.requires_auth and not known:
            return _AUTH_REQUIRED
        if not self.roles.admits(role, policy.allowed_roles):
            return Refusal("role_forbids", f"the role {role[:40]!r} may not do that")
        return None

    def system_values(self, caller: Caller) -> Mapping[str, Any] | Refusal:
        """What only the server may say, added after everything else was judged."""
        if "user_id" not in self.system:
            return {}
        return _AUTH_REQUIRED if caller.user_id is None else {"user_id": caller.user_id}

    def unconfirmed(self, proposal: Proposal) -> Refusal | None:
        """Why a call has to wait for its user's yes."""
        asked = self.template.policy.confirm or proposal.must_confirm
        if proposal.confirmed or not (self.holds and asked):
            return None
        what = self.template.description or self.template.id
        return Refusal(
            "confirmation_required",
            f"this runs only after it was confirmed, so nothing was done ({what})",
        )


def unknown_template(proposal: Proposal) -> Refusal:
    return Refusal("tool_unknown", f"there is no tool {proposal.call.template_id[:80]!r} here")


def checks_of(
    library: Library,
    registry: ToolRegistry,
    roles: Roles,
    intent_tools: Mapping[str, frozenset[str]] | None,
    system: Mapping[str, frozenset[str]],
) -> dict[str, TemplateChecks]:
    """Return the checks of each template, by its id.

    `intent_tools` maps each intent to the templates that it allows, None where no intent is
    detected, and `system` each template to the system parameters that its function takes.
    """
    open_types = frozenset(library.domain.parameter_patterns)
    checks = {}
    for template in library.templates.values():
        redactor = Redactor(template.policy.sensitive_params)
        execution = template.execution
        intents = None
        if intent_tools is not None:
            intents = frozenset(i for i, names in intent_tools.items() if template.id in names)
        checks[template.id] = TemplateChecks(
            template,
            ArgumentsCheck(template, open_types, redactor),
            redactor,
            not isinstance(execution, BuiltinExecution)
            or (
                execution.tool in registry.names
                and execution.operation in registry.get(execution.tool).operations
            ),
            intents,
            roles,
            bool(template.policy.rate_limit),
            system.get(template.id, frozenset()),
        )
    return checks
