"""An adapter that decides as ever and does nothing, with one library or another."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from server.adapters.build import build_adapter
from server.adapters.local import ask_once
from server.adapters.resources import SharedResources
from server.chat.adapter import Adapter
from server.core.decision import Ending
from server.core.ports import Embedder, Vectors
from server.evaluation.outcomes import Rehearsal
from server.library.model import Library
from server.metrics.metrics import Metrics
from server.settings.models import AdapterSettings, AuditSettings, Settings

Ask = Callable[[str], Awaitable[Ending]]
"""What a question comes to."""
Change = Callable[[Library], Library]


@dataclass(frozen=True, slots=True)
class Rehearsals:
    """What opens one adapter with what is made of its library; its settings stay as they are."""

    settings: Settings
    adapter: AdapterSettings
    resources: SharedResources

    @asynccontextmanager
    async def opened(
        self, change: Change, *, lane: int = 0, guarded: bool = True
    ) -> AsyncIterator[Ask]:
        """Open the adapter, to be asked. Nothing is run, and no model is asked.

        What is open at the same time stands in `lane`s of its own, each with an index of its own.
        Unless it is `guarded`, questions come to it that a guard would stop. Raises as
        `build_adapter`.
        """
        own = self.adapter.model_copy(update={"name": f"{self.adapter.name}.{lane}"})
        adapter = await build_adapter(
            own, self.resources, changed=lambda library: change(library.templates_alone)
        )
        try:
            yield asking(silent(adapter, guarded=guarded), self.settings)
        finally:
            await adapter.close()

    @property
    def encoder(self) -> Embedder:
        """The adapter's encoder; its fingerprint is final once the adapter was opened."""
        adapter = self.adapter
        return self.resources.embedder(adapter.embedding_provider, adapter.embedding_model)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return vectors by the adapter's encoder, (n, d); raise `ProviderError`."""
        return await self.encoder.embed(texts)


def confined(settings: Settings, folder: Path) -> Settings:
    """The same settings, with all that is kept in a folder, and nothing where others keep theirs.

    So a server can rehearse beside its own work.
    """
    update = {"database_url": None, "audit": AuditSettings(sink="off")}
    limits = settings.access.rate_limits.model_copy(update={"storage": None})
    access = settings.access.model_copy(update={**update, "rate_limits": limits})
    store = settings.vector_store.model_copy(update={"mode": "embedded"})
    return settings.model_copy(update={"data_dir": folder, "access": access, "vector_store": store})


def silent(
    adapter: Adapter,
    *,
    guarded: bool = True,
    reads: bool = False,
    only: Collection[str] | None = None,
) -> Adapter:
    """An open adapter as it decides, to be asked beside its own work: it keeps and counts nothing.

    Nothing is run; with `reads`, calls are that read, and where it says `only`, of those templates.
    Unless it is `guarded`, questions come to it that a guard would stop.
    """
    return replace(
        adapter,
        chain=adapter.chain.rehearsed(partial(Rehearsal, reads=reads, only=only)),
        guard=adapter.guard.rehearsed() if guarded and adapter.guard is not None else None,
        metrics=Metrics(),
        verbose=False,
        limits=None,
        models=None,
        conversations=None,
        proposals=None,
        inbox=None,
        downloads=None,
        usage=None,
        decision_log=None,
    )


def asking(adapter: Adapter, settings: Settings) -> Ask:
    """Return what asks an open adapter, each question by itself."""

    async def ask(text: str) -> Ending:
        answer = await ask_once(settings, adapter, text, session_id="rehearsal")
        return answer.decision

    return ask


@asynccontextmanager
async def open_rehearsals(
    settings: Settings,
    environ: Mapping[str, str],
    adapter: AdapterSettings,
    lender: SharedResources | None = None,
) -> AsyncIterator[Rehearsals]:
    """Open what adapters share; `settings` say where the index is kept.

    A `lender` lends its encoders, so that none is opened twice in one process.
    """
    resources = await SharedResources.open(settings, environ, remembers=False, lender=lender)
    try:
        yield Rehearsals(settings, adapter, resources)
    finally:
        await resources.finish()
        await resources.close()
