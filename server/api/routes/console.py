"""What the page for people asks before it has a key, and the link that signs in on it."""

import logging
from datetime import timedelta
from typing import Final

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from server import __version__
from server.access.clients import client_of
from server.access.models import ADMIN, NewKey, sample_name
from server.api.auth import is_loopback
from server.api.error_responses import json_response
from server.api.requests import ApiState, State, read_body
from server.api.routes.keys import key_response
from server.api.schemas import EXAMPLES, StrictModel, refusals, request_body
from server.audit.changes import Change
from server.core.turn import Caller
from server.errors import AdapterUnavailable, KeyForeign, LinkInvalid, RateLimited

_log = logging.getLogger(__name__)

router = APIRouter(tags=["console"])
"""On its own, because `console.enabled` can switch it off."""

_LANGUAGES: Final = ("en", "he")
_LABEL: Final = "console"
_KEY_LASTS: Final = timedelta(hours=12)
_KEY_KEPT: Final = timedelta(days=1)
"""How long a key of a link is listed after it has expired."""
_FROM_A_LINK: Final = Caller("", "", role="console link")
_SAME_PAGE: Final = frozenset({"same-origin", "none"})


class SampleKey(BaseModel):
    adapter: str
    key: str


class ConsoleStart(BaseModel):
    """What the page needs to offer a way in."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["console_start"]]})

    version: str
    sample_keys: list[SampleKey] = Field(
        description="The sample keys that there are; none but for this machine."
    )
    languages: list[str] = Field(description="Languages that the page can speak.")


class SignInRequest(StrictModel):
    """A link that `start` or `console` printed."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"link": "67c7…"}]})

    link: str = Field(max_length=256, description="What stands behind `#link=` in it.")


@router.get("/console/start", response_model=ConsoleStart, summary="How one may sign in")
async def start_console(request: Request, state: State) -> Response:
    """Needs no key. Sample keys are told to this machine alone, where they work."""
    found: dict[str, str] = {}
    if state.sample_keys and is_loopback(request):
        found = await state.keys.samples({name: sample_name(name) for name in state.adapters.names})
    samples = [{"adapter": adapter, "key": key} for adapter, key in found.items()]
    body = {"version": __version__, "sample_keys": samples, "languages": _LANGUAGES}
    return json_response(body, headers={"Cache-Control": "no-store"})


@router.post(
    "/admin/sign-in",
    status_code=201,
    tags=["admin"],
    responses=refusals(
        (401, "The link is wrong, was used before, or is older than ten minutes."),
        (403, "From another machine, or by a page of another site."),
        422,
        (429, "Too many wrong links or keys came from this machine."),
        (503, "No adapter serves, or the database of keys is unavailable."),
    ),
    summary="Sign in with a one-time link; the key is shown this once",
    openapi_extra=request_body(SignInRequest),
)
async def sign_in(request: Request, state: State) -> Response:
    """Make an admin key for twelve hours, for whoever has a link of this machine's."""
    if not is_loopback(request) or _is_foreign_page(request):
        raise KeyForeign("a link signs in on the server's own machine alone, and on its own page")
    asked = read_body(SignInRequest, await request.body())
    if state.sign_in is None:
        raise LinkInvalid(f"no link signs in here: access.roles names no role {ADMIN!r}")
    client = client_of(request.client.host) if request.client is not None else ""
    try:
        await state.wrong_keys.check(client)
        async with state.sign_in.redeem(asked.link):
            return await _new_key(request, state)
    except RateLimited:
        state.metrics.wrong_key("throttled")
        raise
    except LinkInvalid:
        state.metrics.wrong_key("unknown")
        await state.wrong_keys.note(client)
        raise


async def _new_key(request: Request, state: ApiState) -> Response:
    serving = [row.name for row in state.adapters.statuses() if row.state == "ready"]
    adapter = next(iter((*serving, *state.adapters.names)), None)
    if adapter is None:
        raise AdapterUnavailable("this server has no adapter that a key could be for")
    await _delete_old_keys(request, state)
    new = NewKey(adapter, role=ADMIN, expires_in=_KEY_LASTS, label=_LABEL)
    change = Change(
        _FROM_A_LINK, "keys", "sign_in", adapter, new.details(), request.state.request_id
    )
    raw, record = await state.changes.make(
        change, lambda: state.keys.create(new), lambda made: {"key_id": made[1].key_id}
    )
    _log.info("a link signed in on the console with key %s", record.key_id)
    return key_response(raw, record, 201)


async def _delete_old_keys(request: Request, state: ApiState) -> None:
    """Delete the keys of earlier links that are over, since each sign-in leaves one."""
    old = await state.keys.expired_of(_LABEL, since=_KEY_KEPT)
    if old:
        about = {"key_ids": list(old)}
        change = Change(_FROM_A_LINK, "keys", "delete", "", about, request.state.request_id)
        await state.changes.make(change, lambda: state.keys.delete(old))
        _log.info("deleted %d keys of links that expired before", len(old))


def _is_foreign_page(request: Request) -> bool:
    """Return whether a page of another site has its reader's browser ask; browsers say so."""
    headers = request.headers
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        return site not in _SAME_PAGE
    return origin is not None and origin.partition("://")[2] != headers.get("host")
