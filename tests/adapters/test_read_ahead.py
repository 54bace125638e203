"""The table of units is read beside the event loop, and only where sums can be asked for."""

import threading
from pathlib import Path
from typing import Any

import pytest

from server.adapters import read_ahead
from server.adapters.read_ahead import read_units_ahead
from tests.support.api import running
from tests.support.configuring import PERCENTAGE, adapter, configure, write_library

pytestmark = pytest.mark.anyio

SUM: dict[str, Any] = {
    "id": "work_out",
    "description": "Work out a sum",
    "tool_type": "function",
    "nl_examples": ["What is 2 plus 3?", "half of 10", "work out 5 times 8"],
    "tool_name": "calculator",
    "tool_operation": "evaluate",
    "parameters": [
        {"name": "expression", "type": "expression", "description": "The sum", "required": True}
    ],
}


@pytest.mark.parametrize(("template", "reads"), [(SUM, True), (PERCENTAGE, False)])
async def test_units_are_read_beside_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, template: dict[str, Any], reads: bool
) -> None:
    by = list[threading.Thread]()
    monkeypatch.setattr(read_ahead, "load_units", lambda: by.append(threading.current_thread()))
    library = write_library(tmp_path / "sums", [template])
    found = configure(tmp_path, [adapter("sums", library)])
    async with running(found.settings, found.environ) as app:
        await read_units_ahead(app.state.api.adapters)
    assert bool(by) is reads
    assert threading.main_thread() not in by
