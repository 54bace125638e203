"""The arithmetic under a report: shares, percentiles, ranks, and when values are equal."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from math import ceil
from typing import Any


def share(hits: Iterable[bool]) -> float | None:
    """The share of hits, 0 to 1; None when there was nothing to hit."""
    counted = list(hits)
    return sum(counted) / len(counted) if counted else None


def percentile(values: Collection[float], percent: float) -> float | None:
    """The least of the values that `percent` of them do not exceed; None without values."""
    if not values:
        return None
    rank = max(1, ceil(len(values) * percent / 100))
    return sorted(values)[rank - 1]


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """How likely a positive scores above a negative, a tie counting half.

    None when either side is empty: there is nothing to tell apart.
    """
    if not positives or not negatives:
        return None
    ranks = _mid_ranks([*positives, *negatives])
    count = len(positives)
    above = sum(ranks[:count]) - count * (count + 1) / 2
    return above / (count * len(negatives))


def _mid_ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value, from 1, equal values sharing the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            ranks[place] = (start + 1 + end) / 2
        start = end
    return ranks


def equal(expected: Any, got: Any) -> bool:
    """Whether two arguments are the same value, however they are written.

    Numbers by value (30 and 30.0, 0.1 and Decimal("0.1")), but never a number and a
    boolean; text exactly; lists and objects by what they hold. YAML turns an unquoted
    2025-03-04 into a date, which stands for its text.
    """
    return bool(_plain(expected) == _plain(got))


def _plain(value: Any) -> Any:
    match value:
        case bool():
            return ("boolean", value)
        case int() | Decimal():
            return Decimal(value)
        case float():
            # repr is what the author wrote: 0.1, not the binary fraction nearest to it
            return Decimal(repr(value))
        case date() | datetime() | time():
            return value.isoformat()
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            return value
