"""Encoders over HTTP, and the vectors that come back."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import numpy as np
from pydantic import Field
from tenacity import (
    AsyncRetrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from server.core.ports import Vectors
from server.errors import ProviderRejected, ProviderTimedOut
from server.providers.failures import ProviderBusy, translated
from server.settings.fields import Seconds, Strict

_T = TypeVar("_T")

_FIRST_PAUSE_S: Final = 0.2
_LONGEST_PAUSE_S: Final = 3.0


class RemoteEmbeddingOptions(Strict):
    """What every encoder over HTTP has."""

    base_url: str
    timeout_s: Seconds = 30.0
    """Seconds that one request may take."""
    max_retries: int = Field(default=2, ge=0, le=10)
    """How often a failed request is tried again."""
    batch_size: int = Field(default=32, ge=1, le=2048)
    """Texts in one request."""


class RemoteEmbedder(ABC):
    """Asks `base_url` for vectors, `batch_size` texts at a time.

    A request is tried again after a pause when its failure may pass by itself; a refused
    connection is not.
    """

    def __init__(self, provider: str, model: str, options: RemoteEmbeddingOptions) -> None:
        self.name = f"{provider}:{model}"
        self._model = model
        self._host = urlsplit(options.base_url).netloc.rpartition("@")[2]
        self._described = f"embedding provider {provider!r} at {self._host}"
        self._max_retries = options.max_retries
        self._batch_size = options.batch_size

    async def warm(self) -> None:
        await self.embed(["warm"])

    async def embed(self, texts: Sequence[str]) -> Vectors:
        parts = []
        for start in range(0, len(texts), self._batch_size):
            batch = list(texts[start : start + self._batch_size])
            rows = await self._call(partial(self._post, batch))
            parts.append(unit_rows(rows, len(batch), self._described))
        return np.vstack(parts) if parts else np.empty((0, 0), dtype=np.float32)

    @abstractmethod
    async def _post(self, texts: list[str]) -> Sequence[Any]:
        """Return a vector for each text."""

    async def _attempt(self, request: Callable[[], Awaitable[_T]]) -> _T:
        return await request()

    async def _call(self, request: Callable[[], Awaitable[_T]]) -> _T:
        async for trial in AsyncRetrying(
            retry=retry_if_exception_type((ProviderBusy, ProviderTimedOut)),
            stop=stop_after_attempt(self._max_retries + 1),
            wait=wait_random_exponential(multiplier=_FIRST_PAUSE_S, max=_LONGEST_PAUSE_S),
            reraise=True,
        ):
            with trial, translated(self._described, expected="embedding"):
                return await self._attempt(request)
        raise AssertionError("the last attempt returns or raises")


_SMALLEST_NORM: Final = 1e-12


def unit_rows(raw: Sequence[Any] | np.ndarray[Any, Any], count: int, provider: str) -> Vectors:
    """Return `raw` as (count, d) float32 rows of unit length.

    Raises `ProviderRejected`: not `count` rows of one length, not numbers, not finite, or a row of
    zeros; the message names `provider`.
    """
    try:
        rows = np.asarray(raw, dtype=np.float32)
    except (ValueError, TypeError):
        raise ProviderRejected(f"{provider} returned vectors that are not numbers") from None
    if rows.ndim != 2 or rows.shape[0] != count or rows.shape[1] == 0:
        shape = " x ".join(map(str, rows.shape)) or "a single number"
        raise ProviderRejected(f"{provider} returned {shape} for {count} texts")
    if not np.isfinite(rows).all():
        raise ProviderRejected(f"{provider} returned numbers that are not finite")
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if (norms < _SMALLEST_NORM).any():
        raise ProviderRejected(f"{provider} returned a vector of zeros")
    return np.ascontiguousarray(rows / norms, dtype=np.float32)
