"""Units of measure: the one that follows a number, and those that a description names."""

import re
from collections.abc import Mapping
from typing import Final

from server.text.decimals import Number, as_decimal, plain_number
from server.text.durations import UNITS as TIME_UNITS
from server.text.language import load_language

_UNITS: Final = dict[str, str](TIME_UNITS) | {
    word: unit
    for unit, words in load_language("common").measures.items()
    for word in (unit, *words)
}
_METRIC: Final[Mapping[str, tuple[str, int]]] = {
    "kg": ("g", 3), "g": ("g", 0), "mg": ("g", -3), "km": ("m", 3), "m": ("m", 0),
    "cm": ("m", -2), "mm": ("m", -3), "l": ("l", 0), "ml": ("l", -3),
}  # fmt: skip
"""What metric units are of, and how many places they are away from it."""
_MEASURED: Final = load_language("common").measures.keys() - {
    "dollar", "euro", "gbp", "cent", "percent", "degree", "radian",
}  # fmt: skip
_ALIASES: Final = {
    "sqm": "sq m", "sqft": "sq ft", "mph": "mi/h", "kmh": "km/h", "kph": "km/h", "mpg": "mi/gallon",
}  # fmt: skip
_POWERS: Final = {"sq": "^2", "cu": "^3", "2": "^2", "²": "^2", "3": "^3", "³": "^3"}
_PERIODS: Final = frozenset({"day", "week", "month", "year"})
"""Miles a year are miles; miles an hour are a speed."""
_LONGEST: Final = 24

# One run each of what units are made of; nothing to go back to.
_UNIT: Final = r"(?:sq(?:uare)?\.?\s|cubic\s|degrees?\s)?[°µμΩ%a-z]+(?:/[a-z]+)?(?:\^?[23²³])?"
_AFTER: Final = re.compile(rf"\s{{0,2}}-?\s?({_UNIT})", re.IGNORECASE)
_NAMED: Final = re.compile(
    rf"\b(?:in|as)\s+(?:an?\s+|the\s+)?({_UNIT})|\(\s*(?:in\s+)?({_UNIT})\s*\)|,\s*({_UNIT})\.?$",
    re.IGNORECASE,
)
_PER: Final = re.compile(r"\s*(?:per|/)\s*(\w+)(\s+squared|\^?[2²])?")


def unit_after(text: str, place: int) -> str:
    """Return the unit of a number that ends at `place`, in one spelling; empty for none."""
    found = _AFTER.match(text, place, place + _LONGEST)
    if found is None:
        return ""
    return _spelling(found[1].lower(), text[found.end() : found.end() + _LONGEST].lower())


def units_in(text: str) -> frozenset[str]:
    """Return the units that a description says a value is given in: in kilograms, (m/s)."""
    lowered = text.lower()
    named = ((found[found.lastindex or 0], found.end()) for found in _NAMED.finditer(lowered))
    return frozenset(_spelling(word, lowered[e : e + _LONGEST]) for word, e in named) - {""}


def is_measure(unit: str) -> bool:
    """Whether a unit measures a thing, and neither money, a share, an angle nor time alone."""
    base = unit.partition("^")[0].partition("/")[0]
    return base in _MEASURED


def converted(value: Number, unit: str, wanted: str) -> Number | None:
    """Return `value` of one metric unit in another of its kind; None where there is no factor."""
    if unit == wanted:
        return value
    mine, other = _METRIC.get(unit), _METRIC.get(wanted)
    if mine is None or other is None or mine[0] != other[0]:
        return None
    return plain_number(as_decimal(value).scaleb(mine[1] - other[1]))


def unit_of(word: str) -> str:
    """Return the unit that a single word names, in the singular or the plural; empty for none."""
    return _UNITS.get(word) or _UNITS.get(word.removesuffix("s"), "")


def _spelling(written: str, rest: str) -> str:
    """One spelling for a unit with its power and what it is counted per; empty for no unit."""
    *before, word = _ALIASES.get(written, written).split()
    word, slash, below = word.partition("/")
    unit = unit_of(word.rstrip("^23²³"))
    power = _POWERS.get(before[0][:2] if before else word[-1:], "")
    rate = _PER.match(f"/{below}" if slash else rest)
    per = unit_of(rate[1]) or rate[1] if rate else ""
    if not unit or rate is None or per in _PERIODS:
        return unit and unit + power
    return f"{unit}{power}/{per}{'^2' if rate[2] else ''}"
