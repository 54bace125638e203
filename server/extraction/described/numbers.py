"""The numbers of a question with what they measure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from server.extraction.described.units import TIMES, measure_after
from server.extraction.types import SpanSet
from server.text.decimals import read_plain
from server.text.parsed_text import ParsedText
from server.text.tokens import Span, is_digits

_ORDINAL: Final = frozenset({"st", "nd", "rd", "th"})
_YEARS: Final = range(1000, 2200)
_LARGEST_SPELT: Final = 12


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of the question, with what it measures."""

    start: int
    end: int
    first: int
    last: int
    value: Any
    measure: str
    unit: str = ""
    is_year: bool = False
    ordinal: bool = False
    spelt: bool = False
    """Whether it is a small number in words, as the two of "two numbers"; or "a year"."""


def read_amounts(reading: ParsedText, taken: SpanSet) -> list[Amount]:
    """Every number, ordinal and span of time that no argument has taken."""
    found = [_amount(reading, span) for span in reading.of("number")]
    found += _ordinals(reading)
    starts = {one.start for one in found}
    for span in reading.of("duration"):
        if span.start not in starts:
            bare = reading.tokens.words[span.first] in ("a", "an", "every", "per", "each")
            found.append(
                Amount(
                    span.start, span.end, span.first, span.last, span.value, "duration",
                    spelt=bare,
                )
            )  # fmt: skip
    free = [one for one in found if taken.free(one.start, one.end)]
    return sorted(free, key=lambda one: one.start)


def places_aside(reading: ParsedText) -> Iterator[tuple[int, int]]:
    """Small numbers in words and digits of units, which a question may hold for no argument."""
    tokens = reading.tokens
    for amount in read_amounts(reading, SpanSet()):
        first, last = amount.first, amount.last
        power = tokens.glued(first) and tokens.words[first - 1] in "^²³"
        times = tokens.glued(last) and tokens.words[last] in "x×" and tokens.glued(last + 1)
        timed = tokens.glued(first) and tokens.words[first - 1] in "x×"
        if amount.spelt or power or times or timed:
            yield amount.start, amount.end


def _amount(reading: ParsedText, span: Span) -> Amount:
    text = reading.clean[span.start : span.end]
    value, end = span.value, span.end
    letter = text[-1:].lower()
    if letter in ("m", "k", "b") and len(text) > 1 and text[-2].isdigit() and span.unit == "":
        # 1.75m is no million where something is measured; what reads it decides.
        plain = read_plain(text[:-1].replace(",", ""))
        measure = {"m": "length", "k": "temperature"}.get(letter, "")
        after = reading.clean[end : end + 3]
        if measure and after[:1] in ("/", "^", "²"):
            measure = measure_after(reading.clean, end - 1)
        return Amount(span.start, end, span.first, span.last, (value, plain), measure)
    unit = "" if span.unit == "-" else span.unit
    if unit == "%":
        measure = "percent"
    elif unit and unit.isupper():
        measure = "money"
    elif unit in TIMES:
        measure = unit
    else:
        measure = measure_after(reading.clean, end)
    word = reading.tokens.words[span.first]
    year = (
        len(word) == 4
        and isinstance(value, int)
        and value in _YEARS
        and not measure
        and span.last - span.first == 1
    )
    spelt = not any(map(str.isdigit, text)) and isinstance(value, int) and value <= _LARGEST_SPELT
    return Amount(span.start, end, span.first, span.last, value, measure, unit, year, spelt=spelt)


def _ordinals(reading: ParsedText) -> Iterator[Amount]:
    tokens = reading.tokens
    for index, word in enumerate(tokens.words[:-1]):
        if is_digits(word) and tokens.words[index + 1] in _ORDINAL and tokens.glued(index + 1):
            if index in reading.moments:
                continue
            yield Amount(
                tokens.starts[index], tokens.ends[index + 1], index, index + 2, int(word), "",
                ordinal=True,
            )  # fmt: skip
