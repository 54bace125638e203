"""One-time links into the console, which only who can read the secret of the installation makes."""

import hmac
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import Final

from server.core.installation import command
from server.errors import LinkInvalid

LASTS_S: Final = 600
_LONGEST: Final = 256


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

    def expires_at(self, token: str, instance: str) -> float:
        """Return until when a token is good, in seconds of the epoch.

        Raises `LinkInvalid`: it was not made here for this server, or its time is over.
        """
        claims, _, signature = token.rpartition(".")
        presented = signature.encode("utf-8", "surrogatepass")
        expected = self._sign(instance, claims).encode()
        if len(token) > _LONGEST or not hmac.compare_digest(presented, expected):
            raise _invalid()
        expires_at = float(int(claims.partition(".")[0], 16))
        if expires_at <= self._now():
            raise _invalid()
        return expires_at

    def forget_expired(self, used: dict[str, float]) -> None:
        """Drop the tokens whose time is over: they are refused for that."""
        now = self._now()
        for token in [token for token, expires_at in used.items() if expires_at <= now]:
            del used[token]

    def _sign(self, instance: str, claims: str) -> str:
        plain = f"{instance}:{claims}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._secret, plain, "sha256").hex()


class SignInLinks:
    """The links of one start of a server, of which each signs in once."""

    def __init__(self, issuer: LinkIssuer, instance: str) -> None:
        self._issuer = issuer
        self._instance = instance
        self._used: dict[str, float] = {}

    @contextmanager
    def redeem(self, token: str) -> Iterator[None]:
        """Use a link up for the block; where that fails, it is good again.

        Raises `LinkInvalid`: it is wrong, too old, or was used before.
        """
        expires_at = self._issuer.expires_at(token, self._instance)
        if token in self._used:
            raise _invalid()
        self._issuer.forget_expired(self._used)
        self._used[token] = expires_at
        try:
            yield
        except BaseException:
            self._used.pop(token, None)
            raise
