"""What an expression is made of, and how tightly its parts hold together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from fractions import Fraction
from typing import Final

from server.text.expressions.quantity import Quantity


class Level(IntEnum):
    """How tightly an operation holds its operands: the higher, the tighter."""

    WHOLE = 0  # the whole of what stands before: “… rounded to 2 decimals”
    SUM = 1
    PRODUCT = 2
    TIGHT = 3  # “half of”, “20% off”, a sign
    POWER = 4
    LITERAL = 5


@dataclass(frozen=True, slots=True)
class Literal:
    """A number as it stands, with its unit; `is_fraction` for a half and two thirds."""

    quantity: Quantity
    is_fraction: bool = False
    reduces: bool = False
    """Whether it is a percentage that is called a discount."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the table `LEVELS` on its operands."""

    name: str
    operands: tuple["Node", ...]
    detail: str = ""
    """The unit that is converted to, or what is declined."""


Node = Literal | Operation

IT: Final = Operation("it", ())
"""What stands for all before it: “double it”."""


def is_about_it(node: Node) -> bool:
    return node is IT or (isinstance(node, Operation) and any(map(is_about_it, node.operands)))


def put_for_it(node: Node, meant: Node) -> Node:
    """Return an expression with what “it” stands for."""
    if node is IT:
        return meant
    if isinstance(node, Literal):
        return node
    operands = tuple(put_for_it(one, meant) for one in node.operands)
    return node if operands == node.operands else replace(node, operands=operands)


LEVELS: Final[Mapping[str, Level]] = {
    "add": Level.SUM,
    "subtract": Level.SUM,
    "difference": Level.SUM,
    "multiply": Level.PRODUCT,
    "divide": Level.PRODUCT,
    "remainder": Level.PRODUCT,
    "rate": Level.PRODUCT,
    "add_to": Level.SUM,
    "rate_first": Level.PRODUCT,
    "negate": Level.TIGHT,
    "raise": Level.TIGHT,
    "reduce": Level.TIGHT,
    "part_of": Level.TIGHT,
    "half": Level.TIGHT,
    "double": Level.TIGHT,
    "triple": Level.TIGHT,
    "quadruple": Level.TIGHT,
    "square_root": Level.TIGHT,
    "cube_root": Level.TIGHT,
    "root": Level.TIGHT,
    "power": Level.POWER,
    "square": Level.POWER,
    "cube": Level.POWER,
    "percent": Level.LITERAL,
}
"""The level of each operation; of all others, `Level.WHOLE`."""


def level_of(name: str) -> Level:
    return LEVELS.get(name, Level.WHOLE)


def number(value: int | Fraction) -> Literal:
    return Literal(Quantity(Fraction(value)))


_HALF: Final = Literal(Quantity(Fraction(1, 2)), is_fraction=True)


def _call(name: str) -> Callable[..., Node]:
    return lambda *operands: Operation(name, operands)


def _in_percent(part: Node, whole: Node) -> Node:
    return Operation("in_percent", (Operation("divide", (part, whole)),))


def _net(whole: Node, rate: Node) -> Node:
    return Operation("divide", (whole, Operation("add", (number(1), rate))))


_MADE_OF: Final[Mapping[str, Callable[..., Node]]] = {
    "half": lambda a: Operation("part_of", (_HALF, a)),
    "double": lambda a: Operation("multiply", (number(2), a)),
    "triple": lambda a: Operation("multiply", (number(3), a)),
    "quadruple": lambda a: Operation("multiply", (number(4), a)),
    "square": lambda a: Operation("power", (a, number(2))),
    "cube": lambda a: Operation("power", (a, number(3))),
    "square_root": lambda a: Operation("root", (a, number(2))),
    "cube_root": lambda a: Operation("root", (a, number(3))),
    "raise": _call("add"),
    "reduce": _call("subtract"),
    "rate_first": lambda a, b: Operation("rate", (b, a)),
    "add_to": lambda a, b: Operation("add", (b, a)),
    "round_up_to": lambda a, b: Operation("round_to", (a, b), "up"),
    "round_down_to": lambda a, b: Operation("round_to", (a, b), "down"),
    "share": _in_percent,
    "change": lambda a, b: _in_percent(Operation("subtract", (b, a)), a),
    "fall": lambda a, b: _in_percent(Operation("subtract", (a, b)), a),
    "whole_of": lambda a, b: Operation("divide", (a, b)),
    "included": lambda a, b: Operation("subtract", (a, _net(a, b))),
    "without": _net,
    "sum": _call("add"),
    "product": _call("multiply"),
}
"""Operations that are said in one way and worked out by others."""


def _rate_in(rate: Node, per: str) -> Node:
    """Return a rate in another unit of time: $54000 a year per month."""
    if not isinstance(rate, Literal):
        raise TypeError("a rate is a literal")
    above = [f"{name}^{power}" for name, power in rate.quantity.unit if power > 0]
    below = [f"{name}^-{power}" for name, _, power in (one.partition("^") for one in per.split())]
    return Operation("convert", (rate,), " ".join((*above, *below)))


def make(name: str, operands: tuple[Node, ...], detail: str = "") -> Node:
    """Return the operation as it is worked out: double 4 is 2 × 4."""
    if name == "rate_in":
        return _rate_in(operands[0], detail)
    if name == "duration_at":
        return Operation("convert", (Operation("divide", operands),), detail)
    made_of = _MADE_OF.get(name)
    if made_of is None:
        return Operation(name, operands, detail)
    if name in ("sum", "product") and len(operands) == 1:
        return operands[0]
    return made_of(*operands)
