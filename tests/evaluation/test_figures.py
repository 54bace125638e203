"""The arithmetic under a report."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.evaluation.outcomes import auroc, equal, percentile, share

confidences = st.lists(st.floats(0, 1), min_size=1, max_size=40)
finite = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def test_a_share_is_hits_over_chances_and_nothing_without_chances() -> None:
    assert share([True, True, False, True]) == 0.75
    assert share([]) is None


def test_percentiles_are_values_that_occurred() -> None:
    assert [percentile(range(1, 101), p) for p in (50, 99, 100)] == [50, 99, 100]
    assert [percentile([7.0], p) for p in (1, 50, 99)] == [7.0, 7.0, 7.0]
    assert percentile([], 50) is None


@given(confidences, st.floats(0.1, 100))
def test_a_percentile_leaves_at_most_its_share_above(latencies: list[float], p: float) -> None:
    found = percentile(latencies, p)
    assert found in latencies
    above = sum(latency > found for latency in latencies if found is not None)
    assert above <= len(latencies) * (1 - p / 100) + 1e-9


def test_auroc_tells_perfect_blind_and_inverted_apart() -> None:
    assert auroc([0.9, 0.8], [0.1, 0.2, 0.3]) == 1.0
    assert auroc([0.5, 0.5], [0.5]) == 0.5
    assert auroc([0.1], [0.2, 0.3]) == 0.0
    assert (auroc([], [0.2]), auroc([0.2], [])) == (None, None)


@given(confidences, confidences)
def test_auroc_is_the_chance_that_a_positive_outranks_a_negative(
    positives: list[float], negatives: list[float]
) -> None:
    wins = sum((p > n) + (p == n) / 2 for p in positives for n in negatives)
    assert auroc(positives, negatives) == pytest.approx(wins / (len(positives) * len(negatives)))


@given(confidences, confidences)
def test_auroc_seen_from_the_other_side_is_its_complement(a: list[float], b: list[float]) -> None:
    there, back = auroc(a, b), auroc(b, a)
    assert there is not None
    assert back == pytest.approx(1 - there)


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        (30, 30.0, True),
        (0.1, Decimal("0.1"), True),
        ([5, 7], (5.0, Decimal(7)), True),
        ({"n": 1, "tags": ["a"]}, {"tags": ["a"], "n": 1.0}, True),
        ("2025-03-04", "2025-03-04", True),
        ("30", 30, False),
        (1, True, False),
        (0, None, False),
        ([1, 2], [2, 1], False),
        ("Open", "open", False),
        ({"n": 1}, {"n": 1, "m": 2}, False),
    ],
)
def test_arguments_are_equal_by_value(expected: Any, got: Any, same: bool) -> None:
    assert equal(expected, got) is same


@given(values)
def test_every_value_equals_itself(value: Any) -> None:
    assert equal(value, value)


@given(values, values)
def test_equality_does_not_depend_on_the_order(a: Any, b: Any) -> None:
    assert equal(a, b) is equal(b, a)


@given(finite)
def test_a_float_equals_the_decimal_it_is_written_as(number: float) -> None:
    assert equal(number, Decimal(repr(number)))
