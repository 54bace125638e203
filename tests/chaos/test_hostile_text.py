"""Texts that are long where it hurts most are read, or left alone, within a bound."""

from time import perf_counter

import pytest

from server.text.tables import find_tables
from tests.text.expressions.test_properties import answer

_BOUND_S = 20
"""What would take for ever takes more; how fast it is belongs to the benchmarks."""


@pytest.mark.parametrize(
    "text",
    [
        "(" * 1000, "(" * 90 + "1+1" + ")" * 90, "-" * 1000 + "1", "1" + "+1" * 900,
        "9^" * 100 + "9",
        "half of " * 200 + "2", "1 and " * 300 + "1", "sum of " * 250 + "3", "2^99999999999 + 1",
        "99999999999999^99999999", "1e400 * 1e400", "1e-390 ^ 9", "(1/3)^1000", "√" * 500 + "2",
        "5 " + "boxes " * 250, "split " * 140 + "1", "3 of us share " * 60 + "4", "1 % " * 400,
        "0.5 ^ 5000", "2^0.333333333333", "(-8)^(1/3)", "1" * 1999, "1," * 900, "5!" * 500,
        "from 1 to " * 90 + "2", "how many 2s in " * 60 + "3", "10% off " * 100 + "3",
        "5 then double it " * 80, "5, then add half of that " * 60,
    ],
)  # fmt: skip
def test_a_sum(text: str) -> None:
    started = perf_counter()
    answer(text)
    assert perf_counter() - started < _BOUND_S


@pytest.mark.parametrize(
    "text",
    ["a,b\n" * 100_000, ",\n" * 200_000, "," * 900_000 + "\n\n,", 'x,"\n' * 100_000,
     "|" * 500_000 + "\n|\n|", "a b, c\n" * 100_000],
)  # fmt: skip
def test_a_table(text: str) -> None:
    started = perf_counter()
    assert list(find_tables(text)) == []
    assert perf_counter() - started < _BOUND_S
