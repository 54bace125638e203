"""Values of rows as people read them: numbers, money and dates, by column and language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import Any, Final, Literal, TypeVar

from server.core.suggestions import format_value
from server.errors import ArgumentsInvalid
from server.text.date_formats import read_format
from server.text.language import DisplaySpec, load_language, shipped_languages, shipped_names

_T = TypeVar("_T")

_CURRENCIES: Final = load_language("common").currencies
CURRENCIES: Final = frozenset(_CURRENCIES.codes)
_SIGNS: Final = {code: sign for sign, code in reversed(_CURRENCIES.signs.items())}
_PATTERN: Final = re.compile(r"([^#0.,]*)(#,##)?0(?:\.(0+))?([^#0.,]*)")
_MOMENT: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
_WORD: Final = re.compile(r"[^\W\d_A-Z]+|[A-Z][^\W\d_A-Z]*|[A-Z]+(?![^\W\d_A-Z])")
_MOST_DECIMALS: Final = 6
"""A number with more of them was computed, and is rounded to be read."""
_LEFT_DECIMALS: Final = 4


@dataclass(frozen=True, slots=True)
class NumberPattern:
    """How a number is written: `#,##0.00 km` groups thousands and has two decimals."""

    before: str = ""
    grouped: bool = True
    decimals: int = 0
    after: str = ""

    @classmethod
    def read(cls, text: str) -> "NumberPattern":
        """Read a pattern; raise ArgumentsInvalid where it is none."""
        found = _PATTERN.fullmatch(text)
        if found is None:
            raise ArgumentsInvalid(f"{text!r} is no number format; write one as #,##0.00 or 0.0 %")
        before, grouped, decimals, after = found.groups()
        return cls(before, grouped is not None, len(decimals or ""), after)


@dataclass(frozen=True, slots=True)
class ValueRules:
    """What a domain says of its values, by names of columns; `*` stands for any letters.

    The name `""` is for all: every number, every date, and the currency of all that is money.
    """

    numbers: Mapping[str, NumberPattern] = field(default_factory=dict)
    dates: Mapping[str, str] = field(default_factory=dict)
    currencies: Mapping[str, str] = field(default_factory=dict)


class ValueWriter:
    """Writes the values of columns in one language, as a domain's rules say."""

    def __init__(self, rules: ValueRules, language: str) -> None:
        self._rules = rules
        code = language.partition("-")[0].lower()
        self._display = load_language(code).display if code in shipped_names() else DisplaySpec()

    def write(self, column: str, value: Any) -> str:
        """A value of a column in words; what is neither number nor date stays as it is."""
        if isinstance(value, bool) or value is None:
            return format_value(value)
        if isinstance(value, int | float | Decimal):
            return self._number(column, Decimal(str(value)))
        if isinstance(value, str):
            return self._moment(column, value)
        return format_value(value)

    def count(self, number: int) -> str:
        return self._grouped(str(number))

    def currency(self, column: str) -> str | None:
        """The currency of a column, "" where it is not known, or None where it is no money."""
        named = _by_column(self._rules.currencies, column)
        if named is not None:
            return named
        return self._rules.currencies.get("", "") if _kind(column) == "money" else None

    def _number(self, column: str, value: Decimal) -> str:
        if not value.is_finite():
            return str(value)
        pattern = _by_column(self._rules.numbers, column)
        currency = self.currency(column)
        if pattern is None and currency is not None:
            return self._money(value, currency)
        if pattern is None and is_identifier(column):
            return format_value(value)
        if pattern is None:
            pattern = self._rules.numbers.get("")
        if pattern is None:
            return self._grouped(format_value(_readable(value)))
        text = format(_rounded(value, pattern.decimals), "f")
        text = self._grouped(text) if pattern.grouped else self._ungrouped(text)
        return f"{pattern.before}{text}{pattern.after}"

    def _money(self, value: Decimal, currency: str) -> str:
        text = format(_rounded(abs(value), _CURRENCIES.decimals.get(currency, 2)), "f")
        written = self._grouped(text)
        if currency:
            sign = _SIGNS.get(currency, currency)
            form = self._display.money
            if len(sign) > 1 and form == "{sign}{number}":
                form = "{sign} {number}"
            written = form.format(sign=sign, number=written)
        return f"-{written}" if value < 0 and text.strip("0.") else written

    def _grouped(self, text: str) -> str:
        whole, _, decimals = text.partition(".")
        sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
        grouped = (
            f"{int(digits):,}".replace(",", self._display.group) if len(digits) > 3 else digits
        )
        return f"{sign}{grouped}{self._display.decimal if decimals else ''}{decimals}"

    def _ungrouped(self, text: str) -> str:
        return text.replace(".", self._display.decimal)

    def _moment(self, column: str, text: str) -> str:
        found = _MOMENT.fullmatch(text)
        if found is None:
            return text
        day, clock, seconds, zone = found.groups()
        form = _by_column(self._rules.dates, column) or self._rules.dates.get("")
        try:
            if form is not None:
                return read_format(form, "date_format").write(datetime.fromisoformat(text))
            written = read_format(self._display.date, "date").write(date.fromisoformat(day))
        except (ValueError, ArgumentsInvalid):
            return text
        if clock is None or (clock, seconds or "00") == ("00:00", "00"):
            return written
        time = clock if seconds in (None, "00") else f"{clock}:{seconds}"
        return f"{written} {time}{f' {zone}' if zone else ''}"


_Kind = Literal["identifier", "money", ""]


@cache
def _column_words() -> tuple[frozenset[str], frozenset[str]]:
    """Columns are named in any language, whichever the answer is in."""
    shown = [language.display for language in shipped_languages()]
    identifiers = frozenset().union(*(each.identifiers for each in shown))
    return identifiers, frozenset().union(*(each.amounts for each in shown))


@lru_cache(maxsize=4096)
def _kind(column: str) -> _Kind:
    """What the name of a column says that its numbers are.

    What it is about stands last in some languages and first in others: `payment_id`,
    `numero_pedido`. What comes after "per" says only how it is counted.
    """
    words = [word.lower() for word in _WORD.findall(column)]
    words = words[: words.index("per")] if "per" in words[1:] else words
    identifiers, amounts = _column_words()
    if not words:
        return ""
    if words[-1] in amounts:
        return "money"
    if words[-1] in identifiers or (words[0] in identifiers and "of" not in words):
        return "identifier"
    return "money" if amounts.intersection(words) else ""


def is_identifier(column: str) -> bool:
    """Whether the numbers of a column only name something: an id, a year, a postal code."""
    return _kind(column) == "identifier"


def is_moment(value: Any) -> bool:
    return isinstance(value, str) and _MOMENT.fullmatch(value) is not None


def label_of(column: str) -> str:
    """The name of a column as people write it: `order_count` is `order count`."""
    return " ".join(column.replace("_", " ").split())


def _by_column(rules: Mapping[str, _T], column: str) -> _T | None:
    folded = column.lower()
    return next(
        (rule for name, rule in rules.items() if name and fnmatchcase(folded, name.lower())), None
    )


def _rounded(value: Decimal, decimals: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def _readable(value: Decimal) -> Decimal:
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or -exponent <= _MOST_DECIMALS or not value:
        return value
    # Below 1 the digits that tell come later.
    return _rounded(value, max(_LEFT_DECIMALS, _LEFT_DECIMALS - 1 - value.adjusted()))
