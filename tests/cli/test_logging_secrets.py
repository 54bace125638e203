"""Whatever the log level, no log shows the key of a service."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

from server.cli.logs import set_up_logging
from server.library.http_auth import HttpAuth
from server.settings.models import LoggingSettings
from tests.tools.http.calls import FAST, once
from tests.tools.http.upstream import always, reply, upstream


@pytest.fixture(autouse=True)
def loggers_as_before() -> Iterator[None]:
    root, levels = logging.getLogger(), {}
    handlers, level = root.handlers[:], root.level
    for name in ("httpx", "httpcore", "chromadb", "uvicorn.access"):
        levels[name] = logging.getLogger(name).level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in levels.items():
        logging.getLogger(name).setLevel(before)


def test_a_key_in_the_query_or_a_header_is_not_logged(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging(LoggingSettings(level="debug"))
    logging.getLogger("server").debug("logging is on")

    async def run() -> None:
        key = HttpAuth("api_key", secret="hunter2", name="appid", place="query")
        async with upstream(always(reply({"ok": True}))) as service:
            signed = replace(FAST, auth=key)
            await once(service, "GET", "/x", service=signed, headers={"X-Key": "swordfish"})

    asyncio.run(run())
    logged = capsys.readouterr().err
    assert "logging is on" in logged
    assert "hunter2" not in logged
    assert "swordfish" not in logged
