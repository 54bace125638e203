"""Many values to one: sums, averages, extremes, counts."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from server.errors import ToolFailed
from server.text.decimals import add_up, divide, plain
from server.tools.numbers import read_numbers
from server.tools.rows.fields import Rank, language_vocabulary, rank

AGGREGATES: Final = language_vocabulary("aggregates")
"""Each aggregate, and other words for it."""


def aggregate(operation: str, values: Sequence[Any], label: str) -> Any:
    """Reduce values that are not null, or raise `ToolFailed` (none) or `ArgumentsInvalid`."""
    if not values and operation in _OF_SOMETHING:
        raise ToolFailed(f"There is no value of {label!r} to take the {operation} of")
    return _AGGREGATES[operation](values, label)


def _sum(values: Sequence[Any], label: str) -> Any:
    return plain(add_up(_numbers(values, label)))


def _average(values: Sequence[Any], label: str) -> Any:
    return divide(add_up(_numbers(values, label)), Decimal(len(values)))


def _median(values: Sequence[Any], label: str) -> Any:
    ordered = sorted(_numbers(values, label))
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return plain(ordered[middle])
    return divide(add_up(ordered[middle - 1 : middle + 1]), Decimal(2))


def _distinct(values: Sequence[Any], _label: str) -> list[Any]:
    """Return each value once, the first of its spellings, in order of appearance."""
    first: dict[Rank, Any] = {}
    for value in values:
        first.setdefault(rank(value), value)
    return list(first.values())


_AGGREGATES: Final[Mapping[str, Callable[[Sequence[Any], str], Any]]] = {
    "sum": _sum,
    "average": _average,
    "min": lambda values, _: min(values, key=rank),
    "max": lambda values, _: max(values, key=rank),
    "count": lambda values, _: len(values),
    "median": _median,
    "distinct": _distinct,
    "count_distinct": lambda values, label: len(_distinct(values, label)),
}
_OF_SOMETHING: Final = frozenset({"average", "median", "min", "max"})


def _numbers(values: Sequence[Any], label: str) -> list[Decimal]:
    return read_numbers(values, lambda _: f"a value of {label!r}")
