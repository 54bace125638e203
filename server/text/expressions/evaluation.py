"""Works out the exact value of an expression, within fixed limits."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from math import ceil, floor, isqrt
from typing import Final

from server.text.expressions.quantity import (
    Quantity,
    convert,
    on_scale,
    product_unit,
    unit_of,
)
from server.text.expressions.tree import Literal, Node

MOST_DIGITS: Final = 400
"""Digits that a number may have on the way; a result has at most `RESULT_DIGITS`."""
RESULT_DIGITS: Final = 100
_MOST_BITS: Final = int(MOST_DIGITS * 3.33)
_ROOTS: Final = Context(prec=40)
_MOST_DECIMALS: Final = 50
_LARGEST_ROOT: Final = 1000


class CannotCalculate(ValueError):
    """What an expression asks for cannot be worked out; the message says what and why."""


def evaluate(node: Node) -> Quantity:
    """Return the value of an expression, or raise `CannotCalculate`."""
    found = _value(node)
    if abs(found.value) >= Fraction(10) ** RESULT_DIGITS:
        raise CannotCalculate(f"the result has more than {RESULT_DIGITS} digits")
    return found


def _value(node: Node) -> Quantity:
    if isinstance(node, Literal):
        return node.quantity
    if node.name == "declined":
        raise CannotCalculate(f"{node.detail} is not something that I can work out")
    values = [_value(one) for one in node.operands]
    if node.name == "convert":
        found = _converted(values[0], node.detail)
    elif node.name == "round_to":
        found = _round_to(values[0], values[1], node.detail)
    elif node.name in _OF_TWO:
        found, rest = values[0], values[1:]
        for value in rest:
            found = _bounded(_OF_TWO[node.name](found, value))
    elif node.name in _OF_LIST:
        found = _OF_LIST[node.name](_alike(values))
    else:
        found = _OF_ONE[node.name](values[0])
    return _bounded(found)


def _bounded(quantity: Quantity) -> Quantity:
    value = quantity.value
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        raise CannotCalculate(f"a number on the way has more than {MOST_DIGITS} digits")
    return quantity


def _disagree(one: Quantity, other: Quantity) -> CannotCalculate:
    return CannotCalculate(f"{one} and {other} do not go together: their units differ")


def _in_unit_of(first: Quantity, value: Quantity) -> Quantity:
    """Return `value` in the unit of `first`; a plain number beside money is money."""
    if first.unit == value.unit:
        return value
    if not value.value and not value.unit:
        return Quantity(Fraction(0), first.unit)
    if _is_money(first) and not value.unit:
        return Quantity(value.value, first.unit, rounded=value.rounded)
    found = convert(value, first.unit) if first.unit and value.unit else None
    if found is None:
        raise _disagree(first, value)
    return found


def _is_money(quantity: Quantity) -> bool:
    if len(quantity.unit) != 1:
        return False
    name, power = quantity.unit[0]
    return name.isupper() and name.isalpha() and power == 1


def _total(sign: int) -> Callable[[Quantity, Quantity], Quantity]:
    def add(left: Quantity, right: Quantity) -> Quantity:
        rounded = left.rounded or right.rounded
        if right.percent and not left.percent:
            return Quantity(left.value * (1 + sign * right.value), left.unit, rounded=rounded)
        if left.percent and not right.percent:
            raise CannotCalculate(f"{left} and {right} do not add up: what is {left} of?")
        if _is_money(right) and not left.unit:
            left = Quantity(left.value, right.unit, rounded=left.rounded)
        value = _in_unit_of(left, right).value
        return Quantity(left.value + sign * value, left.unit, left.percent, rounded)

    return add


def _multiply(left: Quantity, right: Quantity) -> Quantity:
    factor, unit = product_unit(left, right, 1)
    rounded = left.rounded or right.rounded
    return Quantity(left.value * right.value * factor, unit, rounded=rounded)


def _divide(left: Quantity, right: Quantity) -> Quantity:
    if not right.value:
        raise CannotCalculate("division by zero")
    factor, unit = product_unit(left, right, -1)
    percent = left.percent and not right.percent and not right.unit
    rounded = left.rounded or right.rounded
    return Quantity(left.value / right.value * factor, unit, percent, rounded)


def _rate(left: Quantity, right: Quantity) -> Quantity:
    """A per B for C: each unit of B has to go, and none is turned into another."""
    found = Quantity(left.value * right.value, unit_of(*left.unit, *right.unit))
    if any(power < 0 for _, power in found.unit):
        raise _disagree(left, right)
    return found


def _remainder(left: Quantity, right: Quantity) -> Quantity:
    right = _in_unit_of(left, right) if right.unit else right
    if not right.value:
        raise CannotCalculate("division by zero")
    return Quantity(left.value % right.value, left.unit)


def _difference(left: Quantity, right: Quantity) -> Quantity:
    found = _total(-1)(left, right)
    return Quantity(abs(found.value), found.unit, found.percent, found.rounded)


def _power(base: Quantity, exponent: Quantity) -> Quantity:
    power = exponent.value
    if exponent.unit or base.percent:
        raise CannotCalculate(f"{base} cannot be raised to {exponent}")
    if power.denominator != 1:
        if base.unit:
            raise CannotCalculate(f"{base} has no power {power}")
        base, power = _root(base, Quantity(Fraction(power.denominator))), Fraction(power.numerator)
    if not base.value and power < 0:
        raise CannotCalculate("division by zero")
    bits = max(base.value.numerator.bit_length(), base.value.denominator.bit_length())
    if (bits - 1) * abs(power) > _MOST_BITS or (bits > 1 and abs(power) > _MOST_BITS):
        raise CannotCalculate(f"the result has more than {RESULT_DIGITS} digits")
    unit = unit_of(*((name, each * int(power)) for name, each in base.unit))
    if bits <= 1:  # 0, 1 or −1, whatever the exponent
        power = power % 2 if base.value < 0 else min(power, Fraction(1))
    return Quantity(base.value ** int(power), unit, rounded=base.rounded)


def _root(base: Quantity, degree: Quantity) -> Quantity:
    n, value = degree.value, base.value
    if n.denominator != 1 or not 1 <= n <= _LARGEST_ROOT or degree.unit:
        raise CannotCalculate(f"I take no root of the degree {degree}")
    if base.percent or any(power % n for _, power in base.unit):
        raise CannotCalculate(f"{base} has no such root")
    if value < 0 and n % 2 == 0:
        raise CannotCalculate(f"{base} has no real root: it is below zero")
    unit = unit_of(*((name, power // int(n)) for name, power in base.unit))
    sign, above, below = (-1 if value < 0 else 1), abs(value.numerator), value.denominator
    top, bottom = _whole_root(above, int(n)), _whole_root(below, int(n))
    if top ** int(n) == above and bottom ** int(n) == below:
        return Quantity(Fraction(sign * top, bottom), unit, rounded=base.rounded)
    quotient = _ROOTS.divide(Decimal(above), Decimal(below))
    if n == 2:
        root = Fraction(_ROOTS.sqrt(quotient))
    else:
        root = Fraction(_ROOTS.power(quotient, _ROOTS.divide(Decimal(1), Decimal(int(n)))))
    return Quantity(sign * root, unit, rounded=True)


def _whole_root(value: int, n: int) -> int:
    """The whole part of the n-th root."""
    if n == 2:
        return isqrt(value)
    low, high = 0, 1 << (value.bit_length() // n + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if middle**n <= value:
            low = middle
        else:
            high = middle - 1
    return low


def _round_to(quantity: Quantity, step: Quantity, towards: str) -> Quantity:
    size = convert(step, quantity.unit) if step.unit else step
    if size is None or not size.value or quantity.percent:
        raise CannotCalculate(f"{quantity} cannot be rounded to {step}")
    steps = quantity.value / abs(size.value)
    whole = {"up": ceil, "down": floor}.get(towards, _half_away)(steps)
    return _with(quantity, whole * abs(size.value))


def _round(quantity: Quantity, decimals: Quantity) -> Quantity:
    places = decimals.value
    if places.denominator != 1 or abs(places) > _MOST_DECIMALS or decimals.unit:
        raise CannotCalculate(f"I round to whole numbers of decimals, up to {_MOST_DECIMALS}")
    unit = Fraction(10) ** -int(places)
    shown = quantity.value * 100 if quantity.percent else quantity.value
    value = _half_away(shown / unit) * unit
    return _with(quantity, value / 100 if quantity.percent else value)


def _half_away(value: Fraction) -> int:
    doubled = abs(value) * 2 + 1
    whole = doubled.numerator // (doubled.denominator * 2)
    return whole if value >= 0 else -whole


def _with(quantity: Quantity, value: Fraction | int) -> Quantity:
    return Quantity(Fraction(value), quantity.unit, quantity.percent, quantity.rounded)


def _rounded_whole(up: int) -> Callable[[Quantity], Quantity]:
    def to_whole(quantity: Quantity) -> Quantity:
        value = quantity.value * 100 if quantity.percent else quantity.value
        whole = -((-value.numerator) // value.denominator) if up else value.__floor__()
        return _with(quantity, Fraction(whole, 100) if quantity.percent else whole)

    return to_whole


def _in_percent(quantity: Quantity) -> Quantity:
    if quantity.unit:
        raise CannotCalculate(f"{quantity} is no share in percent: the units differ")
    return Quantity(quantity.value, percent=True, rounded=quantity.rounded)


def _percent(quantity: Quantity) -> Quantity:
    if quantity.unit or quantity.percent:
        raise CannotCalculate(f"{quantity} is no number of percent")
    return Quantity(quantity.value / 100, percent=True, rounded=quantity.rounded)


def _converted(quantity: Quantity, detail: str) -> Quantity:
    wanted = tuple((n, int(p)) for n, _, p in (part.partition("^") for part in detail.split()))
    found = on_scale(quantity, wanted) or convert(quantity, wanted)
    if found is None:
        unit = Quantity(Fraction(2), wanted).unit_name
        raise CannotCalculate(f"{quantity} cannot be told in {unit}")
    return found


def _alike(values: Sequence[Quantity]) -> Sequence[Quantity]:
    first = next((v for v in values if v.unit or v.percent), values[0])
    for value in values:
        if value.percent is not first.percent:
            raise _disagree(first, value)
    return [_in_unit_of(first, value) for value in values]


def _mean(values: Sequence[Quantity]) -> Quantity:
    return _with(values[0], sum(v.value for v in values) / Fraction(len(values)))


def _median(values: Sequence[Quantity]) -> Quantity:
    ordered = sorted(value.value for value in values)
    middle = len(ordered) // 2
    pair = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return _with(values[0], pair)


def _mode(values: Sequence[Quantity]) -> Quantity:
    counts = Counter(value.value for value in values)
    (most, count), *others = counts.most_common(2)
    if others and others[0][1] == count:
        raise CannotCalculate("no one value is there most often, so there is no mode")
    return _with(values[0], most)


_OF_ONE: Final[Mapping[str, Callable[[Quantity], Quantity]]] = {
    "negate": lambda a: _with(a, -a.value),
    "in_percent": _in_percent,
    "percent": _percent,
    "round_up": _rounded_whole(1),
    "round_down": _rounded_whole(0),
    "round_whole": lambda a: _round(a, Quantity(Fraction(0))),
}
_OF_TWO: Final[Mapping[str, Callable[[Quantity, Quantity], Quantity]]] = {
    "add": _total(1), "subtract": _total(-1), "difference": _difference,
    "multiply": _multiply, "part_of": _multiply, "divide": _divide, "rate": _rate,
    "remainder": _remainder, "power": _power, "root": _root, "round": _round,
}  # fmt: skip
_OF_LIST: Final[Mapping[str, Callable[[Sequence[Quantity]], Quantity]]] = {
    "mean": _mean, "median": _median, "mode": _mode,
    "minimum": lambda values: min(values, key=lambda v: v.value),
    "maximum": lambda values: max(values, key=lambda v: v.value),
}  # fmt: skip
