"""docs/tools.md says what questions about rows come to: every line of its table is read."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from server.text.parsed_text import ParsedText
from server.text.rows.reader import read_row_question
from server.tools.builtin.json_transform import JsonTransform

PAGE = (Path(__file__).parents[3] / "docs" / "tools.md").read_text(encoding="utf-8")
TABLE = PAGE.split("<!-- rows -->")[1].split("<!-- end -->")[0]
CARS = [
    {"model": "Golf", "year": 2015, "color": "red", "price": 9000, "sold": True},
    {"model": "Clio", "year": 2021, "color": "blue", "price": 14500, "sold": False},
]


def lines() -> list[tuple[str, str]]:
    rows = [re.fullmatch(r"\| (.+) \| (.+) \|", line) for line in TABLE.strip().splitlines()[2:]]
    return [(row[1], row[2]) for row in rows if row]


def test_every_line_can_be_read() -> None:
    assert len(lines()) == len(TABLE.strip().splitlines()) - 2 >= 10


@pytest.mark.parametrize(("asked", "said"), lines())
def test_a_line_of_the_table_is_true(asked: str, said: str) -> None:
    reading = ParsedText(f"{asked} {json.dumps(CARS)}", datetime(2026, 3, 1, tzinfo=UTC), "mdy")
    found = read_row_question(reading, reading.of("array")[0])
    arguments = {"data": CARS, "query": found.query}
    assert JsonTransform().run("query", arguments)["read_as"] == said


@pytest.mark.parametrize("asked", ["red cars in Oslo", "standard deviation of price", "over 2000"])
def test_what_the_page_says_is_not_read_is_not(asked: str) -> None:
    reading = ParsedText(f"{asked} {json.dumps(CARS)}", datetime(2026, 3, 1, tzinfo=UTC), "mdy")
    assert read_row_question(reading, reading.of("array")[0]).query is None
