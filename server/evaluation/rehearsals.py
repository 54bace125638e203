"""An adapter that decides as ever and does nothing, with one library or another."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from server.adapters.build import build_adapter
from server.adapters.local import ask_once
from server.adapters.resources import SharedResources
from server.core.decision import Ending
from server.core.ports import Embedder, Vectors
from server.evaluation.outcomes import Rehearsal
from server.library.model import Library
from server.settings.models import AdapterSettings, Settings

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
    async def opened(self, change: Change, *, lane: int = 0) -> AsyncIterator[Ask]:
        """Open the adapter, to be asked. Nothing is run, and no model is asked.

        What is open at the same time stands in `lane`s of its own, each with an index of its own.
        Raises as `build_adapter`.
        """
        own = self.adapter.model_copy(update={"name": f"{self.adapter.name}.{lane}"})
        adapter = await build_adapter(own, self.resources, changed=change)
        chain = adapter.chain.rehearsed(partial(Rehearsal, reads=False))
        rehearsed = replace(adapter, chain=chain, models=None)

        async def ask(text: str) -> Ending:
            answer = await ask_once(self.settings, rehearsed, text, session_id="rehearsal")
            return answer.decision

        try:
            yield ask
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


@asynccontextmanager
async def open_rehearsals(
    settings: Settings, environ: Mapping[str, str], adapter: AdapterSettings
) -> AsyncIterator[Rehearsals]:
    """Open what adapters share; `settings` say where the index is kept."""
    resources = await SharedResources.open(settings, environ, remembers=False)
    try:
        yield Rehearsals(settings, adapter, resources)
    finally:
        await resources.finish()
        await resources.close()
