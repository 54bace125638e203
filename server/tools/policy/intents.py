"""Step 2: what was asked for allows this tool."""

from collections.abc import Mapping

from server.library.model import Template
from server.tools.policy.proposal import Check, Proposal, Refusal


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
