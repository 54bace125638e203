"""What docs/extending.md shows is all that has to be written, and works."""

import copy
import importlib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
SECTIONS = {
    section.partition("\n")[0]: re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.M)
    for section in PAGE.split("\n## ")[1:]
    if "\n```python\n" in section
}
FILE = re.compile(r"# server/(\S+)\.py\n")
"""The first line of a block that belongs into a file of the server; others use it."""


@pytest.mark.parametrize("section", SECTIONS)
def test_what_a_section_shows_is_all_that_it_takes(
    section: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    uses: dict[str, Any] = {"__name__": "extending"}
    asserts, new, changed = 0, 0, 0
    for block in SECTIONS[section]:
        code = compile(block, f"docs/extending.md: {section}", "exec")
        file = FILE.match(block)
        if file is None:
            exec(code, uses)
            asserts += "assert " in block
            continue
        name = f"server.{file[1].replace('/', '.')}"
        if importlib.util.find_spec(name) is None:
            new += 1
            module = ModuleType(name)
            monkeypatch.setitem(sys.modules, name, module)
        else:
            changed += 1
            module = with_copied_tables(name, monkeypatch)
        exec(code, vars(module))
    assert asserts > 0
    assert new <= 1
    assert changed <= 1


def with_copied_tables(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the server, whose tables may be changed until the test ends."""
    module = importlib.import_module(name)
    for attribute, value in list(vars(module).items()):
        if attribute.isupper() and isinstance(value, dict):
            monkeypatch.setattr(module, attribute, copy.deepcopy(value))
    return module
