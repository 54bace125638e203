"""Conditions on a value: an operator and what to compare with."""

from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import Any, Final

from server.core.suggestions import described_value
from server.errors import ArgumentsInvalid
from server.text.decimals import plain
from server.tools.numbers import read_number
from server.tools.rows.fields import MISSING, NUMBER, TEXT, language_vocabulary, rank
from server.tools.rows.reader import check_values, parse_json_rows

Condition = Callable[[Any], bool]
"""Whether a value, or `MISSING`, is one that was asked for."""

OPERATORS: Final = language_vocabulary("operators")
"""Each operator, and other words for it."""

WITHOUT_VALUE: Final = frozenset({"exists", "missing"})


def condition(operator: str, target: Any) -> Condition:
    """Return the condition that `operator` makes with `target`, or raise `ArgumentsInvalid`.

    For a missing value, and null, only `ne`, `not_contains`, `not_in` and `missing` hold.
    """
    check_values([target], "value")
    match operator:
        case "eq":
            return _equal(target)
        case "ne":
            return _not(_equal(target))
        case "gt" | "gte" | "lt" | "lte":
            return _ordered(operator, target)
        case "in":
            return _in(target)
        case "not_in":
            return _not(_in(target))
        case "contains":
            return _contains(target)
        case "not_contains":
            return _not(_contains(target))
        case "starts_with":
            start = _text(target)
            return lambda value: _is_textual(value) and _text(value).startswith(start)
        case "ends_with":
            end = _text(target)
            return lambda value: _is_textual(value) and _text(value).endswith(end)
        case _:
            wanted = (operator == "exists") == (_truth(target) is not False)
            return lambda value: (value is not MISSING and value is not None) == wanted


def _not(test: Condition) -> Condition:
    return lambda value: not test(value)


def _equal(target: Any) -> Condition:
    wanted, truth = rank(target), _truth(target)

    def test(value: Any) -> bool:
        if value is MISSING or value is None:
            return False
        if truth is not None and (isinstance(value, bool) or isinstance(target, bool)):
            return _truth(value) is truth
        return rank(value) == wanted

    return test


_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "gt": gt,
    "gte": ge,
    "lt": lt,
    "lte": le,
}


def _ordered(operator: str, target: Any) -> Condition:
    compare = _COMPARE[operator]
    group, bound = rank(target)
    if group not in (NUMBER, TEXT):
        raise ArgumentsInvalid(f"value must be a number or text to compare by {operator}")

    def test(value: Any) -> bool:
        if value is MISSING or value is None:
            return False
        other_group, other = rank(value)
        return other_group == group and compare(other, bound)

    return test


def _in(target: Any) -> Condition:
    items = _items(target)
    check_values(items, "value")
    ranks = {rank(item) for item in items}
    truths = [_equal(item) for item in items if _truth(item) is not None]

    def test(value: Any) -> bool:
        if value is MISSING or value is None:
            return False
        return rank(value) in ranks or any(equal(value) for equal in truths)

    return test


def _items(target: Any) -> list[Any]:
    if isinstance(target, str) and target.lstrip().startswith("["):
        target = parse_json_rows(target, "value")
    elif isinstance(target, str):
        return [item.strip() for item in target.split(",") if item.strip()]
    return list(target) if isinstance(target, list | tuple) else [target]


def _contains(target: Any) -> Condition:
    part, equal = _text(target), _equal(target)

    def test(value: Any) -> bool:
        if type(value) is str:
            return part in value.casefold()
        if isinstance(value, list | tuple):
            return any(map(equal, value))
        return _is_textual(value) and part in _text(value)

    return test


def _is_textual(value: Any) -> bool:
    return isinstance(value, str | int | float | Decimal | date)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.casefold()
    if isinstance(value, bool):
        return str(value).casefold()
    if isinstance(value, int | float | Decimal):
        return str(plain(read_number(value, "value")))
    if isinstance(value, date):
        return value.isoformat().casefold()
    raise ArgumentsInvalid(f"value must be text or a number, not {described_value(value)}")


def _truth(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _TRUTHS.get(value.strip().casefold())
    return None


_TRUTHS: Final[Mapping[str, bool]] = {"true": True, "yes": True, "false": False, "no": False}
