"""A conversation goes on wherever it comes to, and its yes runs once."""

import asyncio
from pathlib import Path

import pytest

from tests.api.test_told_conversations import NOTHING_WAITS, Chat
from tests.replicas.pair import Replica, pair
from tests.support.audit import audited
from tests.support.sql_shop import ORDERS

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def orders(one: Replica) -> str:
    answer = await one.ask("How many orders are there?", "count")
    return str(answer["content"])


async def test_a_follow_up_and_a_yes_may_come_to_another(
    postgresql_url: str, tmp_path: Path
) -> None:
    async with pair(postgresql_url, tmp_path) as (one, two):
        await one.ask("Show me the orders in Lisbon")
        other = await two.ask("and in Porto?")
        assert other["metadata"]["tool_execution"]["parameters"] == {"city": "Porto"}
        second = await one.ask("details of the second one")
        assert second["metadata"]["tool_execution"]["parameters"] == {"id": 4}
        assert "proposal" in (await two.ask("Delete order 6"))["metadata"]
        assert (await one.ask("yes"))["content"] == "1 row was changed."
        assert str(ORDERS - 1) in await orders(two)


async def test_of_many_who_confirm_on_both_at_once_one_runs_it(url: str, tmp_path: Path) -> None:
    async with pair(url, tmp_path) as (one, two):
        proposal = (await one.ask("Delete order 6"))["metadata"]["proposal"]
        body = {"session_id": "s", "proposal_id": proposal["proposal_id"], "accept": True}
        answers = await asyncio.gather(
            *(each.client.post("/chat/confirm", json=body) for each in (one, two) * 5)
        )
        said = [answer.json().get("content", "") for answer in answers]
        assert said.count("1 row was changed.") >= 1
        assert str(ORDERS - 1) in await orders(two)
        settings = one.settings
    ran = audited(settings, template_id="delete_order", outcome="success")
    assert len(ran) == 1


async def test_a_link_is_good_at_the_other(postgresql_url: str, tmp_path: Path) -> None:
    shop = {"config": {"sql": {"max_rows": 5, "csv": {"max_rows": 500}}}}
    async with pair(postgresql_url, tmp_path, shop=shop) as (one, two):
        answer = await one.ask("Show me the orders in Lisbon")
        rows = await two.client.get(answer["metadata"]["download"]["url"])
        assert (rows.status_code, len(rows.text.splitlines())) == (200, 1 + ORDERS // 3)


async def test_messages_are_a_conversation_wherever_they_come_to(
    postgresql_url: str, tmp_path: Path
) -> None:
    async with pair(postgresql_url, tmp_path) as (one, two):
        chat = Chat(one.client)
        assert "Please confirm" in await chat.hear("Delete order 6")
        chat.client = two.client
        again = Chat(one.client, list(chat.messages))
        assert await chat.hear("yes") == "1 row was changed."
        assert await again.hear("yes") in (NOTHING_WAITS, "1 row was changed.")
        assert str(ORDERS - 1) in await orders(one)
        settings = one.settings
    assert len(audited(settings, template_id="delete_order", outcome="success")) == 1
