"""Expressions as they are shown: “80 − 20%”, which reads as what was worked out."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from server.text.expressions.quantity import Quantity, in_words
from server.text.expressions.tree import Level, Literal, Node, Operation, level_of

_SIGNS: Final[Mapping[str, str]] = {
    "add": " + ", "subtract": " − ", "multiply": " × ", "divide": " ÷ ", "power": "^",
    "rate": " × ",
}  # fmt: skip


def render(node: Node, shown: Mapping[str, str]) -> str:
    """Return an expression in its normal form; `shown` says it for what no sign stands for."""
    return _render(node, shown)[0]


def _render(node: Node, shown: Mapping[str, str]) -> tuple[str, Level]:
    if isinstance(node, Literal):
        return _literal(node.quantity, is_fraction=node.is_fraction)
    level = level_of(node.name)
    if node.name in _SIGNS:
        return _infix(node, level, shown)
    if node.name == "negate":
        return f"−{_within(node.operands[0], Level.POWER, shown)}", Level.TIGHT
    if node.name == "root":
        return _root(node, shown)
    phrase = shown.get(f"{node.name}_{node.detail}") or shown[node.name]
    if _is_one(node.operands[-1:]):
        phrase = shown.get(f"{node.name}_one", phrase)
    if "{list}" in phrase:
        members = ", ".join(_within(one, Level.PRODUCT, shown) for one in node.operands)
        return phrase.replace("{list}", members), Level.WHOLE
    texts = [_within(one, Level(min(level + 1, Level.LITERAL)), shown) for one in node.operands]
    if (
        node.name == "part_of"
        and isinstance(node.operands[0], Literal)
        and node.operands[0].is_fraction
    ):
        texts[0] = _render(node.operands[0], shown)[0]  # 1/2 of 10
    for name, text in zip("ab", texts, strict=False):
        phrase = phrase.replace(f"{{{name}}}", text)
    return phrase.replace("{detail}", _unit(node.detail)), level


def _is_one(last: Sequence[Node]) -> bool:
    return any(isinstance(one, Literal) and one.quantity.value == 1 for one in last)


def _unit(detail: str) -> str:
    parts = (part.partition("^") for part in detail.split())
    unit = tuple((name, int(power)) for name, _, power in parts if power)
    return in_words(Quantity(Fraction(2), unit).unit_name) if unit else detail


def _infix(node: Operation, level: Level, shown: Mapping[str, str]) -> tuple[str, Level]:
    right_first = node.name == "power"
    texts = [
        _within(one, Level(level + (at > 0) if not right_first else level + (at == 0)), shown)
        for at, one in enumerate(node.operands)
    ]
    return _SIGNS[node.name].join(texts), level


def _root(node: Operation, shown: Mapping[str, str]) -> tuple[str, Level]:
    base, degree = node.operands
    if isinstance(degree, Literal) and degree.quantity.value == 2:
        return f"√{_within(base, Level.LITERAL, shown)}", Level.TIGHT
    return f"{_within(base, Level.LITERAL, shown)}^(1 ÷ {_within(degree, Level.TIGHT, shown)})", (
        Level.POWER
    )


def _within(node: Node, level: Level, shown: Mapping[str, str]) -> str:
    text, own = _render(node, shown)
    return text if own >= level else f"({text})"


def _literal(quantity: Quantity, *, is_fraction: bool) -> tuple[str, Level]:
    if is_fraction or not _ends(quantity.value):
        value = quantity.value
        return f"{value.numerator}/{value.denominator}", Level.PRODUCT
    if quantity.value < 0:
        return str(quantity), Level.TIGHT
    return str(quantity), Level.LITERAL


def _ends(value: Fraction) -> bool:
    """Whether the decimals of a number end."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1
