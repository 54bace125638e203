"""Normalizers: the shipped ones, and ones of an operator's own."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from server.extraction import patterns
from server.extraction.patterns import compile_steps, run_steps
from server.library.model import Domain, NormalizerStep, Parameter, TypePatterns
from server.plugins import TABLES
from tests.extraction.support import NOW, arguments


@pytest.mark.parametrize(
    ("name", "value", "result"),
    [
        ("remove_commas", "1,500,000", "1500000"),
        ("to_int", " 1500 ", 1500),
        ("to_int", 15.0, 15),
        ("to_float", "200", 200),
        ("to_float", "2.50", 2.5),
        ("to_float", "0.1", 0.1),
        ("to_float", "0.12345678901234567891", Decimal("0.12345678901234567891")),
        ("parse_date", "March 5, 2025", "2025-03-05"),
        ("parse_date", "2025-03-05T17:30:00", "2025-03-05"),
        ("parse_date", datetime(2025, 3, 5), "2025-03-05"),
        ("lower", "ABC", "abc"),
        ("upper", "abc", "ABC"),
        ("strip", " abc, ", "abc"),
    ],
)
def test_a_normalizer_makes_of_this_value_that(name: str, value: Any, result: Any) -> None:
    made = getattr(patterns, name)(value)
    assert (type(made), made) == (type(result), result)


@pytest.mark.parametrize(
    ("name", "value"),
    [("to_int", "2.5"), ("to_int", "many"), ("to_float", "inf"), ("parse_date", "soon")],
)
def test_a_normalizer_refuses(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=value):
        getattr(patterns, name)(value)


def test_every_name_in_the_table_is_there() -> None:
    for path in TABLES["normalizer"].values():
        assert callable(getattr(patterns, path.rpartition(":")[2]))


def test_dates_follow_the_domain_and_the_day_of_the_question() -> None:
    steps = compile_steps([NormalizerStep("parse_date")])
    context = {"now": NOW, "date_order": "dmy"}
    assert run_steps(steps, "03/04/2025", context) == "2025-04-03"
    assert run_steps(steps, "tomorrow", context) == "2025-03-06"


def test_an_option_wins_over_the_context() -> None:
    steps = compile_steps([NormalizerStep("parse_date", {"date_order": "mdy"})])
    assert run_steps(steps, "03/04/2025", {"now": NOW, "date_order": "dmy"}) == "2025-03-04"


def to_code(value: Any, *, prefix: str = "") -> str:
    """What an operator might write."""
    return prefix + str(value).removeprefix("#")


def dated(value: Any, *, now: datetime) -> str:
    return f"{value}-{now.year}"


def test_a_function_of_ones_own_is_a_dotted_path() -> None:
    codes = Domain(
        "d",
        parameter_patterns={
            "code": TypePatterns(
                (r"#\w+",),
                (
                    NormalizerStep(f"{__name__}:to_code", {"prefix": "C-"}),
                    NormalizerStep(f"{__name__}:dated"),
                ),
            )
        },
    )
    assert arguments("see #7a", Parameter("code", "code"), domain=codes) == {"code": "C-7a-2025"}


def test_now_is_an_aware_time() -> None:
    assert NOW.tzinfo is UTC
