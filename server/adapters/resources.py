"""What adapters of one server share: encoders, models, the vector store, limits, the audit."""

import asyncio
from collections.abc import Callable, Mapping
from threading import Lock

from server.access.rate_limits import RateLimits
from server.audit.writer import AuditWriter, open_sink
from server.chat.adapter import Adapter
from server.conversation.service import ConversationService
from server.core.ports import ChatModel, Embedder
from server.guards.manager import GuardManager
from server.matching.index.store import TemplateStore
from server.metrics.metrics import Metrics
from server.metrics.providers import MeteredEmbedder
from server.providers.embeddings.factory import build_embedder
from server.settings.models import Settings
from server.storage.files import make_private
from server.tools.policy.chain import Guardrails


class SharedResources:
    """What adapters share: an encoder for each provider and model, and one vector store."""

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        metrics: Metrics | None = None,
        *,
        remembers: bool = True,
    ) -> None:
        """`remembers` says whether conversations are kept, or each question stands alone."""
        self.settings = settings
        self.environ = environ
        self.remembers = remembers
        make_private(settings.data_dir)
        self.metrics = metrics or Metrics()
        self.store = TemplateStore(settings.vector_store, settings.data_dir)
        self.guards = GuardManager(
            settings.database_url, settings.data_dir / "guards", self.metrics
        )
        self.resolve_adapter: Callable[[str], Adapter] | None = None
        self._embedders: dict[tuple[str, str | None], Embedder] = {}
        self._chat_models: dict[tuple[str, str | None], ChatModel] = {}
        self._guardrails: Guardrails | None = None
        self._conversing: ConversationService | None = None
        self._making = Lock()

    def guardrails(self) -> Guardrails:
        """Rate limits, audit and roles, made on first use. Blocks.

        Raises:
            StoreUnavailable: what counts or what is written to cannot be used.
            ConfigurationInvalid: the secret of the installation cannot be used.
        """
        with self._making:
            if self._guardrails is None:
                access = self.settings.access
                opened = open_sink(self.settings)
                trail = AuditWriter(opened[0]) if opened is not None else None
                storage = access.rate_limits.storage
                limits = RateLimits(
                    storage.get_secret_value() if storage else None, access.rate_limits.window
                )
                self._guardrails = Guardrails(limits, trail, access)
            return self._guardrails

    def conversing(self) -> ConversationService:
        """The memory of conversations and what waits in them, opened on first use. Blocks.

        Raises:
            StoreUnavailable: the database cannot be used.
            ConfigurationInvalid: the secret of the installation cannot be used.
        """
        with self._making:
            if self._conversing is None:
                self._conversing = ConversationService.open(self.settings, self.metrics)
            return self._conversing

    def embedder(self, provider: str, model: str | None) -> Embedder:
        """The encoder of that name, made on first use.

        Raises:
            ProviderUnavailable, PluginInvalid: there is no such provider, or it lacks
                something that has to be installed.
        """
        key = (provider, model)
        if key not in self._embedders:
            self._embedders[key] = build_embedder(
                provider,
                model,
                self.settings.embeddings,
                metered=lambda made: MeteredEmbedder(made, self.metrics),
            )
        return self._embedders[key]

    def chat_model(self, provider: str | None, model: str | None) -> ChatModel:
        """The model of that name, made on first use; nothing of it is loaded or reached.

        What is left out is as the settings, the environment and the provider have it.

        Raises:
            ProviderUnavailable, PluginInvalid: there is no such provider, or it lacks
                something that has to be installed.
        """
        # A server without models needs neither these nor what they import.
        from server.metrics.providers import MeteredChatModel
        from server.providers.chat.factory import build_chat_model, resolve_model

        settings = self.settings.models
        key = resolve_model(provider, model, settings, self.environ)
        if key not in self._chat_models:
            self._chat_models[key] = build_chat_model(
                *key,
                settings,
                self.environ,
                folder=self.settings.models_dir,
                metered=lambda made: MeteredChatModel(made, self.metrics),
            )
        return self._chat_models[key]

    async def finish(self, *, deliver: bool = False) -> None:
        """Wait for what was confirmed and is being carried out; before adapters are closed.

        With `deliver`, its commit events are sent once; whoever is not reached then is by a
        server that runs later.
        """
        if self._conversing is None:
            return
        await self._conversing.proposals.finish()
        if deliver:
            await self._conversing.deliver_once()
        await self._conversing.close()

    async def close(self) -> None:
        await self.guards.close()
        await asyncio.gather(*(model.close() for model in self._chat_models.values()))
        await asyncio.gather(*(embedder.close() for embedder in self._embedders.values()))
        await self.store.close()
        if self._guardrails is not None:
            await self._guardrails.close()
