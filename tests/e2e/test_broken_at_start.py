"""A file that is broken at a start is served as it was, and comes back once it is mended."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from server.adapters import watch
from server.cli.launcher import ServerReadiness
from tests.e2e.test_reloading import SUMS, Server, serving
from tests.support.audit import audited
from tests.support.configuring import NOW, PERCENTAGE, adapter, configure, write_library

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TIME = "What time is it?"
SOON_S = 10.0


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_WATCHING_S", "_MENDING_S"):
        monkeypatch.setattr(watch, name, 0.05)


async def comes(wanted: Callable[[], Awaitable[bool]]) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(SOON_S):
            while not await wanted():  # noqa: ASYNC110  a server is asked
                await asyncio.sleep(0.05)
    return await wanted()


async def row_of(server: Server) -> dict[str, Any]:
    (row,) = (await server.client.get("/ready")).json()["adapters"]
    found: dict[str, Any] = row
    return found


@asynccontextmanager
async def restarted(
    folder: Path, edit: Callable[[Path], object], **config: Any
) -> AsyncIterator[Server]:
    """A server that was stopped, whose library was edited, and that was started again."""
    library = write_library(folder / "sums", [PERCENTAGE, {**NOW, "confirm": True}])
    async with serving(folder, adapter("sums", library)) as server:
        assert await server.ask(SUMS) == "5% of 80 is **4**"
    edit(library)
    async with serving(folder, adapter("sums", library, config=config)) as server:
        yield server


def rewrite(file: str, was: str, becomes: str) -> Callable[[Path], object]:
    def edit(library: Path) -> object:
        text = (library / file).read_text()
        assert was in text
        return (library / file).write_text(text.replace(was, becomes))

    return edit


UNFINISHED = rewrite("tools.yaml", "description: The part", "description: The part: [")


@pytest.mark.parametrize(
    ("edit", "templates", "left_out", "file"),
    [
        (UNFINISHED, 2, [], "tools.yaml"),
        (rewrite("domain.yaml", "description: Sums", "description: [Sums"), 2, [], "domain.yaml"),
        (
            lambda library: write_library(library, [PERCENTAGE]) and UNFINISHED(library),
            1,
            [],
            "tools.yaml",
        ),
        (
            lambda library: (
                rewrite("tools.yaml", "confirm: true", "confirm: false")(library),
                UNFINISHED(library),
            ),
            1,
            ["current_time"],
            "tools.yaml",
        ),
    ],
)
async def test_it_serves_what_still_stands(
    tmp_path: Path,
    edit: Callable[[Path], object],
    templates: int,
    left_out: list[str],
    file: str,
) -> None:
    async with restarted(tmp_path, edit) as server:
        assert await server.ask(SUMS) == "5% of 80 is **4**"
        row = await row_of(server)
        assert (row["state"], row["details"]["templates"]) == ("ready", templates)
        assert [each["template"] for each in row["details"].get("left_out", ())] == left_out
        (earlier,) = row["details"]["earlier"]
        assert (Path(earlier["file"]).name, "not valid YAML" in earlier["why"]) == (file, True)
        warned = tuple(ServerReadiness("ready", (row,)).complaints())
        assert warned[0].startswith(f"adapter sums: the version of {earlier['version']} of ")
        if templates == 1:
            assert "nearest" in await server.ask(TIME)


async def test_nothing_stands_against_a_newer_policy(tmp_path: Path) -> None:
    async with restarted(tmp_path, UNFINISHED, policy={"rate_limit": "5/hour"}) as server:
        row = await row_of(server)
        assert row["state"] == "unavailable"
        assert "the policy of the adapter in the configuration has changed" in row["why"]


async def test_a_template_that_is_bad_by_itself_is_left_out_as_ever(tmp_path: Path) -> None:
    edit = rewrite("tools.yaml", "tool_operation: now", "tool_operation: later")
    async with restarted(tmp_path, edit) as server:
        details = (await row_of(server))["details"]
        assert [each["template"] for each in details["left_out"]] == ["current_time"]
        assert "earlier" not in details


async def test_without_an_earlier_version_it_does_not_serve(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    UNFINISHED(library)
    async with serving(tmp_path, adapter("sums", library)) as server:
        row = await row_of(server)
        assert row["state"] == "unavailable"
        assert row["why"].startswith("is not valid YAML")


async def mended(server: Server) -> bool:
    row = await row_of(server)
    return row["state"] == "ready" and not {"earlier", "left_out"} & row["details"].keys()


@pytest.mark.parametrize(
    "edit",
    [
        UNFINISHED,
        rewrite("tools.yaml", "tool_operation: now", "tool_operation: later"),
        lambda library: (library / "domain.yaml").unlink(),
        lambda library: (library / "tools.yaml").write_text("templates: ["),
    ],
    ids=["earlier", "left out", "gone", "unavailable"],
)
async def test_what_was_mended_comes_back(tmp_path: Path, edit: Callable[[Path], object]) -> None:
    async with restarted(tmp_path, edit) as server:
        assert not await mended(server)
        write_library(tmp_path / "sums", [PERCENTAGE, NOW])
        assert await comes(lambda: mended(server))
        assert "nearest" not in await server.ask(TIME)
    found = configure(tmp_path, [adapter("sums", tmp_path / "sums")])
    rows = [(e["role"], e["outcome"]) for e in audited(found.settings, tool="adapters")]
    assert rows[-2:] == [("watch", "started"), ("watch", "success")]


async def test_an_entry_that_was_mended_comes_back(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    async with serving(tmp_path, adapter("sums", library, implementation="nowhere.At")) as server:
        assert (await row_of(server))["state"] == "unavailable"
        configure(tmp_path, [adapter("sums", library)])
        assert await comes(lambda: mended(server))


async def test_a_file_that_serves_no_more_is_no_reload(tmp_path: Path) -> None:
    """An open adapter is better than one that lacks the templates of a broken file."""
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    (library / "more.yaml").write_text("templates: []\n")
    both = {"template_library_path": [str(library / "tools.yaml"), str(library / "more.yaml")]}
    async with serving(tmp_path, adapter("sums", library, config=both)) as server:
        (library / "more.yaml").write_text("templates: [")
        refused = await server.reload()
        assert (refused.status_code, "not valid YAML" in refused.text) == (409, True)
        row = await row_of(server)
        assert "is not valid YAML" in row["details"]["not_reloaded"]["why"]
        (library / "more.yaml").write_text("templates: []\n")
        assert (await server.reload()).status_code == 200
        assert "not_reloaded" not in (await row_of(server))["details"]
