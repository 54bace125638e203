"""docs/console.md calls what is in the page by the names that the page has for it."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "console.md").read_text(encoding="utf-8")
LOCALES = ROOT / "server" / "console" / "static" / "locales" / "en"
TEXTS: dict[str, str] = {
    key: text
    for path in sorted(LOCALES.glob("*.json"))
    for key, text in json.loads(path.read_text(encoding="utf-8")).items()
    if isinstance(text, str)
}
TABLES = {
    "Who sees what": "nav.",
    "Ask": "ask.as.",
    "Library": "library.tab.",
    "Operate": "operate.tab.",
}


def first_cells(section: str) -> list[str]:
    """The first cell of each row of a section's table."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \|", text, re.MULTILINE)
    return [re.sub(r"\[(.+)\]\(.+\)", r"\1", row) for row in rows[1:]]


@pytest.mark.parametrize("section", TABLES)
def test_a_table_names_all_that_the_page_has(section: str) -> None:
    names = [text for key, text in TEXTS.items() if key.startswith(TABLES[section])]
    assert sorted(first_cells(section)) == sorted(names)


def test_what_is_quoted_stands_in_the_page() -> None:
    known = {text.split("{")[0].rstrip(" “…") for text in TEXTS.values()}
    quoted = {each.rstrip(" …") for each in re.findall(r"“([A-Z][^”]*)”", " ".join(PAGE.split()))}
    assert quoted
    assert sorted(quoted - known) == []
