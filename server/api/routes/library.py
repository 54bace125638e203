"""`/adapters/{name}/library`: what an adapter's templates say, and how they lie to each other."""

import asyncio
from hashlib import sha256
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from server.access.models import ADMIN
from server.api.auth import KeyHolder
from server.api.error_responses import json_response
from server.api.requests import State
from server.api.schemas import LibraryResponse, refusals
from server.chat.adapter import Adapter
from server.chat.shown_library import describe_library
from server.errors import KeyForeign

router = APIRouter(
    prefix="/adapters/{name}/library",
    tags=["library"],
    responses=refusals(
        401,
        (403, "A good key, but of another adapter and of no admin."),
        (404, "An admin's key, and no adapter of that name."),
        429,
        (503, "The adapter is unavailable."),
    ),
)


async def library_adapter(state: State, name: str, caller: KeyHolder) -> Adapter:
    """The adapter of a path, which a key of its own opens, or an admin's."""
    if name == caller.adapter:
        return state.adapters.opened_by(caller)
    if caller.role != ADMIN:
        raise KeyForeign("this key is for another adapter")
    return state.adapters.get(name)


LibraryAdapter = Annotated[Adapter, Depends(library_adapter)]
"""For a route's parameter: the adapter that its path names."""


@router.get(
    "",
    response_model=LibraryResponse,
    responses={304: {"description": "It is as `If-None-Match` says."}},
    summary="What an adapter's library says",
)
async def get_library(request: Request, adapter: LibraryAdapter, caller: KeyHolder) -> Response:
    """The templates that the key's role may run: examples, parameters, effect.

    Nothing is said of how they are carried out: no requests, headers, SQL, files or secrets.
    """

    def written() -> tuple[Response, str]:
        response = json_response(describe_library(adapter, caller))
        return response, f'"{sha256(response.body).hexdigest()[:32]}"'

    with adapter.leases.hold():
        response, tag = await asyncio.to_thread(written)
    if tag in request.headers.get("if-none-match", ""):
        response = Response(status_code=304)
    response.headers["etag"] = tag
    response.headers["cache-control"] = "private, no-cache"
    return response
