"""Provider `local`: an encoder in this process, in a thread of its own."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
from pydantic import Field

from server.core.ports import Vectors
from server.errors import ProviderError, ProviderRejected
from server.providers.embeddings.local_models import DEFAULT_MODEL, LoadedModel, load, load_ahead
from server.providers.embeddings.requests import unit_rows
from server.providers.spec import ProviderSpec
from server.settings.adapters import AdapterSettings
from server.settings.fields import Strict
from server.settings.models import EmbeddingsSettings

MAX_BATCH: Final = 64
"""Texts in one computation: enough to share the work, few enough to answer soon."""

_QUIET_STEPS: Final = 6
"""Steps of the loop without a new text after which no other is on its way: from the first byte of
a request to its text it takes fewer."""

Encode = Callable[[list[str]], Vectors]


class Batcher:
    """Runs `encode` in one thread; requests that wait are answered by one computation.

    A batch costs little more than one text would, so one starts when the loop has gone through
    all that was ready: at once for a lone request.
    """

    def __init__(self, encode: Encode, *, max_batch: int = MAX_BATCH) -> None:
        self._encode = encode
        self._max_batch = max_batch
        self._waiting: deque[tuple[str, asyncio.Future[Vectors]]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedding")
        self._drainer: asyncio.Task[None] | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), d) rows, in the order of `texts`, which is not empty."""
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in texts]
        self._waiting.extend(zip(texts, futures, strict=True))
        if self._drainer is None or self._drainer.done():
            self._drainer = asyncio.create_task(self._drain())
        return np.vstack(await asyncio.gather(*futures))

    async def run(self, work: Callable[[], None]) -> None:
        """Run something else in the model's own thread, such as loading it."""
        await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _collect(self) -> None:
        """Wait for the texts of all requests that the loop can go on with now."""
        quiet = 0
        while quiet < _QUIET_STEPS and len(self._waiting) < self._max_batch:
            waiting = len(self._waiting)
            await asyncio.sleep(0)
            quiet = quiet + 1 if len(self._waiting) == waiting else 0

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            await self._collect()
            size = min(self._max_batch, len(self._waiting))
            batch = [self._waiting.popleft() for _ in range(size)]
            live = [(text, future) for text, future in batch if not future.done()]
            if not live:
                continue
            try:
                rows = await loop.run_in_executor(
                    self._thread, self._encode, [text for text, _ in live]
                )
            except Exception as failed:  # whatever it is belongs to those who wait
                for _, future in live:
                    if not future.done():
                        future.set_exception(failed)
                continue
            for row, (_, future) in zip(rows, live, strict=True):
                if not future.done():
                    future.set_result(row)


class LocalEmbeddingOptions(Strict):
    """Embeddings in the server's own process."""

    threads: int | None = Field(default=None, ge=1, le=256)
    """Threads for one computation; without a number, the encoder chooses."""


class LocalEmbedder:
    """Loaded on first use, or by `warm`. Nothing is ever downloaded."""

    def __init__(
        self, model: str = DEFAULT_MODEL, options: LocalEmbeddingOptions | None = None
    ) -> None:
        self.name = f"local:{model}"
        self._model = model
        self._threads = options.threads if options else None
        self._loaded: LoadedModel | None = None
        self._batcher = Batcher(self._encode)

    @property
    def fingerprint(self) -> str:
        revision = self._loaded.revision if self._loaded else "not loaded"
        return f"{self.name}:{revision}"

    async def warm(self) -> None:
        await self._batcher.run(self._load)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        return await self._batcher.embed(texts)

    async def close(self) -> None:
        self._batcher.close()

    def _load(self) -> None:
        if self._loaded is None:
            self._loaded = load(self._model, self._threads)

    def _encode(self, texts: list[str]) -> Vectors:
        self._load()
        assert self._loaded is not None  # noqa: S101  _load sets it or raises
        try:
            raw = self._loaded.encode(texts)
        except ProviderError:
            raise
        except Exception as failed:  # an encoder's own code may raise anything
            raise ProviderRejected(f"{self.name} could not embed: {failed}") from failed
        return unit_rows(raw, len(texts), self.name)


PROVIDER: Final = ProviderSpec(
    client=LocalEmbedder, options=LocalEmbeddingOptions, default_model=DEFAULT_MODEL
)


def load_encoders_ahead(
    settings: EmbeddingsSettings,
    adapters: Iterable[AdapterSettings],
    *,
    load: Callable[[str | None, int | None], None] = load_ahead,
) -> None:
    """Begin to load the encoders of adapters, while the rest of a process is being imported.

    With `load_now` for `load`, they are loaded on return, for processes that share them.
    """
    threads = PROVIDER.options_in(settings.section("local"), {}).threads
    for adapter in adapters:
        if adapter.enabled and adapter.embedding_provider == "local":
            load(adapter.embedding_model, threads)
