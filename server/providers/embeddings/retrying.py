"""Calls to a provider over HTTP: tried again when that may help, translated once."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import httpx
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from server.errors import (
    OrbitError,
    ProviderError,
    ProviderRejected,
    ProviderTimedOut,
    ProviderUnavailable,
)

_T = TypeVar("_T")

_FIRST_PAUSE_S: Final = 0.2
_LONGEST_PAUSE_S: Final = 3.0


class ProviderBusy(ProviderUnavailable):
    """It answered that it is overloaded or broken: 429 or 5xx."""


def refused(provider: str, status: int, *, model: str, missing_hint: str) -> ProviderError:
    """The failure for an HTTP status. Never what the body says: it may repeat a key."""
    if status in (401, 403):
        return ProviderRejected(f"{provider} refuses the credentials (status {status})")
    if status == 404:
        return ProviderRejected(f"{provider} has no model {model!r}; {missing_hint}")
    if status == 429 or status >= 500:
        return ProviderBusy(f"{provider} cannot answer now (status {status})")
    return ProviderRejected(f"{provider} refuses the request (status {status})")


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
        with trial:
            return await _translated(provider, attempt)
    raise AssertionError("the last attempt returns or raises")


def _may_pass(failure: BaseException) -> bool:
    """A refused connection is not worth waiting for within one question."""
    return isinstance(failure, ProviderBusy | ProviderTimedOut)


async def _translated(provider: str, attempt: Callable[[], Awaitable[_T]]) -> _T:
    try:
        return await attempt()
    except OrbitError:
        raise
    except (httpx.TimeoutException, TimeoutError):
        raise ProviderTimedOut(f"{provider} did not answer in time") from None
    except (httpx.TransportError, OSError):
        raise ProviderUnavailable(f"{provider} cannot be reached; is it running?") from None
    except (ValueError, KeyError, TypeError, httpx.HTTPError):
        raise ProviderRejected(f"{provider} returned something that is no embedding") from None
