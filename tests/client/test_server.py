"""Both clients against a running server."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from server import __version__
from server.access.keys import KeyStore
from server.access.models import NewKey
from server.api.schemas import AnswerMetadata
from server.client import Answer, AsyncClient, Client, KeyRefused, Outcome, Proposal, Refused
from tests.support.api import running, served_on_loopback
from tests.support.configuring import adapter, configure, write_library
from tests.support.sql_shop import DOMAIN, TEMPLATES, make_shop

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

DOCS = Path(__file__).parents[2] / "docs" / "http-api.md"


@dataclass(frozen=True)
class Served:
    url: str
    keys: dict[str, str]

    def client(self, role: str = "user") -> AsyncClient:
        return AsyncClient(self.url, self.keys[role])


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    shop = adapter(
        "shop",
        write_library(tmp_path / "library", TEMPLATES, DOMAIN),
        implementation="retrievers.implementations.intent.IntentSQLRetriever",
        database=str(make_shop(tmp_path / "shop.db")),
    )
    settings = configure(tmp_path, [shop], inbox={"enabled": True}).settings
    store = await KeyStore.open(settings.database_url, settings.secret_path)
    roles = ("user", "admin")
    keys = {r: (await store.create(NewKey("shop", user_id="ana", role=r)))[0] for r in roles}
    await store.close()
    async with running(settings, {}) as app, served_on_loopback(app) as url:
        await app.state.api.adapters.every_one_tried()
        yield Served(url, keys)


QUESTIONS: dict[str, Outcome] = {
    "Show me the orders in Lisbon": "done",
    "delete order 7": "held",
    "Show the order": "missing",
    "sing me a song about the sea": "nothing",
    "hello": "replied",
    "no": "nothing",
}


async def test_an_answer_says_what_the_question_came_to(served: Served) -> None:
    async with served.client() as client:
        found = {question: await client.ask(question) for question in QUESTIONS}
    assert {question: each.outcome for question, each in found.items()} == QUESTIONS
    assert [q for q, each in found.items() if each.answered] == ["Show me the orders in Lisbon"]
    lisbon = found["Show me the orders in Lisbon"]
    assert (lisbon.template_id, lisbon.arguments) == ("orders_in_city", {"city": "Lisbon"})
    assert lisbon.result["row_count"] == 20
    known = set(AnswerMetadata.model_fields)
    assert {name for each in found.values() for name in each.metadata} <= known


async def test_a_proposal_runs_once_and_a_declined_one_does_not(served: Served) -> None:
    async with served.client() as client:
        held = (await client.ask("delete order 7")).proposal
        assert held is not None
        assert (held.template_id, held.effect, held.arguments) == (
            "delete_order",
            "write",
            {"id": 7},
        )
        kept = Proposal(proposal_id=held.proposal_id, session_id=held.session_id)
        done = await client.confirm(kept)
        assert (done.outcome, done.proposal) == ("done", None)
        with pytest.raises(Refused) as again:
            await client.confirm(kept)
        assert (again.value.status, again.value.code) == (409, "proposal_settled")
        other = (await client.ask("delete order 8")).proposal
        assert other is not None
        assert (await client.confirm(other, accept=False)).outcome == "settled"
        assert (await client.ask("Show order 8")).result["row_count"] == 1


async def test_a_conversation_goes_on_until_it_is_forgotten(served: Served) -> None:
    async with served.client() as client:
        await client.ask("Show me the orders in Lisbon", session_id="s")
        assert (await client.ask("and in Porto?", session_id="s")).arguments == {"city": "Porto"}
        await client.forget("s")
        assert not (await client.ask("and in Porto?", session_id="s")).answered


async def test_a_stream_comes_to_the_answer_of_ask(served: Served) -> None:
    async with served.client() as client:
        answer = await client.ask("How many orders are there?")
        async with client.stream("How many orders are there?") as pieces:
            said = [piece.text async for piece in pieces]
        async with client.stream("How many orders are there?") as left:
            async for _ in left:
                break
        assert (await client.ask("How many orders are there?")).answered
    streamed = pieces.answer
    assert "".join(said) == streamed.content == answer.content
    assert (streamed.result, streamed.template_id) == (answer.result, answer.template_id)
    assert streamed.request_id != answer.request_id


async def test_what_else_the_server_tells(served: Served) -> None:
    async with served.client() as client:
        health, ready, key = await client.health(), await client.ready(), await client.key()
        library, tools = await client.library(), await client.tools()
        with pytest.raises(Refused) as undetected:
            await client.detect("hello")
    assert (health.version, ready.serves, ready.adapters[0].name) == (__version__, True, "shop")
    assert (key.adapter, key.role, key.user_id, key.may["feedback"]) == (
        "shop",
        "user",
        "ana",
        True,
    )
    assert {each["id"] for each in library.templates} == {each["id"] for each in TEMPLATES}
    assert {each["function"]["name"] for each in tools} == {each["id"] for each in TEMPLATES}
    assert undetected.value.code == "intents_undefined"


async def test_an_opinion_is_about_an_answer_of_the_same_key(served: Served) -> None:
    async with served.client() as client, served.client("admin") as other:
        answer = await client.ask("How many orders are there?", session_id="s")
        await client.feedback(answer, "wrong", comment="I meant customers", expected="count_orders")
        with pytest.raises(Refused) as unknown:
            await other.feedback(answer.request_id, "right")
        assert unknown.value.code == "turn_unknown"
        explained = await other.ask("How many orders are there?", explain=True)
    assert explained.trace is not None
    assert "details" not in explained.trace[0]
    assert len(explained.trace) > 3


async def test_a_wrong_key_and_somebody_elses_name_are_refused(served: Served) -> None:
    async with AsyncClient(served.url, "wrong") as client:
        with pytest.raises(KeyRefused) as wrong:
            await client.ask("hello")
    async with served.client() as client:
        with pytest.raises(KeyRefused) as foreign:
            await client.for_user("bob", "admin", secret="guessed").ask("hello")
    assert (wrong.value.code, foreign.value.code) == ("key_unknown", "gateway_refused")


async def test_the_one_that_waits_does_the_same(served: Served) -> None:
    def work() -> tuple[Answer, str, Answer, Any]:
        with Client(served.url, served.keys["user"]) as client:
            answer = client.ask("How many orders are there?")
            with client.stream("Show order 12") as pieces:
                said = "".join(piece.text for piece in pieces)
            held = client.ask("delete order 9").proposal
            assert held is not None
            return answer, said, client.confirm(held), client.tools()

    answer, said, done, tools = await asyncio.to_thread(work)
    assert (answer.outcome, done.outcome, len(tools)) == ("done", "done", len(TEMPLATES))
    assert "Porto" in said or "Lisbon" in said


def test_the_page_and_the_document_name_the_same_metadata() -> None:
    page = DOCS.read_text("utf-8")
    rows = " ".join(re.findall(r"^\| (`metadata\..*?) \|", page, re.MULTILINE))
    named = set(re.findall(r"`metadata\.(\w+)`", rows))
    elsewhere = {"blocked", "guard", "proposal"}
    assert all(f"`metadata.{name}" in page for name in elsewhere)
    assert named | elsewhere == set(AnswerMetadata.model_fields)
