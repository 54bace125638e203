"""Values of a database in whole conversations, while the data change."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from server.adapters.local import open_adapter
from server.chat.pipeline import run_turn
from server.core.decision import Answer, Call
from server.core.turn import Caller, Turn
from server.settings.loader import load_settings
from tests.databases.outfitter_data import make_database
from tests.databases.test_outfitter import FOLDER

pytestmark = pytest.mark.anyio

Say = Callable[[str], Awaitable[Answer]]


@pytest.fixture
async def say(tmp_path: Path) -> AsyncIterator[Say]:
    """Say something in one conversation with the outfitter's library."""
    make_database(tmp_path / "shop.db")
    adapter = {
        "name": "outfitter",
        "implementation": "retrievers.implementations.intent.IntentSQLRetriever",
        "database": str(tmp_path / "shop.db"),
        "config": {
            "domain_config_path": str(FOLDER / "domain.yaml"),
            "template_library_path": str(FOLDER / "templates.yaml"),
        },
    }
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({"data_dir": "data", "adapters": [adapter]}))
    settings = load_settings(config, {}).settings
    assert settings is not None
    caller, session = Caller("local", "outfitter"), uuid4().hex
    async with open_adapter(settings, {}, settings.adapters[0], remembers=True) as opened:

        async def answer(text: str) -> Answer:
            now = datetime(2026, 11, 22, 12, tzinfo=UTC)
            turn = Turn(uuid4().hex, text, session, caller, now, continues=True)
            return await run_turn(opened, turn, timeout_s=30)

        yield answer


def called(answer: Answer) -> dict[str, Any]:
    assert isinstance(answer.decision, Call), answer.content
    return dict(answer.decision.call.arguments)


def asked(answer: Answer) -> list[tuple[str, list[str]]]:
    return [(one["name"], one.get("choices", [])) for one in answer.metadata.get("missing", [])]


async def test_an_unknown_value_is_asked_about_and_the_answer_goes_on(say: Say) -> None:
    answer = await say("How many orders from Frence?")
    assert called(answer) == {"country": "France"}  # a slip of the pen
    answer = await say("How many orders from Freedonia?")
    assert asked(answer) == [
        ("country", ["Canada", "France", "Germany", "Italy", "United Kingdom"])
    ]
    assert "There is no country “Freedonia”. Did you mean Canada" in answer.content
    answer = await say("germany")
    assert called(answer) == {"country": "Germany"}


async def test_a_value_that_comes_while_it_runs_is_found(say: Say, tmp_path: Path) -> None:
    assert asked(await say("List all refunded orders")) != []
    changed = sqlite3.connect(tmp_path / "shop.db")
    changed.execute("UPDATE orders SET status = 'Refunded' WHERE id = 7")
    changed.commit()
    changed.close()
    answer = await say("List all refunded orders")
    assert called(answer)["status"] == "Refunded"
    assert answer.metadata["tool_execution"]["result"]["row_count"] == 1
