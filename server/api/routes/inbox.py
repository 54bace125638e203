"""`/admin/inbox`: questions that did not go well, in clusters, and what would help."""

import asyncio
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from server.api.auth import Admin
from server.api.error_responses import json_response
from server.api.large_json import large_json_response
from server.api.requests import ApiState, State, cancel_on_disconnect
from server.api.schemas import refusals
from server.audit.changes import Change
from server.conversation.inbox import InboxStore
from server.errors import ClusterUnknown
from server.evaluation.inbox import Cluster, cluster_of, clusters_of

_NO_STORE: Final = {"Cache-Control": "no-store"}

Number = Annotated[int, Path(ge=1, description="A cluster, by the number of the list.")]

router = APIRouter(
    prefix="/admin/inbox/{adapter}",
    tags=["authoring"],
    responses=refusals(
        401,
        (403, "Not an admin key."),
        (404, "There is no adapter of that name, or no such cluster."),
        503,
    ),
)


@router.get("", summary="What did not go well, in clusters, the largest first")
async def list_clusters(request: Request, state: State, adapter: str, _: Admin) -> Response:
    """Without proposals, which take their time: see the review of one."""
    inbox = state.inbox
    state.manager.written(adapter)
    found = await _clusters(state, adapter, inbox) if inbox is not None else []

    def described() -> dict[str, Any]:
        return {"enabled": inbox is not None, "clusters": [_row(cluster) for cluster in found]}

    return await large_json_response(request, described, stored=False)


@router.post(
    "/{number}/review",
    summary="What would help against one cluster, tried out",
    responses=refusals((409, "Another draft is being tried."), (504, "It took too long.")),
)
async def review_cluster(
    request: Request, state: State, adapter: str, number: Number, _: Admin
) -> Response:
    """A proposal that was tried and helps, with what it would change; or why there is none."""
    await request.body()  # what comes behind it is that the client has left
    cluster = cluster_of(await _clusters(state, adapter, _inbox(state)), number)
    work = asyncio.create_task(state.desk.review(state.manager.written(adapter), cluster))
    review = await cancel_on_disconnect(request.receive, work)
    row = _row(cluster) | review.to_dict()
    if review.proposal is not None:
        row["proposal"]["changes"] = [change.to_dict() for change in review.proposal.changes]
    return json_response(row, headers=_NO_STORE)


@router.delete("/{number}", summary="Delete a cluster that was dealt with")
async def drop_cluster(
    request: Request, state: State, adapter: str, number: Number, admin: Admin
) -> Response:
    inbox = _inbox(state)
    cluster = cluster_of(await _clusters(state, adapter, inbox), number)
    turns = [turn.number for turn in cluster.turns]
    about = {"cluster": number, "turns": len(turns)}
    change = Change(admin, "inbox", "drop", adapter, about, request.state.request_id)
    dropped = await state.changes.make(change, lambda: inbox.drop(turns))
    return json_response({"dropped": dropped})


def _inbox(state: ApiState) -> InboxStore:
    if state.inbox is None:
        raise ClusterUnknown("inbox.enabled is off, so that nothing stands in the inbox")
    return state.inbox


async def _clusters(state: ApiState, name: str, inbox: InboxStore) -> list[Cluster]:
    adapter = state.manager.written(name)
    turns = await inbox.turns(name)
    encoder = state.desk.resources.embedder(adapter.embedding_provider, adapter.embedding_model)
    return await clusters_of(turns, encoder.embed)


def _row(cluster: Cluster) -> dict[str, Any]:
    return cluster.to_dict() | {"masked": cluster.masked, "central": cluster.central}
