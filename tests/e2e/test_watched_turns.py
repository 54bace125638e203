"""What a server leaves of its turns: the log that `diff` asks again, and usage by key."""

import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.cli.main import command_line
from server.cli.options import Configured
from tests.e2e.test_whole_server import readiness, serving
from tests.support.configuring import NOW, PERCENTAGE, adapter, configure, write_library

pytestmark = pytest.mark.anyio

CARD: dict[str, Any] = {
    "id": "check_card",
    "description": "Check the digits of a card",
    "tool_type": "function",
    "nl_examples": ["Check card 4111", "Is card 5500 valid?", "check my card 4000"],
    "tool_name": "calculator",
    "tool_operation": "round",
    "parameters": [
        {"name": "value", "type": "number", "description": "The card", "required": True}
    ],
    "sensitive_params": ["value"],
}
BOOK: dict[str, Any] = PERCENTAGE | {
    "id": "book_percentage",
    "description": "Book a percentage of a budget",
    "nl_examples": ["Book 15% of budget 200", "book 20 percent of the budget of 500"],
    "effect": "write",
}
TEMPLATES = [PERCENTAGE, NOW, BOOK]


class Desk:
    """A server that is watched, with a key that asks and one that administers."""

    def __init__(
        self, client: httpx.AsyncClient, key: str, key_id: str, admin: str, cards: str
    ) -> None:
        self.client, self.key, self.key_id, self.admin = client, key, key_id, admin
        self.cards = cards

    async def ask(
        self, message: str, session: str | None = None, *, key: str = ""
    ) -> dict[str, Any]:
        body = {"message": message} | ({"session_id": session} if session else {})
        sent = {"X-API-Key": key or self.key}
        answered = await self.client.post("/chat", json=body, headers=sent)
        found: dict[str, Any] = answered.json()
        return found

    async def usage(self, query: str = "", **headers: str) -> httpx.Response:
        sent = {"X-API-Key": self.admin} | headers
        return await self.client.get(f"/admin/usage{query}", headers=sent)


@asynccontextmanager
async def desk(configured: Configured) -> AsyncIterator[Desk]:
    settings = configured.settings
    keys = await KeyStore.open(settings.database_url, settings.secret_path)
    key, record = await keys.create(NewKey("sums"))
    admin, _ = await keys.create(NewKey("sums", role="admin"))
    cards, _ = await keys.create(NewKey("cards"))
    await keys.close()
    async with serving(configured) as client:
        await readiness(client, {"ready"})
        yield Desk(client, key, record.key_id, admin, cards)


def watched(folder: Path, **decision_log: Any) -> Configured:
    sums = write_library(folder / "sums", TEMPLATES)
    cards = write_library(folder / "cards", [CARD])
    log = {"path": str(folder / "log" / "decisions.jsonl"), **decision_log}
    adapters = [adapter("cards", cards), adapter("sums", sums)]
    return configure(folder, adapters, telemetry={"decision_log": log})


async def test_a_log_of_decisions_is_asked_again_by_diff(tmp_path: Path) -> None:
    async with desk(watched(tmp_path)) as server:
        await server.ask("what's 15% of 300", "one")
        await server.ask("and of 500?", "one")
        await server.ask("what time is it")
        await server.ask("check card 4111222233334444", key=server.cards)
        proposed = await server.ask("book 10% of budget 900", "two")
        assert proposed["metadata"]["proposal"]["status"] == "held"
        await server.ask("yes", "two")
        await server.ask("sing a song about the sea")
        failed = await server.ask("what's 15% of 300", "\n")
        assert failed["error"]["code"] == "fields_invalid"
    text = (tmp_path / "log" / "decisions.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["question"], line["masked"], line["alone"]) for line in lines] == [
        ("what's 15% of 300", False, True),
        ("and of 500?", False, False),
        ("what time is it", False, True),
        ("", True, True),
        ("book 10% of budget 900", False, True),
        ("", True, False),
        ("sing a song about the sea", False, True),
    ]
    assert [line["decision"] for line in lines] == [
        *("call", "call", "call", "call", "held", "call", "no_match"),
    ]
    first, _, _, card, *_ = lines
    assert first["template"] == PERCENTAGE["id"]
    assert first["arguments"] == {"value": 300, "percentage": 15}
    assert first["runner_up"].keys() == {"template", "confidence"}
    assert first["outcomes"] == ["success"]
    assert first["latency_ms"] > 0
    assert len(first["library"]) == 32
    assert card["arguments"] == {"value": "[REDACTED]"}
    assert sum(lines[-1]["unread"].values()) >= 2
    assert "4111222233334444" not in text

    changed = write_library(tmp_path / "changed", [PERCENTAGE, BOOK])
    log = tmp_path / "log" / "decisions.jsonl"
    args = ["diff", str(tmp_path / "sums"), str(changed), "--log", str(log), "--json"]
    done = await asyncio.to_thread(CliRunner().invoke, command_line("diff"), args)
    said = json.loads(done.stdout)
    assert (said["asked"], [change["ask"] for change in said["changes"]]) == (
        4,
        ["what time is it"],
    )
    assert "1 line left out, masked" in done.stderr
    assert "1 line left out, of other adapters" in done.stderr
    assert "1 line left out, of conversations" in done.stderr


async def test_usage_is_told_to_admins_by_key_and_as_csv(tmp_path: Path) -> None:
    configured = watched(tmp_path)
    async with desk(configured) as server:
        await server.ask("what's 15% of 300")
        await server.ask("what is 15 percent")
        await server.ask("sing a song about the sea")
        await server.ask("book 10% of budget 900", "two")
        await server.ask("yes", "two")
        refused = await server.client.get("/admin/usage", headers={"X-API-Key": server.key})
        told = (await server.usage("?by=key_id,adapter")).json()
        by_day = await server.usage("?by=day", accept="text/csv")
        wrong = await server.usage("?from=2026-99-01")
    assert refused.status_code == 403
    [row] = told["rows"]
    assert row["p50_ms"] > 0
    assert {name: value for name, value in row.items() if value and name != "p50_ms"} == {
        "key_id": server.key_id,
        "adapter": "sums",
        "turns": 5,
        "answered": 2,
        "asked_back": 2,
        "declined": 1,
        "tool_calls": 2,
        "writes_confirmed": 1,
    }
    assert by_day.headers["content-type"].startswith("text/csv")
    [csv_row] = csv.DictReader(io.StringIO(by_day.text))
    assert (csv_row["turns"], csv_row["writes_confirmed"]) == ("5", "1")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, "request_invalid")

    config = str(tmp_path / "config.yaml")
    for flag in ("--json", "--csv"):
        args = ["usage", "--config", config, flag]
        done = await asyncio.to_thread(CliRunner().invoke, command_line("usage"), args)
        rows = (
            json.loads(done.stdout)["rows"]
            if flag == "--json"
            else list(csv.DictReader(io.StringIO(done.stdout)))
        )
        assert [(each["key_id"], int(each["turns"])) for each in rows] == [(server.key_id, 5)]


async def test_usage_that_is_off_is_not_counted(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    off = {"usage": {"enabled": False}}
    async with desk(configure(tmp_path, [adapter("sums", library)], telemetry=off)) as server:
        await server.ask("what's 15% of 300")
        told = await server.usage()
    assert (told.status_code, told.json()["error"]["code"]) == (404, "usage_off")
