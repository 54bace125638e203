"""The key of a request, and whose it is."""

import ipaddress
from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import Request, Security
from fastapi.security import APIKeyHeader, HTTPBearer

from server.access.gateway import names_a_user
from server.api.rate_limits import count_request
from server.api.state import state_of
from server.core.turn import Caller
from server.errors import KeyForeign, KeyMissing, RateLimited

DOCUMENTED_SCHEMES: Final = (
    Security(HTTPBearer(auto_error=False, description="`Authorization: Bearer KEY`")),
    Security(APIKeyHeader(name="X-API-Key", auto_error=False)),
)
"""For the documentation's "Authorize" button, on every route that needs a key; the
reading is done by `key_of`."""

NEEDS_KEY: Final[dict[str, Any]] = {"security": [{"HTTPBearer": []}, {"APIKeyHeader": []}]}
"""The same for `openapi_extra` of routes that are asked most: said, without being run."""

ADMIN: Final = "admin"
"""The role of keys that may look after the server."""

_NOT_IN_A_HOST: Final = frozenset("@/?#\\")
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


def key_of(request: Request) -> str:
    """The raw key, from `Authorization: Bearer KEY` or `X-API-Key: KEY`.

    Raises:
        KeyMissing: neither header holds one.
    """
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    key = token.strip() if scheme.lower() == "bearer" else ""
    key = key or request.headers.get("x-api-key", "").strip()
    if not key:
        raise KeyMissing(
            "this call needs a key: send it as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'"
        )
    return key


def is_loopback(request: Request) -> bool:
    """Whether the client itself is on this machine, and asked for this machine.

    A proxied request never counts as such, nor one whose `Host` is another name: a web
    page can point a name of its own at 127.0.0.1.
    """
    headers = request.headers
    if request.client is None or any(name in headers for name in _FORWARDED):
        return False
    asked = headers.get("host")
    return _is_here(request.client.host) and (asked is None or _names_here(asked))


def _names_here(host_header: str) -> bool:
    if not _NOT_IN_A_HOST.isdisjoint(host_header):
        return False
    try:
        return _is_here(urlsplit(f"//{host_header}").hostname or "")
    except ValueError:
        return False


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def caller_of(request: Request) -> Caller:
    """Who is asking, one request counted.

    Raises:
        AccessDenied: the key, or what a gateway says beside it, is wrong; it says what.
        RateLimited: the key or its adapter has asked too often.
    """
    state = state_of(request)
    caller = await state.keys.authenticate(
        key_of(request), sample_allowed=state.sample_keys and is_loopback(request)
    )
    if names_a_user(request.headers):
        caller = state.gateway.speak_for(
            caller, request.headers, request.method, request.url.path, await request.body()
        )
    of_adapter = state.adapters.rate_limits(caller.adapter)
    try:
        await count_request(request, state.limits, caller, of_adapter)
    except RateLimited:
        state.metrics.rate_limited(caller.adapter)
        raise
    return caller


async def admin_of(request: Request) -> Caller:
    """Who is asking, when it is an admin.

    Raises:
        AccessDenied: as `caller_of`, and KeyForeign for a key of another role.
    """
    caller = await caller_of(request)
    if caller.role != ADMIN:
        raise KeyForeign(f"this needs a key of role {ADMIN!r}; this one is of role {caller.role!r}")
    return caller
