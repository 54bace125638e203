"""docs/extraction.md says what is true: every row of its table is run, every name is there."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from server.core.tools import SourceKind
from server.library.model import Parameter
from server.plugins import known
from tests.extraction.support import arguments

PAGE = (Path(__file__).parents[2] / "docs" / "extraction.md").read_text()
TABLE = PAGE.split("<!-- recognised -->")[1].split("<!-- end -->")[0]
ROW = re.compile(r"\| `(\w+)`( of numbers)? \| `(.+)` \| `(.+)` \|")


def rows() -> list[tuple[str, str, str, Any]]:
    found = [ROW.fullmatch(line) for line in TABLE.strip().splitlines()[2:]]
    return [
        (m[1], "number" if m[2] else "", m[3].rpartition("`")[2], json.loads(m[4]))
        for m in found
        if m
    ]


def test_every_row_can_be_read() -> None:
    assert len(rows()) == len(TABLE.strip().splitlines()) - 2 >= 30


@pytest.mark.parametrize(("kind", "items", "text", "value"), rows())
def test_a_row_of_the_table_is_true(kind: str, items: str, text: str, value: Any) -> None:
    parameter = Parameter("x", kind, items={"type": items} if items else None)
    found = arguments(text, parameter)
    assert json.loads(json.dumps(found)) == {"x": value}


def test_every_normalizer_is_named() -> None:
    for name in known("normalizer"):
        assert f"`{name}`" in PAGE


def test_every_source_of_an_argument_is_named() -> None:
    elsewhere = {"intent", "conversation", "model", "system", "given", "form"}
    for kind in set(get_args(SourceKind)) - elsewhere:
        assert f"`{kind}`" in PAGE
