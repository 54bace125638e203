"""Step 2: what was asked for allows this tool."""

from collections.abc import Mapping
from dataclasses import dataclass

from server.tools.policy.proposal import Judged, Refusal


@dataclass(frozen=True, slots=True)
class IntentAllows:
    """`templates_of` maps each intent to what it allows; None where no intent is detected."""

    templates_of: Mapping[str, frozenset[str]] | None

    async def __call__(self, judged: Judged) -> Judged | Refusal:
        if self.templates_of is None:
            return judged
        intent = judged.proposal.intent
        if intent is not None and judged.template.id in self.templates_of.get(intent, ()):
            return judged
        return Refusal("intent_forbids", "that is not something this question can ask for")
