"""What adapters of one server share: encoders, models, the vector store, limits, the audit."""

import asyncio
import logging
from collections.abc import Collection, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

from server.access.rate_limits import RateLimits
from server.adapters.registry import Adapters
from server.audit.reader import AuditReader
from server.audit.writer import AuditWriter, open_sink
from server.conversation.service import ConversationService, longest_call_s
from server.core.ports import ChatModel, Embedder
from server.errors import IndexUnavailable, OrbitError
from server.guards.manager import GuardManager
from server.matching.coordination import Coordination
from server.matching.index.store import TemplateStore
from server.matching.large.index import drop_unused_files
from server.metrics.metrics import Metrics
from server.providers.chat.factory import build_chat_model, resolve_model
from server.providers.embeddings.factory import build_embedder
from server.providers.embeddings.watched import WatchedEmbedder
from server.providers.metered import MeteredChatModel, MeteredEmbedder
from server.responses.readers import ResponseReaders
from server.settings.models import Settings
from server.storage.announcements import Announcements, Announcer
from server.storage.artefacts import ArtefactStore
from server.storage.files import make_private
from server.storage.process_locks import ProcessLocks
from server.telemetry.decision_log import DecisionLogWriter
from server.telemetry.usage import UsageStore
from server.tools.policy.chain import Guardrails
from server.workers.parent import Parent

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class SharedResources:
    """What adapters share. Encoders and models are made on first use, one for each name.

    With a `lender`, encoders are those of others, who close them. `usage` and `decision_log` are
    there where turns are watched.
    """

    settings: Settings
    environ: Mapping[str, str]
    metrics: Metrics
    guardrails: Guardrails
    conversation: ConversationService
    adapters: Adapters | None = None
    remembers: bool = True
    lender: "SharedResources | None" = None
    announcer: Announcer = field(default_factory=Announcer.of_process)
    audit: AuditReader | None = None
    usage: UsageStore | None = None
    decision_log: DecisionLogWriter | None = None
    readers: ResponseReaders = field(default_factory=ResponseReaders)
    store: TemplateStore = field(init=False)
    guards: GuardManager = field(init=False)
    announcements: Announcements = field(init=False)
    coordination: Coordination = field(init=False)
    _embedders: dict[tuple[str, str | None], Embedder] = field(default_factory=dict)
    _watched: dict[tuple[str, str | None], WatchedEmbedder] = field(default_factory=dict)
    _chat_models: dict[tuple[str, str | None], ChatModel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settings, database = self.settings, self.conversation.database
        served = None if database.is_sqlite else database
        locks = ProcessLocks(settings.data_dir / "locks", self.announcer.instance, served)
        artefacts = None
        if served is not None:
            artefacts = ArtefactStore(served, self.conversation.secret.value)
        self.coordination = Coordination(locks, artefacts)
        own = ProcessLocks(settings.data_dir / "locks", self.announcer.instance)
        self.store = TemplateStore(
            settings.vector_store,
            settings.data_dir,
            own if settings.worker_count > 1 else None,
        )
        self.announcements = Announcements(database, self.announcer)
        self.guards = GuardManager(
            settings.database_url,
            settings.data_dir / "guards",
            self.metrics,
            migrate=settings.may_migrate,
            announcer=self.announcer,
            shared=artefacts,
        )
        self.announcements.hear("guards", self.guards.take_up)

    @classmethod
    async def open(
        cls,
        settings: Settings,
        environ: Mapping[str, str],
        metrics: Metrics | None = None,
        *,
        adapters: Adapters | None = None,
        remembers: bool = True,
        watched: bool = False,
        lender: "SharedResources | None" = None,
        announcer: Announcer | None = None,
        parent: Parent | None = None,
    ) -> Self:
        """Open what everything else needs.

        Guards may lead to the other `adapters`; `remembers` says if conversations are kept, and
        `watched` if turns are counted and written down as `telemetry` says; a `lender` lends its
        encoders. Changes are told to other processes by the `announcer`. Calls are counted by
        `parent`, for a worker that has one.
        May raise StoreUnavailable or ConfigurationInvalid.
        """
        metrics = metrics or Metrics()
        make_private(settings.data_dir)
        guardrails, audit = await asyncio.to_thread(_open_guardrails, settings, metrics, parent)
        try:
            conversation = await asyncio.to_thread(
                ConversationService.open, settings, metrics, parent
            )
        except OrbitError:
            await guardrails.close()
            raise
        parts = settings, environ, metrics, guardrails, conversation
        own = announcer or Announcer.of_process()
        opened = cls(*parts, adapters, remembers, lender, own, audit)
        if watched:
            try:
                await opened.watch()
            except OrbitError:
                await opened.close()
                raise
        return opened

    async def watch(self) -> None:
        """Count turns and write them down from now on, as the settings say.

        May raise ConfigurationInvalid.
        """
        telemetry, metrics = self.settings.telemetry, self.metrics
        open_log = partial(DecisionLogWriter.open, telemetry.decision_log, metrics)
        self.decision_log = await asyncio.to_thread(open_log)
        if telemetry.usage.enabled:
            database, days = self.conversation.database, telemetry.usage.keep_days
            self.usage = UsageStore(database, keep_days=days, metrics=metrics)

    def embedder(self, provider: str, model: str | None) -> Embedder:
        """Return the encoder of that name. May raise PluginInvalid or ProviderUnavailable."""
        if self.lender is not None:
            return self.lender.embedder(provider, model)
        key = (provider, model)
        if key not in self._embedders:

            def metered(client: Embedder) -> Embedder:
                self._watched[key] = WatchedEmbedder(client)
                return MeteredEmbedder(self._watched[key], self.metrics)

            self._embedders[key] = build_embedder(*key, self.settings.embeddings, metered=metered)
        return self._embedders[key]

    def watched(self, provider: str, model: str | None) -> WatchedEmbedder | None:
        """Return what is known of the encoder of that name; None before it is asked for."""
        return self._watched.get((provider, model))

    def chat_model(self, provider: str | None, model: str | None) -> ChatModel:
        """Return the model of that name, else the configured one. Raises as `embedder`."""
        settings = self.settings.models
        key = resolve_model(provider, model, settings, self.environ)
        if key not in self._chat_models:
            self._chat_models[key] = build_chat_model(
                *key,
                settings,
                self.environ,
                folder=self.settings.models_dir,
                metered=lambda model: MeteredChatModel(model, self.metrics),
            )
        return self._chat_models[key]

    def background_work(self) -> list[Coroutine[Any, Any, None]]:
        """What a server does beside answering, until it is cancelled."""
        work = [self.conversation.serve(), self.announcements.serve()]
        if self.coordination.artefacts is not None:
            work.append(self.coordination.artefacts.serve())
        if self.guardrails.trail is not None:
            work.append(self.guardrails.trail.serve(longest_call_s(self.settings)))
        if self.usage is not None:
            work.append(self.usage.serve())
        return work

    @property
    def heads_dir(self) -> Path:
        return self.settings.data_dir / "heads"

    async def drop_unused_indexes(self, adapter: str, used: Collection[str]) -> None:
        """Drop the vectors of an adapter's earlier domains and encoders, and what they taught."""
        try:
            for name in await self.store.drop_unused(adapter, used):
                for path in self.heads_dir.glob(f"{name}.*"):
                    path.unlink(missing_ok=True)
            await asyncio.to_thread(drop_unused_files, self.heads_dir, adapter, used)
        except (IndexUnavailable, OSError) as failed:
            _log.warning("adapter %s: its earlier vectors cannot be deleted: %s", adapter, failed)

    async def finish(self, *, deliver: bool = False) -> None:
        """Wait for confirmed calls that are running, before adapters are closed.

        With `deliver`, commit events are sent once; a later server reaches whom that misses.
        """
        await self.conversation.proposals.drain()
        if deliver:
            await self.conversation.deliver_once()

    async def close(self) -> None:
        if self.decision_log is not None:
            await self.decision_log.close()
        if self.usage is not None:
            await self.usage.close()  # its database is that of conversations
        await self.conversation.close()
        await self.guards.close()
        await asyncio.gather(*(model.close() for model in self._chat_models.values()))
        await asyncio.gather(*(embedder.close() for embedder in self._embedders.values()))
        await self.store.close()
        await self.readers.close()
        if self.audit is not None:
            self.audit.close()
        await self.guardrails.close()


def _open_guardrails(
    settings: Settings, metrics: Metrics, parent: Parent | None
) -> tuple[Guardrails, AuditReader | None]:
    access, opened = settings.access, open_sink(settings)
    storage, window = access.rate_limits.storage, access.rate_limits.window
    limits = RateLimits(storage.get_secret_value() if storage else None, window, parent=parent)
    if opened is None:
        return Guardrails(limits, None, access), None
    writer = AuditWriter(
        opened[0],
        metrics,
        timeout_s=settings.store_timeout_s,
        one_process=settings.worker_count == 1,
    )
    return Guardrails(limits, writer, access), AuditReader(*opened)
