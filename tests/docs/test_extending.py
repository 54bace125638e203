"""docs/extending.md shows how to add each thing; what it shows is run, section by section."""

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"


def sections() -> dict[str, list[str]]:
    """The Python blocks of each `## ` section that has any, by its heading."""
    _, *parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = {}
    for part in parts:
        heading, _, text = part.partition("\n")
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        if blocks:
            found[heading.strip()] = blocks
    return found


@pytest.mark.parametrize("heading", sections())
def test_what_a_section_shows_works(heading: str) -> None:
    blocks = sections()[heading]
    names: dict[str, Any] = {"__name__": "extension"}
    for block in blocks:
        exec(compile(block, f"docs/extending.md: {heading}", "exec"), names)
    assert any("assert " in block for block in blocks)
