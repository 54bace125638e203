"""Asking in the name of somebody, as a gateway that the server trusts."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from threading import Lock
from time import time
from typing import Final

import httpx

from server.core.gateway import HEADERS, sign_caller

_OLDEST_S: Final = 30
"""How far a signature may be dated back: half of what a server takes by default."""
_MOST_KEPT: Final = 1_000


class SignatureLog:
    """Sees to it that no two requests are signed alike: a server refuses what it was sent before.

    The same question of the same user in the same second is dated a second back.
    """

    def __init__(self, clock_s: Callable[[], float] = time) -> None:
        self._clock_s = clock_s
        self._used: dict[str, int] = {}
        self._lock = Lock()

    def sign(self, sign: Callable[[str], str]) -> tuple[str, str]:
        """Return a time, and what `sign` makes of it."""
        now = int(self._clock_s())
        with self._lock:
            if len(self._used) > _MOST_KEPT:
                since = now - 2 * _OLDEST_S
                self._used = {each: at for each, at in self._used.items() if at > since}
            stamp, signature = now, sign(str(now))
            while signature in self._used and stamp > now - _OLDEST_S:
                stamp -= 1
                signature = sign(str(stamp))
            self._used[signature] = now
        return str(stamp), signature


@dataclass(frozen=True, slots=True)
class GatewaySignature(httpx.Auth):
    """Signs each request for one user. `secret` is `access.gateway.secret` of the server."""

    user_id: str
    role: str
    secret: str = field(repr=False)
    log: SignatureLog = field(repr=False)

    requires_request_body = True

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        who, path = (self.user_id, self.role), request.url.path

        def sign(stamp: str) -> str:
            secret = self.secret.encode()
            return sign_caller(secret, request.method, path, *who, stamp, request.content)

        values = (*who, *self.log.sign(sign))
        request.headers.update(dict(zip(HEADERS, values, strict=True)))
        yield request
