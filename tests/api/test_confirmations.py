"""`POST /chat/confirm`: what it answers, and that it runs once however often it is sent."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.adapters.registry import Adapters
from tests.conversation.confirmations.shopfloor import Floor, floor
from tests.support.api import api_over, api_state, served_on_loopback

pytestmark = pytest.mark.anyio


@dataclass
class Shop:
    """A server on loopback, with clients of two keys."""

    floor: Floor
    client: httpx.AsyncClient
    stranger: httpx.AsyncClient

    async def hold(self, message: str = "erase all", session: str = "s") -> dict[str, Any]:
        body = {"message": message, "session_id": session}
        found: dict[str, Any] = (await self.client.post("/chat", json=body)).json()["metadata"]
        proposal: dict[str, Any] = found["proposal"]
        return proposal

    async def confirm(
        self, proposal_id: str, client: httpx.AsyncClient | None = None, **more: Any
    ) -> httpx.Response:
        body = {"session_id": "s", "proposal_id": proposal_id, "accept": True, **more}
        return await (client or self.client).post("/chat/confirm", json=body)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    keys = await KeyStore.open(f"sqlite:///{tmp_path / 'orbit.db'}", tmp_path / "secret")
    mine, theirs = [
        (await keys.create(NewKey("desk", user_id=user, role="admin")))[0] for user in "ab"
    ]
    async with floor(tmp_path) as opened:
        adapters = Adapters(("desk",))
        adapters.opened(opened.adapter)
        async with (
            api_state(adapters, keys, tmp_path) as state,
            served_on_loopback(api_over(state)) as url,
            httpx.AsyncClient(base_url=url, headers={"X-API-Key": mine}, timeout=30) as client,
            httpx.AsyncClient(base_url=url, headers={"X-API-Key": theirs}, timeout=30) as other,
        ):
            yield Shop(opened, client, other)
    await keys.close()


async def test_a_yes_answers_with_what_the_tool_gave(shop: Shop) -> None:
    proposal = await shop.hold()
    answer = (await shop.confirm(proposal["proposal_id"], seal=proposal["seal"])).json()
    assert (answer["session_id"], answer["metadata"]["proposal"]["status"]) == ("s", "done")
    assert answer["metadata"]["tool_execution"]["parameters"] == {"text": "all"}


@pytest.mark.parametrize("accept", [True, False])
async def test_an_answer_to_a_proposal_is_explained_where_that_is_asked(
    shop: Shop, accept: bool
) -> None:
    first, second = await shop.hold(), await shop.hold(session="t")
    plain = await shop.confirm(first["proposal_id"], accept=accept)
    told = await shop.confirm(second["proposal_id"], accept=accept, session_id="t", explain=True)
    assert "trace" not in plain.json()
    stages = {each["stage"]: each for each in told.json()["trace"]}
    assert ("tool" in stages) == accept
    assert stages["confirm"]["outcome"] == ("done" if accept else "declined")


async def test_of_20_confirmations_at_once_one_runs(shop: Shop) -> None:
    proposal = await shop.hold()
    answers = await asyncio.gather(*(shop.confirm(proposal["proposal_id"]) for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [200, *[409] * 19]
    assert shop.floor.tool.ran == [("erase", {"text": "all"})]
    assert len(await shop.floor.events()) == 1


async def test_a_no_runs_nothing(shop: Shop) -> None:
    proposal = await shop.hold()
    answer = await shop.confirm(proposal["proposal_id"], accept=False)
    assert (answer.status_code, answer.json()["content"]) == (200, "All right, nothing was done.")
    again = await shop.confirm(proposal["proposal_id"])
    assert (again.status_code, again.json()["error"]["code"]) == (409, "proposal_settled")
    assert shop.floor.tool.ran == []


async def test_somebody_else_is_told_what_anybody_is_told_of_nothing(shop: Shop) -> None:
    proposal = await shop.hold()
    found = [
        await shop.confirm(proposal["proposal_id"], shop.stranger),
        await shop.confirm("0" * 32, shop.stranger),
        await shop.confirm(proposal["proposal_id"], session_id="other"),
    ]
    told = [(answer.status_code, answer.json()["error"]["message"]) for answer in found]
    assert told == [(404, "this conversation has no proposal of that id")] * 3


async def test_too_late_and_altered_have_codes_of_their_own(shop: Shop) -> None:
    proposal = await shop.hold()
    altered = await shop.confirm(proposal["proposal_id"], seal="0" * 64)
    assert (altered.status_code, altered.json()["error"]["code"]) == (409, "proposal_altered")
    shop.floor.clock.at += timedelta(hours=1)
    late = await shop.confirm(proposal["proposal_id"])
    assert (late.status_code, late.json()["error"]["code"]) == (410, "proposal_expired")


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "the body is not JSON"),
        (b"[]", 422, "body: expected an object with the fields 'session_id', 'proposal_id', "),
        (b'{"session_id": "s", "proposal_id": "x"}', 422, "accept: is missing"),
        (b'{"session_id": "s", "proposal_id": "x", "accept": "yes"}', 422, "accept: "),
        (b'{"session_id": "a b", "proposal_id": "x", "accept": true}', 422, "session_id: "),
        (b'{"session_id": "s", "proposal_id": "x", "accept": true, "role": "admin"}', 422,
         "role: unknown field"),
    ],
)  # fmt: skip
async def test_a_body_that_is_wrong_is_told_how(
    shop: Shop, body: bytes, status: int, message: str
) -> None:
    answer = await shop.client.post("/chat/confirm", content=body)
    assert (answer.status_code, answer.json()["error"]["message"][: len(message)]) == (
        status, message,
    )  # fmt: skip


async def test_clearing_a_session_lets_go_of_what_waits_in_it(shop: Shop) -> None:
    proposal = await shop.hold()
    await shop.client.delete("/chat/sessions/s")
    again = await shop.confirm(proposal["proposal_id"])
    assert (again.status_code, again.json()["error"]["code"]) == (409, "proposal_settled")
