"""`GET /adapters/{name}/tools`: an adapter's templates as functions, for other programs."""

from typing import Any, Final

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from server.api.auth import DOCUMENTED_SCHEMES, caller_of
from server.api.error_responses import json_response
from server.api.schemas import ErrorResponse, ToolsResponse
from server.api.state import state_of
from server.core.turn import Caller
from server.errors import KeyForeign

router = APIRouter(tags=["tools"])

_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorResponse, "description": description}
    for status, description in (
        (401, "No key, or one that is unknown, expired or revoked."),
        (403, "A good key, but of another adapter."),
        (429, "The key or its adapter was used too often; `Retry-After` says when to come back."),
        (503, "The adapter is unavailable."),
    )
}


@router.get(
    "/adapters/{name}/tools",
    response_model=ToolsResponse,
    responses=_ERRORS,
    summary="List what an adapter can do, as OpenAI functions",
    dependencies=list(DOCUMENTED_SCHEMES),
)
async def tools(name: str, request: Request, caller: Caller = Depends(caller_of)) -> Response:  # noqa: B008
    """The templates that the key's role may run, in OpenAI's format of tools."""
    if name != caller.adapter:
        raise KeyForeign("this key is for another adapter")
    adapter = state_of(request).adapters.opened_by(caller)
    templates = adapter.chain.open_to(caller, any_intent=True)
    listed = [template.to_tool_definition().to_openai_schema() for template in templates]
    return json_response({"tools": listed})
