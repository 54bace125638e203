"""An adapter that is open: everything one turn needs, in one place."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from server.conversation.confirmations.service import ConfirmationService
from server.conversation.store import ConversationStore
from server.core.decision import Decision
from server.core.ports import Decider
from server.core.turn import Turn
from server.guards.guard import Guard
from server.intents.classifier import Detect
from server.library.model import Library
from server.llm.models import AdapterModels
from server.metrics.metrics import Metrics
from server.retrievers.followups.decider import FollowUpDecider
from server.tools.policy.chain import PolicyChain


@dataclass(frozen=True, slots=True)
class Adapter:
    """`details` is what readiness reports about it: counts, encoder, what was re-embedded.

    `guard` judges questions first, when there is one. Its routes are followed with
    `to_template`, which decides for a template by name, and `resolve_adapter`, which finds
    another adapter.
    """

    name: str
    library: Library
    decider: Decider | FollowUpDecider
    """The head of the chain of deciders."""
    chain: PolicyChain
    tool_timeout_s: float
    detect: Detect | None = None
    """What the adapter's rule pack makes of a question, for adapters that have one."""
    rate_limits: tuple[str, ...] = ()
    """How often all keys together may ask it."""
    verbose: bool = False
    metrics: Metrics = field(default_factory=Metrics)
    guard: Guard | None = None
    to_template: Callable[[str, Turn], Decision] | None = None
    resolve_adapter: "Callable[[str], Adapter] | None" = None
    conversations: ConversationStore | None = None
    """What conversations remember; without it, every question stands alone."""
    models: AdapterModels | None = None
    """What models do in a turn; without it, none is asked."""
    proposals: ConfirmationService | None = None
    """Where calls wait for a yes; without it, what needs one is refused."""
    details: dict[str, Any] = field(default_factory=dict)
    sensitive_templates: frozenset[str] = field(init=False)
    """The templates with parameters that must not be shown."""

    def __post_init__(self) -> None:
        templates = self.library.templates.values()
        sensitive = frozenset(t.id for t in templates if t.policy.sensitive_params)
        object.__setattr__(self, "sensitive_templates", sensitive)

    async def close(self) -> None:
        await self.decider.close()
        await self.chain.aclose()
