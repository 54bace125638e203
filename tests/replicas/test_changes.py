"""What is changed on one server holds on the other soon after, and stands in the audit once."""

import asyncio
import logging
from pathlib import Path

import pytest

from tests.replicas.pair import Replica, pair, soon
from tests.support.audit import changes
from tests.support.configuring import write_library
from tests.support.ollama_server import ollama_stand_in
from tests.support.sql_shop import DOMAIN, TEMPLATES, asking

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

OLDEST = asking(
    "first_day",
    "SELECT MIN(ordered) AS first FROM orders",
    ["When did the shop open its doors?", "What was the very first day?", "first day of business"],
    result_format="single",
)
ASKED = "When did the shop open its doors?"


def grow(*replicas: Replica) -> None:
    for one in replicas:
        write_library(one.library, [*TEMPLATES, OLDEST], DOMAIN)


def spoil(one: Replica) -> None:
    (one.library / "tools.yaml").write_text("templates: nobody")


async def knows(one: Replica) -> bool:
    answer = await one.ask(ASKED)
    return bool(answer["metadata"].get("template_id") == "first_day")


@pytest.mark.parametrize("path", ["/adapters/shop/reload", "/reload"])
async def test_a_reload_is_taken_up_by_the_other(url: str, tmp_path: Path, path: str) -> None:
    async with pair(url, tmp_path) as (one, two):
        grow(one, two)
        assert [await knows(one), await knows(two)] == [False, False]
        reloaded = await one.admin("POST", path)
        assert (reloaded.status_code, reloaded.json()["announced"]) == (200, True)
        assert await knows(one)
        await soon(lambda: knows(two), True)
        settings = one.settings
    assert changes(settings, "adapters").count(("reload", "success")) == 1


async def test_a_reload_that_fails_is_not_announced(url: str, tmp_path: Path) -> None:
    async with pair(url, tmp_path) as (one, two):
        before = two.app.state.api.manager.version("shop")
        spoil(one)
        refused = await one.admin("POST", "/adapters/shop/reload")
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "reload_refused")
        both = (await one.admin("POST", "/reload")).json()
        assert (both["adapters"][0]["reloaded"], both["announced"]) == (False, True)
        await one.admin("PUT", "/log-level", {"level": "warning"})  # the next one it hears of
        await asyncio.sleep(1.0)
        assert two.app.state.api.manager.version("shop") == before
        assert not await knows(two)


async def test_one_that_cannot_use_its_files_goes_on_and_says_so(
    postgresql_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with pair(postgresql_url, tmp_path) as (one, two):
        grow(one)
        spoil(two)
        assert (await one.admin("POST", "/adapters/shop/reload")).status_code == 200

        async def said() -> bool:
            return "adapter shop is not reloaded: " in caplog.text

        await soon(said, True)
        assert [await knows(one), await knows(two)] == [True, False]
        row = (await two.admin("GET", "/adapters/shop")).json()
        assert (row["state"], "not_reloaded" in row["details"]) == ("ready", True)
        grow(two)
        assert (await one.admin("POST", "/adapters/shop/reload")).status_code == 200
        await soon(lambda: knows(two), True)


async def test_one_whose_provider_is_away_takes_it_up_when_it_is_back(
    postgresql_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with ollama_stand_in() as near, ollama_stand_in() as far:
        each = [
            {"embeddings": {"ollama": {"base_url": served.base_url, "max_retries": 0}}}
            for served in (near, far)
        ]
        shop = {"embedding_provider": "ollama"}
        async with pair(postgresql_url, tmp_path, shop=shop, each=each) as (one, two):

            async def templates() -> int:
                row = (await two.admin("GET", "/adapters/shop")).json()
                return int(row["details"]["templates"])

            grow(one, two)
            far.statuses[:] = [500] * 50
            assert (await one.admin("POST", "/adapters/shop/reload")).status_code == 200

            async def said() -> bool:
                return "is not taken up yet" in caplog.text

            await soon(said, True)
            assert await templates() == len(TEMPLATES)
            far.statuses.clear()
            await soon(templates, len(TEMPLATES) + 1)


async def test_a_key_that_ends_on_one_ends_on_the_other(url: str, tmp_path: Path) -> None:
    async with pair(url, tmp_path) as (one, two):
        for store in (one.app.state.api.keys, two.app.state.api.keys):
            store._remember_s = 3600.0  # so that only an announcement can make it forget
        for how in ("revoke", "rotate"):
            raw, key_id = await one.made()

            async def status(raw: str = raw) -> int:
                body = {"message": "How many orders are there?"}
                answer = await two.client.post("/chat", json=body, headers={"X-API-Key": raw})
                return answer.status_code

            assert await status() == 200
            assert (await one.admin("POST", f"/keys/{key_id}/{how}", {})).status_code in (200, 201)
            await soon(status, 401)
        settings = one.settings
    assert changes(settings, "keys") == [("revoke", "success"), ("rotate", "success")]


async def test_a_level_of_the_log_holds_on_both(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, level: None
) -> None:
    async with pair(url, tmp_path) as (one, _):
        changed = await one.admin("PUT", "/log-level", {"level": "debug"})
        assert changed.json()["announced"] is True

        async def heard() -> int:
            return caplog.text.count("the log has level debug now, as set by process ")

        await soon(heard, 1)  # by the other: whoever sets it does not hear it
        logging.getLogger().setLevel(logging.INFO)
        settings = one.settings
    assert changes(settings, "log") == [("level", "success")]
