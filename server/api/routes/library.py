"""`/adapters/{name}/library`: what an adapter's templates say, and how they lie to each other."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from server.access.models import ADMIN
from server.api.auth import KeyHolder
from server.api.error_responses import FieldsInvalid, json_response
from server.api.large_json import large_json_response
from server.api.requests import ApiState, State, read_body
from server.api.schemas import (
    CollisionsResponse,
    LibraryResponse,
    MapRequest,
    MapResponse,
    PlaceResponse,
    WordsResponse,
    refusals,
    request_body,
)
from server.chat.adapter import Adapter
from server.chat.shown_library import describe_library, vocabulary_of
from server.chat.sources import OpenTemplate, shared_library, templates_open_to
from server.core.turn import Caller
from server.errors import KeyForeign
from server.evaluation.library_map import ExampleSpace, describe_collisions, readings_of
from server.evaluation.word_uses import word_uses

_UNCHANGED: Final[dict[int | str, dict[str, Any]]] = {
    304: {"description": "It is as `If-None-Match` says."}
}
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
    responses=_UNCHANGED,
    summary="What an adapter's library says",
)
async def get_library(request: Request, adapter: LibraryAdapter, caller: KeyHolder) -> Response:
    """The templates that the key's role may run: examples, parameters, effect.

    Nothing is said of how they are carried out: no requests, headers, SQL, files or secrets.
    """
    with adapter.leases.hold():
        return await large_json_response(request, lambda: describe_library(adapter, caller))


@router.get(
    "/map",
    response_model=MapResponse,
    responses=_UNCHANGED,
    summary="The examples of a library as a map",
)
async def get_map(
    request: Request, state: State, adapter: LibraryAdapter, caller: KeyHolder
) -> Response:
    """Examples by the two directions in which their vectors differ most.

    Of more than 5,000, as many of each template as there is room. Kept until a reload.
    """
    with adapter.leases.hold():
        _, space = await _space(state, adapter, caller)
        return await large_json_response(request, lambda: _describe_map(space))


@router.post(
    "/map",
    response_model=PlaceResponse,
    responses=refusals(
        (400, "The body is not JSON, or nothing in `message` can be compared."), 422
    ),
    summary="Where a question lies on the map",
    openapi_extra=request_body(MapRequest),
)
async def locate(
    request: Request, state: State, adapter: LibraryAdapter, caller: KeyHolder
) -> Response:
    """The place of a question, and the examples that are nearest. Nothing is kept of it."""
    body = await request.body()
    asked = read_body(MapRequest, body, max_message_chars=state.max_message_chars)
    with adapter.leases.hold():
        templates, space = await _space(state, adapter, caller)
        readings = await readings_of(templates, space, asked.message)
        (x, y), nearest = await asyncio.to_thread(space.locate, readings)
    rows = [
        {"template": s.template, "example": s.text, "similarity": similarity}
        for s, similarity in nearest
    ]
    return json_response({"x": x, "y": y, "nearest": rows})


@router.get(
    "/collisions",
    response_model=CollisionsResponse,
    responses=_UNCHANGED,
    summary="Templates that are easily confused, and the examples between them",
)
async def list_collisions(
    request: Request, state: State, adapter: LibraryAdapter, caller: KeyHolder
) -> Response:
    """At most 100 pairs, likeliest to be confused first."""
    with adapter.leases.hold():
        _, space = await _space(state, adapter, caller)
        return await large_json_response(request, lambda: _describe_pairs(space))


@router.get(
    "/words",
    response_model=WordsResponse,
    responses=_UNCHANGED | refusals(422),
    summary="Where a library uses a word, in whatever form",
)
async def list_word_uses(
    request: Request,
    adapter: LibraryAdapter,
    caller: KeyHolder,
    q: Annotated[str, Query(min_length=1, max_length=100, description="One word.")],
) -> Response:
    """Examples, descriptions, parameters and vocabulary with the word or a form of it."""
    with adapter.leases.hold():
        templates, vocabulary = templates_open_to(adapter, caller), vocabulary_of(adapter)
        languages = shared_library(adapter).domain.response.supported_languages
        found = await asyncio.to_thread(word_uses, q, templates, vocabulary, languages)
    if found is None:
        raise FieldsInvalid([("q", "expected one word, of letters or of digits")])
    return await large_json_response(request, found.to_dict)


async def _space(
    state: ApiState, adapter: Adapter, caller: Caller
) -> tuple[Sequence[OpenTemplate], ExampleSpace]:
    templates = templates_open_to(adapter, caller)
    names = dict.fromkeys((adapter.name, *(each.source.name for each in templates)))
    version = tuple((name, state.adapters.opened_at(name)) for name in names)
    return templates, await state.maps.of(adapter, templates, version)


def _describe_map(space: ExampleSpace) -> dict[str, Any]:
    explained, left_out = list(space.plane.explained), list(space.left_out)
    return {"points": space.points, "explained": explained, "left_out": left_out}


def _describe_pairs(space: ExampleSpace) -> dict[str, Any]:
    return {"pairs": describe_collisions(space.collisions), "left_out": list(space.left_out)}
