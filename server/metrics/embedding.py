"""An embedder that is counted and timed."""

from collections.abc import Sequence
from time import perf_counter

from server.core.ports import Embedder, Vectors
from server.errors import ProviderError, ProviderTimedOut
from server.metrics.metrics import Metrics


class MeteredEmbedder:
    """Another embedder, each call of which is counted under its name."""

    def __init__(self, embedder: Embedder, metrics: Metrics) -> None:
        self._embedder = embedder
        self._metrics = metrics

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    async def warm(self) -> None:
        await self._embedder.warm()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        since = perf_counter()
        outcome = "abandoned"
        try:
            rows = await self._embedder.embed(texts)
            outcome = "success"
        except ProviderTimedOut:
            outcome = "timeout"
            raise
        except ProviderError:
            outcome = "error"
            raise
        finally:
            self._metrics.provider_call(self.name, outcome, since)
        return rows

    async def close(self) -> None:
        await self._embedder.close()
