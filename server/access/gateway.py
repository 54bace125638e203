"""A gateway in front of the server, which says in signed headers for whom it asks."""

import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import time
from typing import Final

from server.core.claims import MemoryClaims
from server.core.gateway import HEADERS, sign_caller
from server.core.ports import Claims
from server.core.turn import Caller
from server.errors import GatewayRefused

_USER_ID: Final = re.compile(r"[!-~]{1,255}")
_SECONDS: Final = re.compile(r"[0-9]{1,12}")
_KIND: Final = "gateway request"


@dataclass(frozen=True, slots=True)
class Gateway:
    """Reads the headers `X-Orbit-User`, `-Role`, `-Time` and `-Signature`.

    Without a secret, or with a key that is not the gateway's, their presence alone is
    refused: a request that claims to be somebody is never answered as somebody else.
    """

    secret: bytes = field(default=b"", repr=False)
    keys: frozenset[str] = frozenset()
    roles: tuple[str, ...] = ()
    max_age_s: float = 60.0
    clock_s: Callable[[], float] = time
    seen: Claims = field(default_factory=MemoryClaims, repr=False)
    """The signatures that were used."""

    async def speak_for(
        self, caller: Caller, headers: Mapping[str, str], method: str, path: str, body: bytes
    ) -> Caller:
        """Return whom the request is for: the caller, or the user that its gateway names.

        Raises `GatewayRefused`: the headers are not this gateway's, not whole, too old, or were
        sent before.
        """
        if not names_a_user(headers):
            return caller
        if not self.secret or caller.key_id not in self.keys:
            raise GatewayRefused("this key may not ask for other users")
        user, role, stamp, signature = (headers.get(name, "") for name in HEADERS)
        expected = sign_caller(self.secret, method, path, user, role, stamp, body)
        if not hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace")):
            raise GatewayRefused("the signature of the gateway does not fit the request")
        if not _SECONDS.fullmatch(stamp) or abs(self.clock_s() - int(stamp)) > self.max_age_s:
            raise GatewayRefused("the signature of the gateway is too old")
        if not _USER_ID.fullmatch(user) or role not in self.roles:
            raise GatewayRefused("the gateway names no user or no role that is known")
        await self._refuse_replay(signature)
        return replace(caller, user_id=user, role=role)

    async def _refuse_replay(self, signature: str) -> None:
        claimed = await self.seen.claim(_KIND, signature, for_s=2 * self.max_age_s)
        if claimed == "held":
            raise GatewayRefused("this request of the gateway was sent before")
        if claimed == "full":
            raise GatewayRefused("too many requests of the gateway at once")


def names_a_user(headers: Mapping[str, str]) -> bool:
    """Return whether a request claims to be for a user, truly or not."""
    return any(name in headers for name in HEADERS)
