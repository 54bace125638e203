"""docs/specifications.md says of each requirement where it is met, and what it names is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "specifications.md").read_text(encoding="utf-8")
MARKS = {"✓", "≈", "○"}


def rows() -> list[list[str]]:
    tables = PAGE.partition("\n## ")[2]
    found = [line for line in tables.splitlines() if line.startswith("| ")]
    split = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in found]
    return [row for row in split if row[1:] != ["requirement", "where"]]


def test_each_requirement_has_a_mark_and_a_place() -> None:
    assert len(rows()) > 100
    assert [row for row in rows() if len(row) != 3 or row[0] not in MARKS or not row[2]] == []


def test_each_of_the_five_has_its_table() -> None:
    tables = re.findall(r"^## (.+)\n(?:.*\n)*?\| \| requirement \| where \|$", PAGE, re.MULTILINE)
    assert tables == re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    assert len(tables) == 5


def test_examples_and_configurations_that_it_names_are_there() -> None:
    named = set(re.findall(r"`((?:examples|config)/[\w./-]+)`", PAGE))
    assert named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
