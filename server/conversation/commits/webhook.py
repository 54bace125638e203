"""Sending an event to a service that is told of commits."""

import hmac
from collections.abc import Callable
from time import time
from typing import TYPE_CHECKING, Final

from server import __version__

if TYPE_CHECKING:
    import httpx

ID: Final = "Idempotency-Key"
SIGNATURE: Final = "X-Orbit-Signature"


class Undelivered(Exception):
    """The receiver did not take an event; the message says why, and holds no secret."""


def sign(secret: bytes, stamp: int, body: bytes) -> str:
    """`t=STAMP,v1=HEX`: HMAC-SHA-256 over the stamp, a point, and the body."""
    signed = hmac.new(secret, f"{stamp}.".encode() + body, "sha256").hexdigest()
    return f"t={stamp},v1={signed}"


class Webhook:
    """One receiver. A status of 200 to 299 is its word that it has the event."""

    def __init__(
        self,
        url: str,
        secret: bytes,
        timeout_s: float,
        *,
        clock_s: Callable[[], float] = time,
    ) -> None:
        self._url = url
        self._secret = secret
        self._timeout_s = timeout_s
        self._clock_s = clock_s
        self._client: httpx.AsyncClient | None = None

    async def send(self, event_id: str, body: str) -> None:
        """Deliver one event.

        Raises:
            Undelivered: it was not taken, or nobody knows whether it was.
        """
        import httpx  # here, so that a server without a webhook does not load it

        if self._client is None:
            self._client = httpx.AsyncClient(timeout=self._timeout_s, trust_env=False)
        content = body.encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"orbit/{__version__}",
            ID: event_id,
            SIGNATURE: sign(self._secret, int(self._clock_s()), content),
        }
        try:
            answer = await self._client.post(self._url, content=content, headers=headers)
        except httpx.TimeoutException:
            raise Undelivered(f"no answer within {self._timeout_s:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as failed:
            raise Undelivered(f"it cannot be reached ({type(failed).__name__})") from None
        if not answer.is_success:
            raise Undelivered(f"it answered {answer.status_code}")

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
