"""Many values to one: sums, averages, extremes, counts."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from server.errors import ToolFailed
from server.text.decimals import add_up, divide, plain
from server.tools.numbers import read_numbers
from server.tools.rows.fields import Rank, rank
from server.tools.vocabulary import phrases, read_phrase

AGGREGATES: Final = (
    "sum", "average", "min", "max", "count", "median", "distinct", "count_distinct",
)  # fmt: skip
_NAMES: Final = phrases("aggregates", AGGREGATES)


def read_aggregate(value: Any, name: str) -> str:
    """Return the operation, one of `AGGREGATES`, that a word names.

    Raises:
        ArgumentsInvalid: no such operation; the message lists those there are.
    """
    return read_phrase(value, _NAMES, name, AGGREGATES)


def aggregate(operation: str, values: Sequence[Any], label: str) -> Any:
    """Return what `operation`, one of `AGGREGATES`, makes of values that are not null.

    The sum of nothing is 0; of nothing there is no average, median, minimum or maximum.
    `label` names the field, for messages.

    Raises:
        ArgumentsInvalid: a value is not a number where numbers are needed.
        ToolFailed: there are no values, and the operation needs one.
    """
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


def _min(values: Sequence[Any], _label: str) -> Any:
    return min(values, key=rank)


def _max(values: Sequence[Any], _label: str) -> Any:
    return max(values, key=rank)


def _count(values: Sequence[Any], _label: str) -> Any:
    return len(values)


def _distinct(values: Sequence[Any], _label: str) -> list[Any]:
    """Each value once, the first of its spellings, in order of appearance."""
    first: dict[Rank, Any] = {}
    for value in values:
        first.setdefault(rank(value), value)
    return list(first.values())


def _count_distinct(values: Sequence[Any], label: str) -> Any:
    return len(_distinct(values, label))


_AGGREGATES: Final[Mapping[str, Callable[[Sequence[Any], str], Any]]] = {
    "sum": _sum,
    "average": _average,
    "min": _min,
    "max": _max,
    "count": _count,
    "median": _median,
    "distinct": _distinct,
    "count_distinct": _count_distinct,
}
_OF_SOMETHING: Final = frozenset({"average", "median", "min", "max"})


def _numbers(values: Sequence[Any], label: str) -> list[Decimal]:
    return read_numbers(values, lambda _: f"a value of {label!r}")
