"""One-time links into the console, which only who can read the secret of the installation makes."""

import hmac
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import Final

from server.core.claims import MemoryClaims
from server.core.installation import command
from server.core.ports import Claims
from server.errors import LinkInvalid

LASTS_S: Final = 600
_LONGEST: Final = 256
_KIND: Final = "sign-in link"
_REMEMBERED_S: Final = 24 * 3600
"""Far longer than a link is good for, for a clock that is set back meanwhile."""


def _invalid() -> LinkInvalid:
    return LinkInvalid(
        "this link is wrong, was used before, or is older than ten minutes: "
        f"'{command('console')}' prints a new one"
    )


class LinkIssuer:
    """Makes links and knows its own again. One is good for one start of a server."""

    def __init__(self, secret: bytes, *, now: Callable[[], float] = time.time) -> None:
        self._secret = hmac.digest(secret, b"console", "sha256")
        self._now = now

    def issue(self, instance: str) -> str:
        """Return the token of a link for the server that answers `/health` with `instance`."""
        claims = f"{int(self._now()) + LASTS_S:x}.{token_hex(16)}"
        return f"{claims}.{self._sign(instance, claims)}"

    def check(self, token: str, instance: str) -> None:
        """Raise `LinkInvalid` where a token was not made here for this server, or is too old."""
        claims, _, signature = token.rpartition(".")
        presented = signature.encode("utf-8", "surrogatepass")
        expected = self._sign(instance, claims).encode()
        if len(token) > _LONGEST or not hmac.compare_digest(presented, expected):
            raise _invalid()
        if int(claims.partition(".")[0], 16) <= self._now():
            raise _invalid()

    def _sign(self, instance: str, claims: str) -> str:
        plain = f"{instance}:{claims}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._secret, plain, "sha256").hex()


class SignInLinks:
    """The links of one start of a server, of which each signs in once."""

    def __init__(self, issuer: LinkIssuer, instance: str, used: Claims | None = None) -> None:
        self._issuer = issuer
        self._instance = instance
        self._used = used or MemoryClaims()

    @asynccontextmanager
    async def redeem(self, token: str) -> AsyncIterator[None]:
        """Use a link up for the block; where that fails, it is good again.

        Raises `LinkInvalid`: it is wrong, too old, or was used before.
        """
        self._issuer.check(token, self._instance)
        if await self._used.claim(_KIND, token, for_s=_REMEMBERED_S) != "taken":
            raise _invalid()
        try:
            yield
        except BaseException:
            await self._used.release(_KIND, token)
            raise
