"""Dates in digits and in words, and the formats that people name."""

from datetime import date
from typing import Final, NamedTuple

from server.text.calendar import MONTHS, WEEKDAYS, full_year, valid_date
from server.text.language import load_language
from server.text.numbers import ORDINALS
from server.text.span import DateOrder, Span
from server.text.tokens import Tokens, is_digits

_ENGLISH: Final = load_language("en")

_AFTER_MAY: Final = _ENGLISH.group("not_after_may")
"""After these, may is no month: 25 may be too many."""

_SEPARATORS: Final = frozenset("-/.")


class WrittenDate(NamedTuple):
    """Words up to `last` write a date; `value` is None when no calendar has it."""

    first: int
    last: int
    value: date | None
    weak: bool = False


def read_date(tokens: Tokens, index: int, order: DateOrder, today: date) -> WrittenDate | None:
    """The date whose first part is the digits at `index`."""
    if tokens.glued(index) and tokens.words[index - 1] in ("-", "/", "."):
        before = tokens.word(index - 2)
        if tokens.glued(index - 1) and before[:1].isalnum():
            return None
    return _numeric(tokens, index, order) or _day_first(tokens, index, today)


def read_month(tokens: Tokens, index: int, today: date) -> WrittenDate | None:
    """The date that begins with the name of a month: March 5, 2025; March 2025 is none."""
    month = MONTHS[tokens.words[index]]
    after = index + 1
    if tokens.word(after) == "." and len(tokens.words[index]) <= 4:
        after += 1
    if tokens.word(after) == "the":
        after += 1
    digits = tokens.word(after)
    if tokens.word(after) in "-/" and digits and tokens.glued(after):
        after += 1
        digits = tokens.word(after)
    if not is_digits(digits):
        return None
    if len(digits) == 4:  # a month, which is no date, but its year is no free number
        return WrittenDate(index, after + 1, None, weak=True)
    if not _is_day(digits) or _goes_on(tokens, after + 1):
        return None
    after = _skip_ordinal(tokens, after + 1)
    year, after = _year(tokens, after, today)
    return WrittenDate(index, after, valid_date(year, month, int(digits)))


def _numeric(tokens: Tokens, index: int, order: DateOrder) -> WrittenDate | None:
    words = tokens.words[index : index + 5]
    separated = len(words) == 5 and words[1] == words[3] and words[1] in _SEPARATORS
    if separated and all(tokens.glued(index + step) for step in (1, 2, 3, 4)):
        return _three_parts(tokens, index, order)
    compact = words[0]
    if len(compact) == 8 and compact[:2] in ("19", "20") and not _goes_on(tokens, index + 1):
        day = valid_date(int(compact[:4]), int(compact[4:6]), int(compact[6:]))
        return WrittenDate(index, index + 1, day, weak=True) if day else None
    return None


def _three_parts(tokens: Tokens, index: int, order: DateOrder) -> WrittenDate | None:
    one, separator, two, _, three = tokens.words[index : index + 5]
    if not is_digits(three) or _goes_on(tokens, index + 5):
        return None
    last = index + 5
    if two in MONTHS and separator == "-":  # 9-Nov-1989
        if _is_day(one) and len(three) in (2, 4):
            return WrittenDate(
                index, last, valid_date(full_year(int(three)), MONTHS[two], int(one))
            )
        return None
    if not is_digits(two) or len(two) > 2:
        return None
    if len(one) == 4 and len(three) <= 2:
        return WrittenDate(index, last, valid_date(int(one), int(two), int(three)))
    if len(one) > 2 or len(three) not in (2, 4) or (separator == "." and len(three) == 2):
        return None
    year = full_year(int(three)) if len(three) == 2 else int(three)
    day, month = int(one), int(two)
    month_first = order == "mdy" and separator != "."
    if (month_first and day <= 12) or month > 12:
        day, month = month, day
    return WrittenDate(index, last, valid_date(year, month, day))


def _day_first(tokens: Tokens, index: int, today: date) -> WrittenDate | None:
    """5 March 2025, 5th of March, the 5th of March."""
    if not _is_day(tokens.words[index]):
        return None
    after = _skip_ordinal(tokens, index + 1)
    if tokens.word(after) == "of":
        after += 1
    month = MONTHS.get(tokens.word(after))
    if month is None or (tokens.word(after) == "may" and tokens.word(after + 1) in _AFTER_MAY):
        return None
    after += 1
    if tokens.word(after) == "." and len(tokens.words[after - 1]) <= 4:
        after += is_digits(tokens.word(after + 1))
    year, after = _year(tokens, after, today)
    return WrittenDate(index, after, valid_date(year, month, int(tokens.words[index])))


def _year(tokens: Tokens, index: int, today: date) -> tuple[int, int]:
    """The year that stands at `index`, or this year."""
    at = index + (tokens.word(index) == "," or tokens.word(index) == "of")
    digits = tokens.word(at)
    goes_on = tokens.glued(at + 1) and tokens.word(at + 1) in ("-", "%", "/")
    if len(digits) == 4 and digits[:2] in ("17", "18", "19", "20", "21") and not goes_on:
        return int(digits), at + 1
    return today.year, index


def _skip_ordinal(tokens: Tokens, index: int) -> int:
    return index + (tokens.word(index) in ORDINALS and tokens.glued(index))


def _is_day(digits: str) -> bool:
    return is_digits(digits) and len(digits) <= 2 and 1 <= int(digits) <= 31


def _goes_on(tokens: Tokens, index: int) -> bool:
    """Whether the digits before `index` are part of something longer, as in 5.50 or 5%."""
    if not tokens.glued(index):
        return False
    word = tokens.words[index]
    if word in ("-", "/", ".", ":", ","):
        return tokens.glued(index + 1) and is_digits(tokens.words[index + 1])
    return word in ("%", "_") or (word not in ORDINALS and word != "t" and word[:1].isalnum())


def with_weekday(tokens: Tokens, written: WrittenDate) -> WrittenDate:
    """The date together with the weekday in front of it: Friday, March 7, 2025."""
    before = written.first - 1
    before -= tokens.word(before) in (",", "the")
    if tokens.word(before) == ",":
        before -= 1
    if tokens.word(before) in WEEKDAYS:
        return written._replace(first=before)
    return written


_PARTS: Final = frozenset({"d", "dd", "m", "mm", "mmm", "mmmm", "yy", "yyyy"})
_FORMAT_SEPARATORS: Final = frozenset("/.-,")
_NAMED: Final = _ENGLISH.date_formats
_STYLES: Final = _ENGLISH.group("format_nouns")


def find_date_formats(tokens: Tokens) -> list[Span]:
    """Every format of a date in the text, as it was written; named ones by their parts."""
    found: list[Span] = []
    index = 0
    while index < len(tokens):
        word = tokens.words[index]
        last = 0
        if word in _PARTS:
            last = _lettered(tokens, index)
        elif word == "%":
            last = _strftime(tokens, index)
        if last:
            found.append(_span(tokens, index, last, tokens.slice(index, last)))
        elif word in _NAMED and (word == "iso" or tokens.word(index + 1) in _STYLES):
            last = index + 1
            found.append(_span(tokens, index, last, _NAMED[word]))
        index = last or index + 1
    return found


def _span(tokens: Tokens, first: int, last: int, value: str) -> Span:
    start, end = tokens.starts[first], tokens.ends[last - 1]
    return Span("date_format", start, end, first, last, value)


def _lettered(tokens: Tokens, index: int) -> int:
    """Index after at least two of DD, MM, YYYY … with signs or spaces between, or 0."""
    last, parts, long = index, 0, False
    while tokens.word(last) in _PARTS:
        parts += 1
        long = long or len(tokens.words[last]) > 1
        end = last + 1
        last = end
        while tokens.word(last) in _FORMAT_SEPARATORS and last - end < 2:
            last += 1
    return end if parts > 1 and long else 0


def _strftime(tokens: Tokens, index: int) -> int:
    """Index after %d, or %d.%m.%Y, or 0."""
    end, last = 0, index
    while tokens.word(last) == "%" and tokens.glued(last + 1):
        directive = tokens.words[last + 1]
        if not (directive.isalpha() and directive.isascii() and len(directive) == 1):
            break
        end = last + 2
        last = end
        while tokens.word(last) in "/.-,:" and tokens.word(last) and last - end < 2:
            last += 1
    return end
