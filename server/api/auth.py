"""Who is asking: the key of a request, its rate limits, and routes that need an admin."""

import ipaddress
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Final
from urllib.parse import urlsplit

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPBearer

from server.access.clients import client_of, is_local_host
from server.access.models import ADMIN
from server.access.rate_limits import LimitStatus
from server.api.requests import ApiState
from server.core.gateway import HEADERS as GATEWAY_HEADERS
from server.core.turn import Caller
from server.errors import AuthoringOff, KeyForeign, KeyMissing, KeyUnknown, RateLimited

_KNOWN: Final = "good key"
_KNOWN_S: Final = 24 * 3600
_NOT_IN_A_HOST: Final = frozenset("@/?#\\")
_FORWARDED: Final = (
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
)

# Only so that the documentation has its "Authorize" button: `key_of` reads the headers.
_BEARER: Final = HTTPBearer(auto_error=False, description="`Authorization: Bearer KEY`")
_Bearer = Annotated[object, Security(_BEARER)]
_KeyHeader = Annotated[object, Security(APIKeyHeader(name="X-API-Key", auto_error=False))]


async def caller_of(request: Request, _bearer: _Bearer, _header: _KeyHeader) -> Caller:
    """Return who is asking, and count it against the limits of key and adapter.

    May raise AccessDenied or RateLimited.
    """
    state: ApiState = request.app.state.api
    caller = await key_holder(request, state)
    if any(name in request.headers for name in GATEWAY_HEADERS):
        caller = await state.gateway.speak_for(
            caller, request.headers, request.method, request.url.path, await request.body()
        )
    adapter_limits = state.adapters.rate_limits(caller.adapter)
    if caller.limits or adapter_limits:
        await _count_request(request, state, caller, adapter_limits)
    return caller


async def key_holder(request: Request, state: ApiState) -> Caller:
    """Return whose key came with the request.

    A client that tried too many wrong ones may use only those that were right here before, such
    as those of others at its address.
    """
    raw = key_of(request)
    client = client_of(request.client.host) if request.client is not None else ""
    is_new = not state.keys.remembers(raw)
    if is_new:
        try:
            await state.wrong_keys.check(client)
        except RateLimited:
            if not await _is_known_elsewhere(state, raw):
                state.metrics.wrong_key("throttled")
                raise
    sample_allowed = state.sample_keys and is_loopback(request)
    try:
        caller = await state.keys.authenticate(raw, sample_allowed=sample_allowed)
    except KeyUnknown:
        state.metrics.wrong_key("unknown")
        await state.wrong_keys.note(client)
        raise
    if is_new and state.parent is not None:
        await state.parent.claim(_KNOWN, state.keys.fingerprint(raw), for_s=_KNOWN_S)
    return caller


async def _is_known_elsewhere(state: ApiState, raw: str) -> bool:
    """Return whether another worker has found a key to be right not long ago."""
    parent = state.parent
    return parent is not None and await parent.is_claimed(_KNOWN, state.keys.fingerprint(raw))


KeyHolder = Annotated[Caller, Depends(caller_of)]
"""For a route's parameter: any caller with a good key."""


async def admin_of(caller: KeyHolder) -> Caller:
    """Return who is asking; raise KeyForeign unless it is an admin."""
    if caller.role != ADMIN:
        raise KeyForeign(f"this needs a key of role {ADMIN!r}; this one is of role {caller.role!r}")
    return caller


Admin = Annotated[Caller, Depends(admin_of)]
"""For a route's parameter: a caller whose key is an admin's."""


async def author_of(request: Request, admin: Admin) -> Caller:
    """Return who is asking; raise AuthoringOff unless files may be edited from there."""
    state: ApiState = request.app.state.api
    if not may_author(request, state):
        where = "nobody" if state.authoring == "never" else "a server and a client of one machine"
        raise AuthoringOff(
            f"files are shown and changed for {where}, since console.authoring is "
            f"{state.authoring!r}: its operator can set it to 'always'"
        )
    return admin


Author = Annotated[Caller, Depends(author_of)]
"""For a route's parameter: an admin who may look at files and change them."""


def may_author(request: Request, state: ApiState) -> bool:
    """Return whether `console.authoring` lets admins edit files from where this came."""
    if state.authoring == "loopback":
        return state.listens_locally and is_loopback(request)
    return state.authoring == "always"


def key_of(request: Request) -> str:
    """Return the key of `Authorization: Bearer KEY` or `X-API-Key: KEY`, or raise KeyMissing."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    key = token.strip() if scheme.lower() == "bearer" else ""
    key = key or request.headers.get("x-api-key", "").strip()
    if not key:
        raise KeyMissing(
            "this call needs a key: send it as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'"
        )
    return key


def is_loopback(request: Request) -> bool:
    """Return whether the client is on this machine, and asked for it.

    Not so for a proxied request, or one for another `Host`: web pages can point names here.
    """
    headers = request.headers
    if request.client is None or any(name in headers for name in _FORWARDED):
        return False
    host = headers.get("host")
    return is_local_host(request.client.host) and (host is None or _is_local_header(host))


@lru_cache(maxsize=256)
def _is_local_header(host_header: str) -> bool:
    return is_local_host(host_of(host_header))


def host_of(host_header: str) -> str:
    """Return the name or address of a Host header in lower case, or nothing: it is malformed."""
    try:
        host = urlsplit(f"//{host_header}").hostname or ""
    except ValueError:
        return ""
    return host.rstrip(".") if _NOT_IN_A_HOST.isdisjoint(host_header) else ""


@lru_cache(maxsize=256)
def is_address(host: str) -> bool:
    """Return whether a host is an address, which no web page can point elsewhere, or this one."""
    try:
        return host == "localhost" or bool(ipaddress.ip_address(host))
    except ValueError:
        return False


async def _count_request(
    request: Request, state: ApiState, caller: Caller, adapter_limits: Sequence[str]
) -> None:
    """Count a request, unless a limit is reached, and note the headers for its response."""
    limits, key, adapter = state.limits, ("key", caller.key_id), ("adapter", caller.adapter)
    whose, refused = "adapter", await limits.peek(adapter_limits, *adapter)
    if refused is None:
        whose, refused = "key", await limits.take(caller.limits, *key)
    if refused is None:
        whose, refused = "adapter", await limits.take(adapter_limits, *adapter)
    if caller.limits:
        request.state.rate_headers = _rate_headers(await limits.standings(caller.limits, *key))
    if refused is not None:
        state.metrics.rate_limited(caller.adapter)
        seconds = max(1, math.ceil(refused.reset_s))
        raise RateLimited(
            f"the limit of this {whose}, {refused.limit}, is reached; try again in {seconds} s",
            retry_after_s=seconds,
        )


def _rate_headers(standings: Sequence[LimitStatus]) -> list[tuple[bytes, bytes]]:
    """`RateLimit` and `RateLimit-Policy` for all limits, the older three for the tightest."""
    tightest = min(standings, key=lambda standing: (standing.remaining, -standing.reset_s))
    policy = ", ".join(f'"{s.limit}";q={s.count};w={s.window_s}' for s in standings)
    left = (f'"{s.limit}";r={max(0, s.remaining)};t={math.ceil(s.reset_s)}' for s in standings)
    headers = {
        "ratelimit-policy": policy,
        "ratelimit": ", ".join(left),
        "ratelimit-limit": str(tightest.count),
        "ratelimit-remaining": str(max(0, tightest.remaining)),
        "ratelimit-reset": str(math.ceil(tightest.reset_s)),
    }
    return [(name.encode(), value.encode()) for name, value in headers.items()]
