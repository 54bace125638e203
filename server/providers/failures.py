"""Failures of providers over HTTP as errors of the server."""

from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from time import time

import httpx

from server.errors import (
    OrbitError,
    ProviderError,
    ProviderRejected,
    ProviderTimedOut,
    ProviderUnavailable,
)


class ProviderBusy(ProviderUnavailable):
    """429 or 5xx: overloaded or broken. `retry_after_s` is when it wants to be asked again."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ProviderUnreachable(ProviderUnavailable):
    """No connection, or one that broke off."""


def refused(
    provider: str,
    status: int,
    *,
    model: str,
    missing_hint: str,
    key_hint: str = "",
    retry_after: str | None = None,
) -> ProviderError:
    """Return the failure for an HTTP status, without the body, which may repeat a key."""
    if status in (401, 403):
        hint = f"; {key_hint}" if key_hint else ""
        return ProviderRejected(f"{provider} refuses the credentials (status {status}){hint}")
    if status == 404:
        return ProviderRejected(f"{provider} has no model {model!r}; {missing_hint}")
    if status == 429 or status >= 500:
        return ProviderBusy(
            f"{provider} cannot answer now (status {status})", retry_after_s=seconds_of(retry_after)
        )
    return ProviderRejected(f"{provider} refuses the request (status {status})")


def seconds_of(retry_after: str | None) -> float | None:
    """Return the seconds that a `Retry-After` header asks for, or None."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after[:9])
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time())
    except (ValueError, OverflowError):
        return None


@contextmanager
def translated(provider: str, *, expected: str) -> Iterator[None]:
    """Turn what a client raises inside into a `ProviderError` that names `provider`."""
    try:
        yield
    except OrbitError:
        raise
    except (httpx.TimeoutException, TimeoutError):
        raise ProviderTimedOut(f"{provider} did not answer in time") from None
    except (httpx.TransportError, OSError):
        raise ProviderUnreachable(f"{provider} cannot be reached; is it running?") from None
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, httpx.HTTPError):
        raise ProviderRejected(
            f"{provider} returned something that is not a valid {expected}"
        ) from None
