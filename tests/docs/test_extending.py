"""What docs/extending.md shows is all that has to be written, and works."""

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from server import plugins

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()
SECTIONS = {
    section.partition("\n")[0]: re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    for section in PAGE.split("\n## ")[1:]
}
FILE = re.compile(r"# server/(\S+)\.py\n")
"""The first line of a block that belongs into a file of the server; others use it."""


@pytest.mark.parametrize("section", ["A chat provider", "An embedding provider", "An adapter type"])
def test_the_code_of_a_section_is_all_that_it_takes(
    section: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {kind: dict(table) for kind, table in plugins.TABLES.items()}
    monkeypatch.setattr(plugins, "TABLES", rows)
    files = []
    for block in SECTIONS[section]:
        file = FILE.match(block)
        if file is None:
            run(block, {"__name__": "extending"})
        else:
            files.append(file[1])
            run(block, namespace_of(f"server.{file[1].replace('/', '.')}", monkeypatch))
    assert len(files) == 2
    assert files[1] == "plugins"


def namespace_of(module: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of a module of the server, or of a new one that is there for this test alone."""
    if module == "server.plugins":
        return vars(importlib.import_module(module))
    made = ModuleType(module)
    monkeypatch.setitem(sys.modules, module, made)
    return vars(made)


def run(block: str, namespace: dict[str, Any]) -> None:
    exec(compile(block, "docs/extending.md", "exec"), namespace)
