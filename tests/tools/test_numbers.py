"""Numbers: what is read as one, and how one is handed back."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.errors import ArgumentsInvalid
from server.text.decimals import add_up, divide, plain
from server.tools.numbers import (
    MAX_DIGITS,
    read_as_number,
    read_integer,
    read_number,
    read_numbers,
)

DECIMALS = st.decimals(
    allow_nan=False, allow_infinity=False, places=10, min_value=-(10**30), max_value=10**30
)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        (7, "7"),
        (0.1, "0.1"),
        (2.675, "2.675"),
        ("1,500", "1500"),
        ("12,34,567.5", "1234567.5"),
        ("  -3.50 ", "-3.50"),
        ("\N{MINUS SIGN}2", "-2"),
        (".5", "0.5"),
        ("2e3", "2000"),
        ("٣", "3"),
        (Decimal("1.10"), "1.10"),
        (10**49, "1" + "0" * 49),
        ("0e999999", "0"),
    ],
)
def test_a_number_is_read_exactly(written: Any, number: str) -> None:
    assert read_number(written, "value") == Decimal(number)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("", "value is '', which is not a number"),
        ("abc", "value is 'abc', which is not a number"),
        ("1,5", "value is '1,5', which is not a number"),
        ("1_000", "value is '1_000', which is not a number"),
        ("12%", "value is '12%', which is not a number"),
        ("--1", "value is '--1', which is not a number"),
        ("nan", "value is 'nan', which is not a number"),
        ("1e99999999999", "value is '1e99999999999', which is not a number"),
        (float("nan"), "value is nan, which is not a finite number"),
        (float("-inf"), "value is -inf, which is not a finite number"),
        (Decimal("sNaN"), "value is sNaN, which is not a finite number"),
        (True, "value must be a number, not true or false"),
        (None, "value must be a number, not nothing"),
        ([1], "value must be a number, not a list"),
        ({"a": 1}, "value must be a number, not an object"),
    ],
)
def test_what_is_no_number_is_refused_by_name(written: Any, problem: str) -> None:
    with pytest.raises(ArgumentsInvalid) as refused:
        read_number(written, "value")
    assert str(refused.value) == problem


@pytest.mark.parametrize(
    "written",
    [
        10**50,
        -(10**50),
        10**5000,
        1e50,
        1e-51,
        "1e999999",
        "1e-999999",
        Decimal("1e999999"),
        "9" * 5000,
    ],
    ids=lambda written: type(written).__name__,
)
def test_numbers_beyond_fifty_digits_are_refused(written: Any) -> None:
    with pytest.raises(ArgumentsInvalid, match="too many digits"):
        read_number(written, "value")


def test_a_percent_sign_is_dropped_only_where_a_percentage_is_meant() -> None:
    assert read_number("12.5 %", "percentage", percent=True) == Decimal("12.5")


@pytest.mark.parametrize(
    ("text", "number"),
    [("1,500", 1500), ("1.5", Decimal("1.5")), ("five", None), ("9" * 999, None)],
)
def test_text_may_read_as_a_number(text: str, number: Decimal | None) -> None:
    assert read_as_number(text) == number


def test_a_whole_number_has_a_range() -> None:
    assert read_integer("2.0", "decimals", least=0, most=5) == 2
    with pytest.raises(ArgumentsInvalid, match=r"^decimals is 2.5, which is not a whole number$"):
        read_integer(2.5, "decimals", least=0, most=5)
    with pytest.raises(ArgumentsInvalid, match=r"^decimals is 6, and must be from 0 to 5$"):
        read_integer(6, "decimals", least=0, most=5)


@pytest.mark.parametrize(
    ("exact", "handed_back"),
    [
        ("30.00", 30),
        ("-0", 0),
        ("0.30", 0.3),
        ("1e3", 1000),
        ("12345678901234567.890", Decimal("12345678901234567.89")),
    ],
)
def test_a_number_is_handed_back_without_trailing_zeros(
    exact: str, handed_back: int | float | Decimal
) -> None:
    result = plain(Decimal(exact))
    assert (result, type(result)) == (handed_back, type(handed_back))
    assert str(result) == str(handed_back)


@pytest.mark.parametrize(
    ("dividend", "divisor", "quotient"),
    [
        (10, 4, 2.5),
        (6, 3, 2),
        (1, 3, 0.333333333333333),
        (2, 3, 0.666666666666667),
        (10**40 + 2, 2, (10**40 + 2) // 2),
        (10**30, 3, 3.33333333333333e29),
        (1, 2**100, 7.88860905221012e-31),
    ],
)
def test_a_quotient_is_exact_when_it_ends_soon(
    dividend: int, divisor: int, quotient: float
) -> None:
    result = divide(Decimal(dividend), Decimal(divisor))
    assert (result, type(result)) == (quotient, type(quotient))


@given(DECIMALS)
def test_handing_back_loses_no_digit(number: Decimal) -> None:
    assert read_number(plain(number), "value") == number


@given(st.lists(DECIMALS, max_size=20))
def test_a_sum_does_not_depend_on_the_order(numbers: list[Decimal]) -> None:
    assert add_up(numbers) == add_up(reversed(numbers)) == add_up(sorted(numbers))


@given(DECIMALS, DECIMALS.filter(bool))
def test_a_quotient_times_the_divisor_is_the_dividend(dividend: Decimal, divisor: Decimal) -> None:
    quotient = Decimal(str(divide(dividend, divisor)))
    assert abs(quotient * divisor - dividend) <= abs(dividend) * Decimal("1e-14")


@given(st.one_of(st.text(), st.integers(), st.floats(), st.decimals(), st.binary(), st.none()))
def test_reading_never_fails_otherwise(value: Any) -> None:
    try:
        number = read_number(value, "value")
    except ArgumentsInvalid:
        return
    assert number.is_finite()
    assert abs(number) < 10**MAX_DIGITS


def one_by_one(values: list[Any]) -> list[Decimal] | str:
    try:
        return [read_number(value, f"values[{place}]") for place, value in enumerate(values)]
    except ArgumentsInvalid as refused:
        return str(refused)


def together(values: list[Any]) -> list[Decimal] | str:
    try:
        return read_numbers(values, "values[{}]".format)
    except ArgumentsInvalid as refused:
        return str(refused)


@given(st.lists(st.integers() | st.integers(10**45, 10**400) | st.floats() | st.just("1,500")))
def test_numbers_are_read_together_as_one_by_one(values: list[Any]) -> None:
    assert together(values) == one_by_one(values)
