"""Values that a parameter's own pattern describes."""

from datetime import UTC, datetime

import pytest

from server.extraction.shapes import Shape, shape_of
from server.library.model import Parameter
from server.text.parsed_text import ParsedText
from tests.extraction.support import arguments

NOW = datetime(2025, 3, 5, 10, 0, tzinfo=UTC)
PLATE = r"^[A-Z]{2}[0-9]{2} ?[A-Z]{3}$"


def found(pattern: str, text: str) -> list[str]:
    return [value for _, _, value in Shape(pattern).find(ParsedText(text, NOW, "mdy"))]


@pytest.mark.parametrize(
    ("pattern", "text", "values"),
    [
        (r"^BK[0-9]{4}$", "cancel BK4821 and bk 1111, please", ["BK4821", "BK1111"]),
        (r"^TK-[0-9]{4}$", "refund tk2087", ["TK-2087"]),
        (r"^TK-[0-9]{4}$", "refund TK 2087 or TK-9152", ["TK-2087", "TK-9152"]),
        (PLATE, "is wx20 vbn or NM14QWE ready", ["WX20 VBN", "NM14QWE"]),
        (r"^[+]?[0-9][0-9 ]{5,16}$", "send calls to +49 30 5550144", ["+49 30 5550144"]),
        (r"^[0-9]{5}$", "outages in 04109, not in 123456", ["04109"]),
        (r"^BK[0-9]{4}$", "xBK4821 or BK48213", []),
    ],
)
def test_values_are_found_by_their_shape(pattern: str, text: str, values: list[str]) -> None:
    assert found(pattern, text) == values


def test_a_month_is_written_as_its_pattern_has_it() -> None:
    period = Parameter("period", "string", pattern=r"^[0-9]{4}-[0-9]{2}$")
    assert arguments("the October 2024 payslip", period) == {"period": "2024-10"}
    assert arguments("the payslip of 2024-10", period) == {"period": "2024-10"}
    assert arguments("the payslip of 3 October", period) == {}


@pytest.mark.parametrize("pattern", [r"^[A-Za-z ]+$", r".+", r"^[a-z]", r"^\S+$"])
def test_a_pattern_that_ordinary_words_fit_describes_nothing(pattern: str) -> None:
    assert shape_of(pattern) is None


def test_a_pattern_of_a_part_describes_no_whole() -> None:
    assert shape_of(r"BK[0-9]{4}") is None
    assert shape_of(r"^BK[0-9]{4}$") is not None


def test_a_long_text_is_read_up_to_a_limit() -> None:
    assert found(r"^BK[0-9]{4}$", "1 " * 20_000 + "BK4821") == []
