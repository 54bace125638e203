"""Adapters: what each can do, what state each is in, and reloading them."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from server.adapters.registry import AdapterStatus
from server.api.auth import Admin, KeyHolder
from server.api.error_responses import json_response, public_message
from server.api.problem_rows import problem_rows
from server.api.requests import State
from server.api.routes.health import describe_status
from server.api.schemas import ProblemsResponse, ToolsResponse, refusals
from server.chat.sources import tools_open_to
from server.errors import (
    AdapterUnknown,
    KeyForeign,
    OrbitError,
)

router = APIRouter(tags=["tools"])
admin_router = APIRouter(
    prefix="/admin",
    tags=["admin"],
    responses=refusals(
        401,
        (403, "Not an admin key."),
        (404, "There is no adapter of that name."),
        (409, "What was written cannot be used; `details` says why. What ran before goes on."),
        (503, "What the adapter needs cannot be reached. What ran before goes on."),
    ),
)


@router.get(
    "/adapters/{name}/tools",
    response_model=ToolsResponse,
    responses=refusals(
        401, (403, "A good key, but of another adapter."), 429, (503, "The adapter is unavailable.")
    ),
    summary="List what an adapter can do, as OpenAI functions",
)
async def list_tools(state: State, name: str, caller: KeyHolder) -> Response:
    """The templates that the key's role may run, in OpenAI's format of tools."""
    if name != caller.adapter:
        raise KeyForeign("this key is for another adapter")
    adapter = state.adapters.opened_by(caller)
    tools = [tool.to_openai_schema() for tool in tools_open_to(adapter, caller)]
    return json_response({"tools": tools})


@admin_router.get("/adapters", summary="Every adapter, and how it stands")
async def list_adapters(state: State, _: Admin) -> Response:
    await state.adapters.check()
    return json_response({"adapters": [describe_status(s) for s in state.adapters.statuses()]})


@admin_router.get("/adapters/{name}", summary="One adapter, and how it stands")
async def get_adapter(state: State, name: str, _: Admin) -> Response:
    if name not in state.adapters.names:
        raise AdapterUnknown(f"there is no adapter {name!r} in this configuration")
    return json_response(describe_status(state.adapters.status(name)))


@admin_router.get(
    "/adapters/{name}/problems",
    response_model=ProblemsResponse,
    responses=refusals((504, "It took too long.")),
    summary="What is wrong with an adapter's files, as they are now",
)
async def list_problems(state: State, name: str, _: Admin) -> Response:
    """As `check --quick` finds it, but for suggestions; nothing changes what runs."""
    adapter = state.manager.written(name)
    problems = await state.desk.check(adapter, {})
    files = await asyncio.to_thread(state.manager.authored, name)
    return json_response({"problems": problem_rows(problems, files)})


@admin_router.post("/adapters/{name}/reload", summary="Read an adapter's files again")
async def reload_adapter(request: Request, state: State, name: str, admin: Admin) -> Response:
    """Answer by the files as they are now. What cannot be used changes nothing.

    Once it is done here, other servers on the same database do the same with their files within
    two seconds; `announced` says if they can know.
    """
    status = await state.manager.reload(name, admin, request.state.request_id)
    return json_response(
        describe_status(status) | {"announced": await state.manager.announce(name)}
    )


@admin_router.post("/reload", summary="Read the files of every adapter again")
async def reload_adapters(request: Request, state: State, admin: Admin) -> Response:
    """One that cannot be reloaded goes on as it was, and keeps none of the others from it.

    Other servers on the same database follow, as for one adapter.
    """
    outcomes = await state.manager.reload_all(admin, request.state.request_id)
    rows = [_reload_row(status, why) for status, why in outcomes]
    announced = await state.manager.announce(*(s.name for s, why in outcomes if why is None))
    return json_response({"adapters": rows, "announced": announced})


def _reload_row(status: AdapterStatus, failure: OrbitError | None) -> dict[str, Any]:
    row: dict[str, Any] = describe_status(status) | {"reloaded": failure is None}
    if failure is not None:
        row["error"] = {"code": failure.code, "message": public_message(failure)}
        details = getattr(failure, "details", None)
        row["error"] |= {"details": details} if details else {}
    return row
