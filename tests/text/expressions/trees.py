"""Random expressions with their exact values, written in digits and in words: an oracle.

The value is worked out with Python's own fractions, and the text is put together beside it.
"""

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Final, NamedTuple

_NUMBERS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_ONES: Final = _NUMBERS.split()
_TEN_TIMES: Final = "- - twenty thirty forty fifty sixty seventy eighty ninety"
_TENS: Final = _TEN_TIMES.split()


class Sum(NamedTuple):
    """`text` as it is asked, `value` as it has to be worked out, `is_atom` where one number."""

    text: str
    value: Fraction
    is_atom: bool = True


def in_words(number: int) -> str:
    """Return a number below a million in English words."""
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        return f"{_ONES[hundreds]} hundred" + (f" and {in_words(rest)}" if rest else "")
    thousands, rest = divmod(number, 1000)
    between = " and " if 0 < rest < 100 else " "
    return f"{in_words(thousands)} thousand" + (between + in_words(rest) if rest else "")


def _number(random: Random) -> Sum:
    kind = random.randrange(5)
    if kind == 0:
        value = random.randrange(1, 100_000)
        return Sum(in_words(value), Fraction(value))
    if kind == 1:
        value = random.randrange(1, 10_000_000)
        return Sum(f"{value:,}", Fraction(value))
    if kind == 2:
        text = f"{random.randrange(1000)}.{random.randrange(1, 1000)}"
        return Sum(text, Fraction(text))
    value = random.randrange(1, 200)
    return Sum(str(value), Fraction(value))


def _inner(one: Sum) -> str:
    return one.text if one.is_atom else f"({one.text})"


_INFIX: Final[dict[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "+": lambda a, b: a + b, "plus": lambda a, b: a + b,
    "-": lambda a, b: a - b, "minus": lambda a, b: a - b, "−": lambda a, b: a - b,
    "*": lambda a, b: a * b, "×": lambda a, b: a * b, "times": lambda a, b: a * b,
    "multiplied by": lambda a, b: a * b,
    "/": lambda a, b: a / b, "÷": lambda a, b: a / b, "divided by": lambda a, b: a / b,
    "over": lambda a, b: a / b,
    "mod": lambda a, b: a % b,
}  # fmt: skip
_OF_TWO: Final[dict[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "subtract {b} from {a}": lambda a, b: a - b,
    "take {b} away from {a}": lambda a, b: a - b,
    "divide {a} by {b}": lambda a, b: a / b,
    "multiply {a} by {b}": lambda a, b: a * b,
    "add {a} to {b}": lambda a, b: a + b,
    "the sum of {a} and {b}": lambda a, b: a + b,
    "the product of {a} and {b}": lambda a, b: a * b,
    "the difference between {a} and {b}": lambda a, b: abs(a - b),
    "the average of {a} and {b}": lambda a, b: (a + b) / 2,
    "maximum of {a}, {b}": max,
    "minimum of {a}, {b}": min,
    "median of {a} and {b}": lambda a, b: (a + b) / 2,
    "the remainder when {a} is divided by {b}": lambda a, b: a % b,
    "{b} less than {a}": lambda a, b: a - b,
    "{b} more than {a}": lambda a, b: a + b,
    "{b} divided into {a}": lambda a, b: a / b,
    "how often does {b} go into {a}": lambda a, b: a / b,
}
_OF_ONE: Final[dict[str, Callable[[Fraction], Fraction]]] = {
    "half of {a}": lambda a: a / 2,
    "double {a}": lambda a: 2 * a,
    "triple {a}": lambda a: 3 * a,
    "two thirds of {a}": lambda a: a * 2 / 3,
    "a quarter of {a}": lambda a: a / 4,
    "{a} squared": lambda a: a * a,
    "{a} cubed": lambda a: a**3,
    "-{a}": lambda a: -a,
    "{a}^2": lambda a: a * a,
    "{a} to the power of 2": lambda a: a * a,
}
_OF_PERCENT: Final[dict[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "{p}% of {a}": lambda p, a: a * p,
    "{p} percent of {a}": lambda p, a: a * p,
    "{p}% off {a}": lambda p, a: a * (1 - p),
    "{a} minus {p}%": lambda p, a: a * (1 - p),
    "{a} plus {p}% VAT": lambda p, a: a * (1 + p),
    "increase {a} by {p}%": lambda p, a: a * (1 + p),
    "decrease {a} by {p}%": lambda p, a: a * (1 - p),
    "{p}% more than {a}": lambda p, a: a * (1 + p),
    "{p}% less than {a}": lambda p, a: a * (1 - p),
    "take {p}% off {a}": lambda p, a: a * (1 - p),
    "a {p}% tip on {a}": lambda p, a: a * p,
    "{a} with a {p}% tip added": lambda p, a: a * (1 + p),
}


def random_sum(random: Random, depth: int = 3) -> Sum:
    """Return an expression of at most so many levels."""
    if depth == 0 or random.random() < 0.15:
        return _number(random)
    kind = random.randrange(5)
    a, b = (random_sum(random, depth - 1) for _ in range(2))
    if kind < 2:
        sign = random.choice([*_INFIX])
        if not b.value and sign in ("/", "÷", "divided by", "over", "mod"):
            sign = "+"
        return Sum(f"{_inner(a)} {sign} {_inner(b)}", _INFIX[sign](a.value, b.value), False)
    if kind == 2:
        form = random.choice([*_OF_TWO])
        if not b.value and any(word in form for word in ("divide", "go into")):
            form = "the sum of {a} and {b}"
        # In parentheses, since “one hundred and five” is one number.
        text = form.format(a=f"({a.text})", b=f"({b.text})")
        return Sum(text, _OF_TWO[form](a.value, b.value), False)
    if kind == 3:
        form = random.choice([*_OF_ONE])
        return Sum(form.format(a=_inner(a)), _OF_ONE[form](a.value), False)
    form, p = random.choice([*_OF_PERCENT]), random.randrange(1, 100)
    return Sum(form.format(a=_inner(a), p=p), _OF_PERCENT[form](Fraction(p, 100), a.value), False)


def plain_chain(random: Random) -> tuple[str, Fraction]:
    """Return a chain without parentheses, and its value by the usual precedence in Python."""
    numbers = [random.randrange(1, 1000) for _ in range(random.randrange(2, 8))]
    signs = [random.choice("+-*/") for _ in numbers[1:]]
    words = {"+": ("+", "plus"), "-": ("-", "minus"), "*": ("*", "times", "×"),
             "/": ("/", "divided by", "÷")}  # fmt: skip
    text, python = str(numbers[0]), f"Fraction({numbers[0]})"
    for sign, number in zip(signs, numbers[1:], strict=True):
        text += f" {random.choice(words[sign])} {number}"
        python += f"{sign}Fraction({number})"
    return text, eval(python, {"Fraction": Fraction})
