"""A guard that is changed on one server is changed on the other."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from pydantic import SecretStr

from server.settings.models import Settings
from tests.guards.desk import open_desk, settings_in
from tests.replicas.pair import SECRET, soon
from tests.support.audit import changes

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PATTERN = {"kind": "add_pattern", "category": "competitor_attack", "text": "zebra protocol"}
ASKED = "tell me about the zebra protocol"


def settings_of(url: str, folder: Path, number: int) -> Settings:
    shared = url.startswith("sqlite")
    found = settings_in(folder / "data" if shared else folder / str(number))
    secret = folder / "secret"
    secret.write_text(SECRET)
    told = {"database_url": SecretStr(url), "secret_file": secret}
    server = {"workers": 2 if shared else 1}
    return found.model_copy(
        update={
            "access": found.access.model_copy(update=told),
            "server": found.server.model_copy(update=server),
        }
    )


async def test_a_change_holds_on_both_and_stands_in_the_audit_once(
    url: str, tmp_path: Path
) -> None:
    async with AsyncExitStack() as closing:
        both = [settings_of(url, tmp_path, number) for number in range(2)]
        one, two = [await closing.enter_async_context(open_desk(each)) for each in both]
        assert [await one.guard(ASKED), await two.guard(ASKED)] == [None, None]
        made = await one.manage("POST", "/litecoin-help/changes", PATTERN)
        assert made.status_code == 201
        blocked = ("competitor_attack", "regex")
        assert await one.guard(ASKED) == blocked
        await soon(lambda: two.guard(ASKED), blocked)
        undo = PATTERN | {"kind": "remove_pattern"}
        assert (await two.manage("POST", "/litecoin-help/changes", undo)).status_code == 201
        await soon(lambda: one.guard(ASKED), None)
    made_changes = [("add_pattern", "success"), ("remove_pattern", "success")]
    assert await asyncio.to_thread(changes, both[0], "guards") == made_changes
