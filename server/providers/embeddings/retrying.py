"""Calls to an encoder over HTTP: tried again when that may help, translated once."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from server.errors import ProviderTimedOut
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
    """A refused connection is not worth waiting for within one question."""
    return isinstance(failure, ProviderBusy | ProviderTimedOut)
