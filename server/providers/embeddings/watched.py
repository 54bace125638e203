"""An embedder of which it is known whether it answers."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Final

from server.core.ports import Embedder, Vectors
from server.errors import ProviderError
from server.providers.wrappers import EmbedderWrapper

_FRESH_S: Final = 5.0
"""How long an answer says that the next question is answered too; a failure says nothing."""
_PATIENCE_S: Final = 2.0


class WatchedEmbedder(EmbedderWrapper):
    """Another embedder; `failure` is why it did not answer last, and empty when it did."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.failure = ""
        self._heard_at = monotonic()
        self._checking = asyncio.Lock()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        try:
            vectors = await self._embedder.embed(texts)
        except ProviderError as failed:
            self._hear(str(failed))
            raise
        self._hear("")
        return vectors

    async def check(self) -> None:
        """Ask it for something, unless it has answered a moment ago.

        One that takes its time is neither down nor up.
        """
        async with self._checking:
            if self.failure or monotonic() - self._heard_at >= _FRESH_S:
                with suppress(ProviderError, TimeoutError):
                    async with asyncio.timeout(_PATIENCE_S):
                        await self.embed(["ready"])

    def _hear(self, failure: str) -> None:
        self.failure, self._heard_at = failure, monotonic()
