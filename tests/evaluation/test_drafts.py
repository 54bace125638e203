"""Drafts are tried in a folder of their own, which goes with whoever wanted to know."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from server.adapters.build import build_adapter
from server.adapters.resources import SharedResources
from server.errors import DraftBusy
from server.evaluation.drafts import DraftDesk, DraftTrial
from tests.e2e.test_broken_at_start import comes
from tests.support.configuring import PERCENTAGE, adapter, configure, write_library

pytestmark = pytest.mark.anyio


async def compared(work: Callable[[], Awaitable[DraftTrial]]) -> DraftTrial:
    """What comes of it as soon as there is room."""
    async with asyncio.timeout(20):
        while True:
            try:
                return await work()
            except DraftBusy:
                await asyncio.sleep(0.02)


async def test_who_leaves_makes_room_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    found = configure(tmp_path, [adapter("sums", library)])
    (settings,) = found.settings.adapters
    resources = await SharedResources.open(found.settings, {})
    running, desk = await build_adapter(settings, resources), DraftDesk(resources)
    texts = {library / "tools.yaml": (library / "tools.yaml").read_bytes() + b"# draft\n"}
    first = asyncio.create_task(desk.compare(running, settings, texts))

    async def has_begun() -> bool:
        return bool([*scratch.iterdir()])

    assert await comes(has_begun)
    with pytest.raises(DraftBusy):
        await desk.compare(running, settings, texts)
    first.cancel()
    await asyncio.wait([first])
    assert first.cancelled()
    trial = await compared(lambda: desk.compare(running, settings, texts))
    assert trial.diff is not None
    assert (trial.diff.asked, trial.diff.changes) == (3, ())
    assert [*scratch.rglob("*")] == []
    await desk.close()
    await running.close()
    await resources.close()
