"""Numbers for parameters that are known by description only: by the words and units around."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from server.core.stems import stem
from server.extraction.described.best import Offer, best_assignment
from server.extraction.described.numbers import Amount, read_amounts
from server.extraction.described.told import Told, in_order
from server.extraction.described.units import TIMES
from server.extraction.plan import NUMERIC
from server.extraction.types import SpanSet, ValueCandidate
from server.extraction.values import InvalidValue, number
from server.text.durations import Duration
from server.text.parsed_text import ParsedText
from server.text.tokens import word_set

_DECAY_LEFT: Final = (1.0, 0.95, 0.85, 0.7, 0.55, 0.45, 0.35)
_DECAY_RIGHT: Final = (1.0, 0.8, 0.55, 0.4)
_NAME: Final = 4.0
_ABOUT: Final = 2.0
_NEEDED: Final = 3.0
"""What a required parameter takes a number with if nothing speaks against it."""
_EVIDENCE: Final = 2.0
"""What an optional parameter has to have for a number."""
_STOPS: Final = frozenset(".;?!")
_YEAR_LEADS: Final = word_set("in since from year by until before after of for between during to")


def fill_amounts(
    told: Sequence[Told], reading: ParsedText, taken: SpanSet
) -> dict[str, ValueCandidate]:
    """Give numbers to the numeric parameters, so that the words around them fit best."""
    amounts = read_amounts(reading, taken)
    if not amounts:
        return {}
    bounds = _clauses(reading, amounts)
    shared = _shared(reading, amounts)
    offers: dict[str, list[Offer]] = {}
    values: dict[tuple[str, int], Any] = {}
    for one in in_order(told):
        offers[one.plan.key] = []
        for index, amount in enumerate(amounts):
            value = value_for(one, amount)
            if value is None:
                continue
            points = _points(one, amount, reading, bounds[index], shared[index])
            if one.required:
                points += _NEEDED
            elif points < _EVIDENCE:
                continue
            values[one.plan.key, index] = value
            offers[one.plan.key].append(Offer(points, index))
    return {
        key: ValueCandidate(
            amounts[at].start, amounts[at].end, amounts[at].first, amounts[at].last,
            values[key, at],
        )
        for key, at in best_assignment(offers, amounts).items()
    }  # fmt: skip


def _clauses(reading: ParsedText, amounts: Sequence[Amount]) -> list[tuple[int, int]]:
    """For each number the words that may speak of it: not beyond other numbers or sentences."""
    words = reading.tokens.words
    found: list[tuple[int, int]] = []
    for at, amount in enumerate(amounts):
        low = max((other.last for other in amounts[:at] if other.last <= amount.first), default=0)
        if found and _coordinated(words, amounts[at - 1], amount):
            low = found[-1][0]  # base and height of 6 cm and 10 cm
        later = [other.first for other in amounts[at + 1 :] if other.first >= amount.last]
        high = min(later, default=len(words))
        for index in range(amount.first - 1, low - 1, -1):
            if words[index] in _STOPS and not reading.tokens.glued(index + 1):
                low = index + 1
                break
        for index in range(amount.last, high):
            if words[index] in _STOPS or words[index] in (",", "and"):
                high = index
                break
        found.append((low, high))
    return found


def _shared(reading: ParsedText, amounts: Sequence[Amount]) -> list[tuple[int, ...]]:
    """For each number that is one of several in a row, where that row begins; else nothing."""
    words = reading.tokens.words
    joined = [
        at > 0 and _coordinated(words, amounts[at - 1], amount) for at, amount in enumerate(amounts)
    ]
    found: list[tuple[int, ...]] = []
    first = 0
    for at, amount in enumerate(amounts):
        first = first if joined[at] else amount.first
        in_row = joined[at] or (at + 1 < len(amounts) and joined[at + 1])
        found.append((first,) if in_row else ())
    return found


def _coordinated(words: Sequence[str], one: Amount, other: Amount) -> bool:
    """Whether only a unit and an "and" stand between two numbers."""
    between = words[one.last : other.first]
    return (
        len(between) < 4
        and bool(between)
        and between[-1] in ("and", ",", "or")
        and not any(word in ("of", "is", "at", "in") for word in between)
    )


def _points(
    one: Told, amount: Amount, reading: ParsedText, bounds: tuple[int, int], shared: tuple[int, ...]
) -> float:
    points = _by_words(one, amount, reading, bounds, shared) + _by_measure(one, amount, reading)
    counts = "limit" in one.plan.name.topics
    return points - (1.5 if amount.spelt and not counts else 0.0)


def _by_words(
    one: Told, amount: Amount, reading: ParsedText, bounds: tuple[int, int], shared: tuple[int, ...]
) -> float:
    words = reading.tokens.words
    low, high = bounds
    best_name = best_about = total = 0.0
    first = amount.first
    if shared:
        first = shared[0]
    flat = len(shared) > 0
    for decay, index in zip(_DECAY_LEFT, range(first - 1, low - 1, -1), strict=False):
        at = stem(words[index])
        decay = 0.7 if flat else decay
        best_name = max(best_name, decay * _NAME * one.own.get(at, 0.0))
        best_about = max(best_about, decay * _ABOUT * one.about.get(at, 0.0))
        if words[index] in one.plan.name.leads:
            best_name = max(best_name, decay * 2.6)
    right_name = right_about = 0.0
    for decay, index in zip(_DECAY_RIGHT, range(amount.last, high), strict=False):
        at = stem(words[index])
        right_name = max(right_name, decay * _NAME * one.own.get(at, 0.0))
        right_about = max(right_about, decay * _ABOUT * one.about.get(at, 0.0))
    total = max(best_name, right_name) + 0.25 * min(best_name, right_name)
    return total + max(best_about, right_about) + 0.25 * min(best_about, right_about)


def _by_measure(one: Told, amount: Amount, reading: ParsedText) -> float:
    words = one.plan.name.words
    about_years = one.a_year
    if amount.is_year:
        lead = reading.tokens.word(amount.first - 1)
        if about_years:
            return 4.0
        return -4.0 if lead in _YEAR_LEADS else -1.0
    if about_years and amount.measure != "year":
        return -4.0 if amount.measure else -0.5
    if amount.ordinal:
        return 1.0 if "century" in words or "ordinal" in words else -3.5
    measure, wanted = amount.measure, one.measures
    if not measure:
        return -0.5 if wanted else 0.0
    if not wanted:
        return -2.5 if measure == "percent" and one.plan.parameter.type == "integer" else -0.3
    if measure in wanted:
        return 4.0
    if measure == "duration":
        return 2.0
    if measure in TIMES and wanted <= TIMES:
        return 0.5
    return -4.0


def value_for(one: Told, amount: Amount) -> Any:
    """The number as the parameter takes it; None when it cannot."""
    value = amount.value
    if isinstance(value, tuple):
        value = value[1] if amount.measure in one.measures else value[0]
    if isinstance(value, Duration) and amount.spelt and not one.measures & TIMES:
        return None  # "in a year" is no 1
    if isinstance(value, Duration):
        unit = next((m for m in one.measures if m in TIMES), "")
        value = value.count_in(unit) if unit else None
    elif amount.measure in TIMES and one.measures & TIMES and amount.measure not in one.measures:
        value = _converted(value, amount.measure, next(iter(one.measures & TIMES)))
    if value is None:
        return None
    try:
        if amount.measure == "percent" and _as_fraction(one):
            value = _hundredth(value)
        return one.plan.checker.numeric(number(value))
    except InvalidValue:
        return None


_PER: Final[Mapping[tuple[str, str], int]] = {
    ("year", "month"): 12, ("week", "day"): 7, ("day", "hour"): 24, ("hour", "minute"): 60,
    ("minute", "second"): 60, ("hour", "second"): 3600, ("day", "minute"): 1440,
}  # fmt: skip


def _converted(value: Any, unit: str, wanted: str) -> Any:
    factor = _PER.get((unit, wanted))
    return value * factor if factor is not None else None


def _as_fraction(one: Told) -> bool:
    """Whether 5% is 0.05 for the parameter, and not 5."""
    if one.plan.parameter.type != "number":
        return False
    told = one.description.lower()
    if "decimal" in told or "0.0" in told or "between 0 and 1" in told:
        return True
    return not ("percent" in told or "%" in told or "percent" in " ".join(one.plan.name.words))


def _hundredth(value: Any) -> Any:
    return Decimal(str(value)) / 100


def is_amount(one: Told) -> bool:
    return one.plan.role in NUMERIC
