"""An adapter that is open: everything one turn needs, in one place."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from server.access.rate_limits import RateLimits
from server.conversation.confirmations.service import ConfirmationService
from server.conversation.downloads import DownloadStore
from server.conversation.inbox import InboxStore
from server.conversation.store import ConversationStore
from server.core.decision import Decision
from server.core.sources import SourceName
from server.core.turn import Turn
from server.guards.guard import Guard
from server.intents.classifier import Detect
from server.library.model import Library
from server.llm.models import AdapterModels
from server.matching.matcher import Matcher
from server.metrics.metrics import Metrics
from server.providers.embeddings.watched import WatchedEmbedder
from server.retrievers.courtesy import CourtesyDecider, Following
from server.retrievers.implementations.intent.composite import IntentCompositeRetriever
from server.settings.adapters import CsvSettings
from server.telemetry.decision_log import DecisionLogWriter
from server.telemetry.usage import UsageStore
from server.tools.policy.chain import PolicyChain

Deciders = Following | CourtesyDecider
"""The chain of an adapter that has a library of its own."""


class Leases:
    """Counts the turns that use an adapter, so that it is closed when the last has ended."""

    def __init__(self) -> None:
        self._held = 0
        self._none_held = asyncio.Event()
        self._none_held.set()

    @contextmanager
    def hold(self) -> Iterator[None]:
        self._held += 1
        self._none_held.clear()
        try:
            yield
        finally:
            self._held -= 1
            if not self._held:
                self._none_held.set()

    async def none_held(self) -> None:
        await self._none_held.wait()


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Adapter:
    """What is None is left out of a turn; without `proposals`, what needs a yes is refused.

    A guard's routes are followed with `to_template`, which decides for a template by name,
    and `resolve_adapter`, which finds another adapter. `details` is what readiness reports;
    `encoder` tells whether questions can be embedded; `index_name` names what is kept of the
    library's vectors.
    """

    name: str
    library: Library
    decider: Deciders | IntentCompositeRetriever
    chain: PolicyChain
    tool_timeout_s: float
    detect: Detect | None = None
    rate_limits: tuple[str, ...] = ()
    """How often all keys together may ask it."""
    verbose: bool = False
    show_notes: bool = False
    """Whether answers themselves say what was left out, and not only their metadata."""
    metrics: Metrics = field(default_factory=Metrics)
    guard: Guard | None = None
    to_template: Callable[[str, Turn, Mapping[str, Any]], Decision] | None = None
    resolve_adapter: "Callable[[str], Adapter] | None" = None
    limits: RateLimits | None = None
    """What counts how often it is asked through another one; keys are counted before a turn."""
    composite: IntentCompositeRetriever | None = None
    """What decides between `sources`, of an adapter that has others behind it."""
    sources: tuple[SourceName, ...] = ()
    behind: "Mapping[str, Adapter]" = field(default_factory=dict)
    """The adapters of `sources` that serve, during one turn."""
    conversations: ConversationStore | None = None
    models: AdapterModels | None = None
    proposals: ConfirmationService | None = None
    inbox: InboxStore | None = None
    downloads: DownloadStore | None = None
    """Keeps the calls behind links; without it, answers have none."""
    usage: UsageStore | None = None
    decision_log: DecisionLogWriter | None = None
    fingerprint: str = ""
    """What decides in its library, as a digest; worked out where the log of decisions has it."""
    csv: CsvSettings = field(default_factory=CsvSettings)
    details: dict[str, Any] = field(default_factory=dict)
    encoder: WatchedEmbedder | None = None
    index_name: str = ""
    matcher: Matcher | None = None
    """What knows the vectors of its examples."""
    at_threshold: Callable[[float], AbstractAsyncContextManager[Deciders]] | None = None
    """Opens its deciders once more, with another threshold and over the same index."""
    questions_path: Path | None = None
    """Where its author writes down what people ask, and what should come of it."""
    leases: Leases = field(default_factory=Leases, init=False, compare=False)
    """Held by whoever uses it across an `await`, from the step in which it was looked up."""
    sensitive_templates: frozenset[str] = field(init=False)
    """The templates with parameters that must not be shown."""

    def __post_init__(self) -> None:
        templates = self.library.templates.values()
        sensitive = frozenset(t.id for t in templates if t.policy.sensitive_params)
        object.__setattr__(self, "sensitive_templates", sensitive)

    def describe_source(self, name: str) -> dict[str, str]:
        """How answers name one of the adapters behind it."""
        labels = {source.adapter: source.label for source in self.sources}
        return {"adapter": name, "label": labels.get(name, name)}

    async def learnt(self) -> None:
        """Wait for the head of a large library, where one is being learnt."""
        if self.matcher is not None:
            await self.matcher.learnt()

    async def close(self) -> None:
        await self.decider.close()
        await self.chain.aclose()
        if self.matcher is not None:
            await self.matcher.close()
