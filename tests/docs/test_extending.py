"""docs/extending.md: the python blocks of each section run, in order, as written."""

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
SECTIONS = {
    section.partition("\n")[0]: re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.M)
    for section in re.split(r"^## ", PAGE, flags=re.M)[1:]
}


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_does_what_it_says(section: str) -> None:
    assert SECTIONS[section]
    names: dict[str, Any] = {"__name__": "docs.extending"}
    for block in SECTIONS[section]:
        exec(compile(block, f"docs/extending.md: {section}", "exec"), names)
