"""All rows as CSV: asked for with Accept, and fetched by the link of an answer that was cut."""

import asyncio
import csv
import io
import json
import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from server.access.models import NewKey
from server.api.csv_rows import csv_text, prefers_csv
from server.conversation.downloads import DOWNLOADS
from tests.adapters.cities import composite
from tests.support.api import served_on_loopback
from tests.support.audit import audited
from tests.support.sql_shop import CARDS, CITY, Shop, asking, open_shop

pytestmark = pytest.mark.anyio

CSV = {"accept": "text/csv"}
ORDERS = 1200
IN_CITY = ORDERS // 3
GUARDED = asking(
    "payments_in_city",
    "SELECT id, total FROM orders WHERE city = :city",
    ["What was paid in Lisbon?", "payments made in Porto", "sums paid in Dublin"],
    parameters=[CITY],
    rate_limit="2/hour",
    allowed_roles=["user", "admin"],
)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


EVERY = asking(
    "every_order",
    "SELECT id, customer FROM orders",
    ["List every order", "every order there is", "show all orders at once"],
)


@pytest.fixture(scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    limits = {"max_rows": 50, "csv": {"max_rows": 500, "expires_after_s": 60}}
    async with open_shop(
        folder, orders=ORDERS, templates=[CARDS, GUARDED, EVERY], sql=limits
    ) as opened:
        yield opened


def read(response: httpx.Response) -> list[list[str]]:
    assert response.headers["content-type"] == "text/csv; charset=utf-8", response.text
    return list(csv.reader(io.StringIO(response.text, newline="")))


async def link_of(shop: Shop, message: str = "Show me the orders in Lisbon") -> str:
    answer = await shop.ask(message)
    url: str = answer["metadata"]["download"]["url"]
    return url


async def test_a_question_that_reads_a_database_is_answered_with_all_rows(shop: Shop) -> None:
    response = await shop.send("Show me the orders in Dublin", "rows", **CSV)
    lines = read(response)
    assert lines[:2] == [
        ["id", "customer", "ordered", "total"],
        ["2", "'=cmd|' /C calc'!A0", "2026-03-03", "201"],
    ]
    assert len(lines) == 1 + IN_CITY
    assert response.headers["x-session-id"] == "rows"
    assert response.headers["content-disposition"] == 'attachment; filename="shop.csv"'
    assert response.text.endswith("\r\n")


async def test_a_conversation_goes_on_after_rows(shop: Shop) -> None:
    await shop.send("Show me the orders in Dublin", "on", **CSV)
    answer = await shop.ask("and in Porto?", "on")
    execution = answer["metadata"]["tool_execution"]
    assert execution["parameters"] == {"city": "Porto"}
    rows = read(await shop.send("what about Lisbon?", "on", **CSV))
    assert rows[1][1] == "Ana Silva"


async def test_no_row_is_a_header_alone(shop: Shop) -> None:
    assert read(await shop.send("Show order 99999", **CSV)) == [
        ["id", "customer", "city", "ordered", "total"]
    ]


@pytest.mark.parametrize(
    ("message", "what"),
    [
        ("Which planet is this?", "nearest"),
        ("Delete order 12", "proposal"),
        ("Show order", "missing"),
    ],
)
async def test_anything_else_is_answered_as_usual(shop: Shop, message: str, what: str) -> None:
    response = await shop.send(message, **CSV)
    assert response.headers["content-type"] == "application/json"
    assert what in response.json()["metadata"]


async def test_sensitive_columns_are_redacted_in_csv(shop: Shop) -> None:
    rows = read(await shop.send("Which cards paid in Lisbon?", **CSV))
    assert rows[:2] == [["id", "card"], ["3", "[REDACTED]"]]


async def test_a_cut_answer_has_a_link_to_all_rows(shop: Shop) -> None:
    answer = await shop.ask("Show me the orders in Lisbon")
    result = answer["metadata"]["tool_execution"]["result"]
    assert (result["row_count"], result["truncated"]) == (50, True)
    assert answer["content"].endswith("The first 20 of more than 50.")
    download = answer["metadata"]["download"]
    assert download["content_type"] == "text/csv; charset=utf-8"
    expires = datetime.fromisoformat(download["expires_at"])
    assert timedelta(seconds=30) < expires - datetime.now(UTC) <= timedelta(seconds=60)
    assert "isbon" not in json.dumps(download)
    for _ in range(2):
        assert len(read(await shop.client.get(download["url"]))) == 1 + IN_CITY


async def test_a_link_outlives_the_server_that_made_it(shop: Shop) -> None:
    url = await link_of(shop)
    downloads = shop.app.state.api.adapters.get("shop").downloads
    await downloads._behind.flush()
    assert len(read(await shop.client.get(url))) == 1 + IN_CITY


@pytest.mark.parametrize("message", ["How many orders are there?", "Which cards paid in Lisbon?"])
async def test_whole_answers_and_sensitive_ones_have_no_link(shop: Shop, message: str) -> None:
    assert "download" not in (await shop.ask(message))["metadata"]


async def unknown(shop: Shop, url: str, headers: dict[str, str] | None = None) -> None:
    response = await shop.client.get(url, headers=headers)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (404, "download_unknown"), response.text


async def test_unknown_foreign_and_expired_links_are_one_answer(shop: Shop) -> None:
    url = await link_of(shop)
    await unknown(shop, "/downloads/nothing")
    await unknown(shop, url, await shop.key())
    store = shop.app.state.api.adapters.get("shop").downloads
    await store._behind.flush()
    past = DOWNLOADS.update().values(expires_at=datetime.now(UTC))
    await store._database.run(lambda c: c.execute(past))
    await unknown(shop, url)
    await store.tidy()
    left = sa.select(sa.func.count()).select_from(DOWNLOADS)
    assert await store._database.run(lambda c: c.execute(left).scalar()) == 0


async def test_without_a_key_nothing_is_fetched(shop: Shop) -> None:
    url = await link_of(shop)
    response = await shop.client.get(url, headers={"authorization": "Bearer nobody"})
    assert (response.status_code, response.json()["error"]["code"]) == (401, "key_unknown")


async def test_forgetting_a_conversation_forgets_its_links(shop: Shop) -> None:
    answer = await shop.ask("Show me the orders in Lisbon", "gone")
    assert (await shop.client.delete("/chat/sessions/gone")).status_code == 204
    await unknown(shop, answer["metadata"]["download"]["url"])


async def test_policy_holds_for_a_download_as_for_the_call(shop: Shop) -> None:
    raw, key = await shop.app.state.api.keys.create(NewKey("shop", user_id="ana"))
    mine = {"authorization": f"Bearer {raw}"}
    answer = (await shop.send("What was paid in Lisbon?", **mine)).json()
    url = answer["metadata"]["download"]["url"]
    assert (await shop.client.get(url, headers=mine)).status_code == 200
    refused = await shop.client.get(url, headers=mine)
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limited")
    assert int(refused.headers["retry-after"]) > 0
    await unknown(shop, url, await shop.key(user_id="bob"))
    await shop.app.state.api.changes.trail.flush()
    calls = audited(shop.settings, key_id=key.key_id)
    assert [event["outcome"] for event in calls] == ["success", "success", "rate_limited"]
    assert [event["arguments"] for event in calls] == [{"city": "Lisbon"}] * 3


async def test_what_is_cut_on_the_way_is_no_whole_response(shop: Shop) -> None:
    async with served_on_loopback(shop.app) as address, httpx.AsyncClient() as client:
        url, headers = f"{address}/chat", {**shop.client.headers, **CSV}
        headers.pop("host", None)
        body = {"message": "Show me the orders in Lisbon"}
        whole = await client.post(url, json=body, headers=headers)
        assert len(read(whole)) == 1 + IN_CITY
        with pytest.raises(httpx.RemoteProtocolError, match="incomplete"):
            await client.post(url, json={"message": "every order there is"}, headers=headers)


async def test_a_database_that_is_gone_is_a_named_answer(tmp_path: Path) -> None:
    async with open_shop(tmp_path, sql={"max_rows": 5}) as shop:
        url = await link_of(shop)
        with sqlite3.connect(shop.database) as connection:
            connection.execute("ALTER TABLE orders RENAME TO gone")
        connection.close()
        answer = (await shop.send("Show me the orders in Lisbon", **CSV)).json()
        assert answer["metadata"]["tool_execution"]["status"] == "error"
        failed = await shop.client.get(url)
        assert (failed.status_code, failed.json()["error"]["code"]) == (503, "download_failed")


async def test_streams_and_completions_carry_rows_links_and_charts(shop: Shop) -> None:
    body = {"message": "Show me the orders in Lisbon", "stream": True}
    streamed = await shop.client.post("/chat", json=body, headers=CSV)
    assert streamed.headers["content-type"].startswith("text/event-stream")
    last = json.loads(streamed.text.strip().splitlines()[-1].removeprefix("data: "))
    assert last["metadata"]["download"]["url"].startswith("/downloads/")
    asked = {"model": "shop", "messages": [{"role": "user", "content": "Revenue by city"}]}
    done = (await shop.client.post("/v1/chat/completions", json=asked)).json()
    assert done["choices"][0]["message"]["content"].splitlines()[0] == "| city | orders | revenue |"
    assert done["orbit"]["metadata"]["chart"]["mark"] == {"type": "bar"}


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"), ("+49 30 1", "'+49 30 1"), ("-cmd", "'-cmd"), ("@sum", "'@sum"),
        ("\tx", "'\tx"), ("\rx", "\"'\rx\""), ("-12.50", "-12.50"), ("+49", "+49"), (-5, "-5"),
        ('say "a"', '"say ""a"""'), ("a,b", '"a,b"'), ("a\nb", '"a\nb"'), (None, ""),
        (True, "true"), (2.5, "2.5"), ({"a": [1]}, '"{""a"":[1]}"'), ("é", "é"),
    ],
)  # fmt: skip
def test_a_cell_is_as_rfc_4180_has_it_and_no_formula(cell: Any, written: str) -> None:
    assert csv_text([[cell, "x"]]) == f"{written},x\r\n"


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("text/csv", True), ("text/csv, application/json;q=0.5", True), ("TEXT/CSV;q=0.9", True),
        ("application/json, text/csv;q=0.5", False), ("text/csv, application/json", False),
        ("*/*", False), ("text/csv;q=0", False), ("text/csv;q=x", False), (None, False),
    ],
)  # fmt: skip
def test_csv_is_for_those_who_prefer_it(accept: str | None, wanted: bool) -> None:
    assert prefers_csv(accept) is wanted


ENDLESS = asking(
    "count_up",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) "
    "SELECT i FROM n",
    ["Count up for ever", "count upwards without an end", "all numbers one after the other"],
)


async def outcomes(shop: Shop) -> list[str]:
    await shop.app.state.api.changes.trail.flush()
    return [event["outcome"] for event in audited(shop.settings, template_id="count_up")]


async def test_who_leaves_or_reads_too_slowly_ends_the_statement(tmp_path: Path) -> None:
    limits = {"max_rows": 5, "connections": 2, "csv": {"timeout_s": 1.5}}
    async with open_shop(tmp_path, templates=[ENDLESS], sql=limits) as shop:
        headers = {**shop.client.headers, **CSV}
        headers.pop("host", None)
        body = {"message": "Count up for ever"}
        async with served_on_loopback(shop.app) as address, httpx.AsyncClient() as client:
            url = f"{address}/chat"
            async with client.stream("POST", url, json=body, headers=headers) as leaving:
                assert leaving.headers["content-type"].startswith("text/csv")
                # One of two connections may be taken by rows.
                busy = (await shop.send("Count up for ever", **CSV)).json()
                assert "as many downloads" in busy["content"]
                assert (await shop.ask("How many orders are there?"))["content"] == "orders: **60**"
            while "interrupted" not in await outcomes(shop):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            with pytest.raises(httpx.RemoteProtocolError, match="incomplete"):
                await client.post(url, json=body, headers=headers)
        assert await outcomes(shop) == ["error", "interrupted", "timeout"]


async def test_a_link_of_an_adapter_behind_another_runs_by_its_rules(tmp_path: Path) -> None:
    limits = {"max_rows": 5, "csv": {"max_rows": 20}}
    before = composite(["shop"])
    async with open_shop(tmp_path, others=[before], sql=limits) as shop:
        cities = await shop.key("cities")
        answer = (await shop.send("Show me the orders in Lisbon", **cities)).json()
        assert answer["metadata"]["answered_by"]["adapter"] == "shop"
        url = answer["metadata"]["download"]["url"]
        assert len(read(await shop.client.get(url, headers=cities))) == 1 + 20
        await unknown(shop, url)
        rows = await shop.send("Show me the orders in Porto", **cities, **CSV)
        assert len(read(rows)) == 1 + 20
