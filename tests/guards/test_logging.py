"""What guards write to the log, as lines for people and as JSON."""

import json
import logging
from pathlib import Path

import pytest

from server.cli.logs import JsonLines
from tests.guards.desk import open_desk, settings_in
from tests.guards.encoders import Breaking

pytestmark = pytest.mark.anyio


async def test_blocks_are_info_all_else_debug_and_failures_warnings(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_in(data, embedding_provider="tests.guards.encoders.Breaking")
    with caplog.at_level(logging.DEBUG, "server.guards"):
        async with open_desk(settings) as desk:
            await desk.ask("Should I buy now? I am jane@example.org")
            await desk.ask("What is MWEB?")
            Breaking.failing = 1
            await desk.ask("How do I send coins to a friend?")
    records = [r for r in caplog.records if r.name.startswith("server.guards")]
    assert [record.levelname for record in records] == ["INFO", "DEBUG", "WARNING", "DEBUG"]
    row = json.loads(JsonLines().format(records[0]))
    assert (row["level"], row["outcome"], row["category"], row["method"], row["question"]) == (
        "info",
        "block",
        "price_speculation",
        "regex",
        "Should I buy now? I am [email]",
    )
    assert "jane@example.org" not in caplog.text
    assert "guard stage semantic failed: the encoder is broken" in caplog.text
