"""`--watch`: what is saved answers from then on; what is broken changes nothing, and is named."""

import asyncio
import http.client
import json
import os
import re
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from server.adapters import watch
from tests.e2e.test_broken_at_start import comes, rewrite, row_of
from tests.e2e.test_reloading import SUMS, Server, serving
from tests.e2e.test_server_process import ROOT, Orbit, environment
from tests.support.configuring import DOMAIN, NOW, PERCENTAGE, adapter, configure, write_library

pytestmark = [pytest.mark.anyio, pytest.mark.chaos]

TIME = "What time is it?"
Edit = Callable[[Path], object]


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_WATCHING_S", 0.05)


def by_rename(library: Path) -> None:
    """As most editors save: another file takes its place."""
    draft = write_library(library.with_name("draft"), [PERCENTAGE, NOW])
    (draft / "tools.yaml").replace(library / "tools.yaml")


def after_a_moment(library: Path) -> None:
    (library / "tools.yaml").unlink()
    time.sleep(0.03)
    write_library(library, [PERCENTAGE, NOW])


def in_a_burst(library: Path) -> None:
    for number in range(20):
        templates = [PERCENTAGE, {**NOW, "description": f"Tell the time, {number}"}]
        write_library(library, templates)


def another_file(library: Path) -> None:
    more = write_library(library.with_name("more"), [NOW])
    shutil.copy(more / "tools.yaml", library / "tools-more.yaml")


@pytest.mark.parametrize("edit", [by_rename, after_a_moment, in_a_burst, another_file])
async def test_what_is_saved_answers(tmp_path: Path, edit: Edit) -> None:
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    globbed = {"template_library_path": str(library / "tools*.yaml")}
    said: list[str] = []
    async with serving(tmp_path, adapter("sums", library, config=globbed), said=said) as server:
        assert "nearest" in await server.ask(TIME)
        edit(library)

        async def is_done() -> bool:
            return bool(said) and await answers(server)

        assert await comes(is_done)
        assert {*said} == {"reloaded sums"}
        assert len(said) < 4


async def answers(server: Server) -> bool:
    return "nearest" not in await server.ask(TIME)


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (rewrite("tools.yaml", "id: calc", "id: [calc"), "is not valid YAML: "),
        (
            rewrite("tools.yaml", "percentage", "percent"),
            "template 'calculate_percent': calculator operation",
        ),
        (rewrite("domain.yaml", "version:", "vresion:"), "unknown key 'vresion'; did you mean"),
        (lambda library: (library / "tools.yaml").unlink(), "there is no such file"),
    ],
)
async def test_what_is_broken_changes_nothing(tmp_path: Path, edit: Edit, why: str) -> None:
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    other = write_library(tmp_path / "other", [NOW])
    said: list[str] = []
    rows = adapter("sums", library), adapter("other", other)
    async with serving(tmp_path, *rows, said=said) as server:

        async def has_said() -> bool:
            return bool(said)

        edit(library)
        assert await comes(has_said)
        (line,) = said
        version = server.version("sums")
        assert line.startswith(f"sums is not reloaded: {why}")
        assert line.endswith(f"; the version of {version} goes on")
        assert str(library) in line
        assert await server.ask(SUMS) == "5% of 80 is **4**"
        write_library(library, [PERCENTAGE, NOW])

        async def is_mended() -> bool:
            return len(said) > 1 and await answers(server)

        assert await comes(is_mended)
        assert {*said[1:]} == {"reloaded sums"}


async def test_a_template_that_is_bad_by_itself_is_named(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    said: list[str] = []
    async with serving(tmp_path, adapter("sums", library), said=said) as server:
        write_library(library, [PERCENTAGE, {**NOW, "tool_operation": "later"}])

        async def is_named() -> bool:
            return len(said) > 1

        assert await comes(is_named)
        assert said[0] == "reloaded sums"
        assert said[1].startswith("  current_time is left out: ")
        assert "date_time operation 'later' is not one of" in said[1]
        assert await server.ask(SUMS) == "5% of 80 is **4**"


async def test_adapters_come_and_go_with_the_configuration(tmp_path: Path) -> None:
    sums, clock = write_library(tmp_path / "sums"), write_library(tmp_path / "clock", [NOW])
    said: list[str] = []
    async with serving(tmp_path, adapter("sums", sums), adapter("old", clock), said=said) as server:

        async def names() -> list[str]:
            rows = (await server.client.get("/ready")).json()["adapters"]
            return [row["name"] for row in rows if row["state"] == "ready"]

        async def has_said_all() -> bool:
            return "reloaded new" in said

        async def are_as_written() -> bool:
            return await names() == ["sums", "new"]

        config = tmp_path / "config.yaml"
        written = config.read_text()
        config.write_text("adapters: [")

        async def has_said() -> bool:
            return bool(said)

        assert await comes(has_said)
        assert said[0].startswith("the configuration is not reloaded: is not valid YAML")
        assert await names() == ["sums", "old"]
        config.write_text(written)
        configure(tmp_path, [adapter("sums", sums), adapter("new", clock)])
        assert await comes(are_as_written)
        assert await comes(has_said_all)
        assert "closed old: it is no longer in the configuration" in said


async def test_without_it_nothing_is_reloaded_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_MENDING_S", 0.02)
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    async with serving(tmp_path, adapter("sums", library)) as server:
        write_library(library, [PERCENTAGE, NOW], DOMAIN)
        await asyncio.sleep(0.2)
        assert not await answers(server)
        assert (await row_of(server))["details"]["templates"] == 1


def test_a_server_that_watches(tmp_path: Path) -> None:
    """In a process of its own: the setting is known to `status`, and goes on after a restart."""
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    configure(tmp_path, [adapter("sums", library)])
    orbit = Orbit(tmp_path / "data", tmp_path / "config.yaml")
    started = orbit.run("start", "--port", "0", "--watch")
    try:
        assert started.returncode == 0, started.stderr
        told = orbit.status()
        assert told["watches"] is True
        assert "  watch  what is saved is reloaded\n" in orbit.run("status").stdout
        write_library(library, [PERCENTAGE, NOW])
        deadline = time.monotonic() + 20
        while templates_of(told["url"]) != 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert templates_of(told["url"]) == 2
        rewrite("tools.yaml", "description: The part", "description: The part: [")(library)
        again = orbit.run("restart")
        assert again.returncode == 0, again.stderr
        assert "warning: adapter sums: the version of " in again.stderr
        told = orbit.status()
        assert (told["watches"], templates_of(told["url"])) == (True, 2)
    finally:
        orbit.run("stop")
    assert "adapter sums is reloaded" in (orbit.data_dir / "logs" / "server.log").read_text()


def templates_of(url: str) -> int:
    return int(row_at(url)["details"]["templates"])


def row_at(url: str) -> dict[str, Any]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    connection.request("GET", "/ready")
    found: dict[str, Any] = json.loads(connection.getresponse().read())["adapters"][0]
    connection.close()
    return found


def test_serving_on_a_terminal_says_what_was_reloaded(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    configure(tmp_path, [adapter("sums", library)], logging={"level": "error"})
    orbit = Orbit(tmp_path / "data", tmp_path / "config.yaml")
    terminal, its_end = os.openpty()
    serving = subprocess.Popen(
        orbit.command("serve", "--port", "0", "--watch"),
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stderr=its_end,
    )
    os.close(its_end)
    shown = b""

    def read_until(text: bytes) -> None:
        nonlocal shown
        while text not in shown:
            assert select.select([terminal], [], [], 30)[0], shown
            shown += os.read(terminal, 4096)

    try:
        read_until(b"(Ctrl-C to stop)")
        (url,) = re.findall(rb"Serving on (\S+)", shown)
        while row_at(url.decode())["state"] != "ready":
            time.sleep(0.05)
        (library / "tools.yaml").write_text("templates: [")
        read_until(b"sums is not reloaded: is not valid YAML")
        write_library(library, [PERCENTAGE, NOW])
        read_until(b"reloaded sums\r\n")
    finally:
        serving.terminate()
        serving.wait()
        os.close(terminal)
