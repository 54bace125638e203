"""Requests to an encoder over HTTP, and the vectors that come back."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

import numpy as np
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from server.core.ports import Vectors
from server.errors import ProviderRejected, ProviderTimedOut
from server.providers.failures import ProviderBusy, translated

_T = TypeVar("_T")

_FIRST_PAUSE_S: Final = 0.2
_LONGEST_PAUSE_S: Final = 3.0


async def call(provider: str, attempt: Callable[[], Awaitable[_T]], *, max_retries: int) -> _T:
    """Run `attempt`, again after a pause when the failure may pass by itself.

    Raises:
        ProviderUnavailable, ProviderTimedOut, ProviderRejected: named after `provider`.
    """
    async for trial in AsyncRetrying(
        retry=retry_if_exception(_may_pass),
        stop=stop_after_attempt(max_retries + 1),
        wait=wait_random_exponential(multiplier=_FIRST_PAUSE_S, max=_LONGEST_PAUSE_S),
        reraise=True,
    ):
        with trial, translated(provider, expected="embedding"):
            return await attempt()
    raise AssertionError("the last attempt returns or raises")


def _may_pass(failure: BaseException) -> bool:
    """Return whether it is worth trying again; a refused connection is not."""
    return isinstance(failure, ProviderBusy | ProviderTimedOut)


_SMALLEST_NORM: Final = 1e-12


def unit_rows(raw: Sequence[Any] | np.ndarray[Any, Any], count: int, provider: str) -> Vectors:
    """Return `raw` as (count, d) float32 rows of unit length.

    Raises:
        ProviderRejected: not `count` rows of one length, not numbers, not finite, or a
            row of zeros; the message names `provider`.
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
