"""What a template asks of its calls, worked out once, without the steps that ask nothing."""

from collections.abc import Mapping
from dataclasses import dataclass

from server.core.redaction import Redactor
from server.library.model import Library, Template
from server.tools.policy.arguments import ArgumentsCheck
from server.tools.policy.confirmation import confirmation_check
from server.tools.policy.intents import intent_check
from server.tools.policy.known import tool_check
from server.tools.policy.proposal import Check, Proposal, Refusal
from server.tools.policy.roles import Roles, role_check
from server.tools.policy.system import SystemValues, system_values
from server.tools.registry import ToolRegistry


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of one template, in the order of their fields; None where one asks nothing."""

    template: Template
    tool: Check
    intent: Check | None
    role: Check | None
    limited: bool
    """Whether its calls are counted against limits."""
    arguments: ArgumentsCheck
    system: SystemValues | None
    confirmation: Check | None
    redactor: Redactor

    def refuses(self, proposal: Proposal) -> Refusal | None:
        """Why the intent, or who asks, keeps a call from being looked at any further."""
        refusal = None if self.intent is None else self.intent(proposal)
        if refusal is None and self.role is not None:
            refusal = self.role(proposal)
        return refusal


def plan_calls(
    library: Library,
    registry: ToolRegistry,
    roles: Roles,
    intent_tools: Mapping[str, frozenset[str]] | None,
    system: Mapping[str, frozenset[str]],
) -> dict[str, Plan]:
    """Return the plan of each template, by its id.

    `intent_tools` maps each intent to the templates that it allows, and `system` each
    template to the system parameters that its function takes.
    """
    open_types = frozenset(library.domain.parameter_patterns)
    plans = {}
    for template in library.templates.values():
        redactor = Redactor(template.policy.sensitive_params)
        plans[template.id] = Plan(
            template,
            tool_check(template, registry),
            intent_check(template, intent_tools),
            role_check(template, roles),
            bool(template.policy.rate_limit),
            ArgumentsCheck(template, open_types, redactor),
            system_values(system.get(template.id, frozenset())),
            confirmation_check(template),
            redactor,
        )
    return plans
