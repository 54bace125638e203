"""Numbers in digits, exact as they were written."""

from decimal import Decimal
from typing import Final, NamedTuple

from server.text.currencies import CODES_LOWER, SIGNS
from server.text.decimals import Number, read_plain, scaled
from server.text.language import load_language
from server.text.number_words import ONES, SCALES_PLURAL, TENS, and_a_half
from server.text.span import Span
from server.text.tokens import Tokens, is_digits, is_word

_ENGLISH: Final = load_language("en")

SUFFIXES: Final = _ENGLISH.numbers.suffixes
MEASURES: Final = _ENGLISH.group("measures")
"""What may be glued to a number without making a name of it: 5kg is 5, and B2B is none."""

ORDINALS: Final = frozenset({"st", "nd", "rd", "th"})
MINUS: Final = frozenset({"-", "−", "–"})
_THOUSANDS: Final = frozenset({",", "'", "’", "_"})
_VULGAR: Final = {"½": "0.5", "¼": "0.25", "¾": "0.75"}
_LONGEST: Final = 400

# Words after which "minus 5" is a number of its own and no subtraction.
_BEFORE_A_SIGN: Final = _ENGLISH.group("before_minus") | {"", *",(=+*/:"}


class Digits(NamedTuple):
    """A number in digits, from word `first` (its sign, if it has one) up to `last`.

    `after_number` says that its minus follows another number, so that it may as well
    be a subtraction: `value` is then without the sign. `value` is None for what looks
    like a number and is none: a version, a name, too many digits.
    """

    first: int
    last: int
    value: Number | None
    after_number: bool = False


def read_digits(tokens: Tokens, index: int) -> Digits:
    """The number whose first digits are the word at `index`."""
    text, last = _mantissa(tokens, index)
    if text and tokens.glued(last):
        text, last = _exponent(tokens, text, last)
    first = index
    if text and _point_before(tokens, index):
        text, first = f"0.{text}", index - 1
    named = _part_of_a_name(tokens, first, last)
    if named:
        return Digits(first, _end_of_name(tokens, max(last, named)), None)
    if not text or len(text) > _LONGEST:
        return Digits(first, last, None)
    value = read_plain(text)
    if value is None:
        return Digits(first, last, None)
    minutes = tokens.word(last) == "m" and tokens.glued(first) and tokens.words[first - 1] == "h"
    scaled_value, last = (value, last) if minutes else _scale(tokens, value, last)
    return _with_sign(tokens, first, last, scaled_value)


def _mantissa(tokens: Tokens, index: int) -> tuple[str, int]:
    """Digits, groups of thousands and decimals; empty text for 1.2.3 and the like."""
    words = tokens.words
    groups, last = _groups(tokens, index)
    separator = words[index + 1] if last > index + 1 else ""
    text = "".join(groups)
    point = "," if separator == "." else "."
    if _next_group(tokens, last, point):
        if _next_group(tokens, last + 2, point) and point == ".":
            return "", _end_of_dotted(tokens, last)
        return f"{text}.{words[last + 1]}", last + 2
    return text, last


def _groups(tokens: Tokens, index: int) -> tuple[list[str], int]:
    """Groups of digits that make one whole number, and the index after them."""
    words = tokens.words
    lead = words[index]
    separator = tokens.word(index + 1)
    if len(lead) > 3 or not (separator in _THOUSANDS or separator == "."):
        return [lead], index + 1
    groups, last = [lead], index + 1
    while _next_group(tokens, last, separator) and len(words[last + 1]) in (2, 3):
        groups.append(words[last + 1])
        last += 2
    if _next_group(tokens, last, separator):
        return [lead], index + 1
    sizes = {len(group) for group in groups[1:-1]}
    ends_well = len(groups) > 1 and len(groups[-1]) == 3
    western = ends_well and sizes <= {3}
    indian = ends_well and sizes == {2} and len(lead) <= 2 and separator == ","
    if separator == ".":  # 1.234.567 or 1.234,56; a single 1.234 has decimals
        decimals = _next_group(tokens, last, ",")
        western = western and (len(groups) > 2 or (decimals and len(words[last + 1]) < 3))
        indian = False
    return (groups, last) if western or indian else ([lead], index + 1)


def _next_group(tokens: Tokens, index: int, separator: str) -> bool:
    return (
        tokens.word(index) == separator
        and is_digits(tokens.word(index + 1))
        and tokens.glued(index)
        and tokens.glued(index + 1)
    )


def _end_of_dotted(tokens: Tokens, index: int) -> int:
    while _next_group(tokens, index, "."):
        index += 2
    return index


def _exponent(tokens: Tokens, text: str, last: int) -> tuple[str, int]:
    if tokens.word(last) != "e" or not tokens.glued(last + 1):
        return text, last
    sign = tokens.word(last + 1)
    digits = last + 2 if sign in ("-", "+") and tokens.glued(last + 2) else last + 1
    if not is_digits(tokens.word(digits)):
        return text, last
    return f"{text}e{sign if digits > last + 1 else ''}{tokens.words[digits]}", digits + 1


def _point_before(tokens: Tokens, index: int) -> bool:
    """Whether `.5` stands here, and no `3.5` or `...5`."""
    if tokens.word(index - 1) != "." or not tokens.glued(index):
        return False
    before = tokens.word(index - 2)
    return not (tokens.glued(index - 1) and (before == "." or before[:1].isalnum()))


def _part_of_a_name(tokens: Tokens, first: int, last: int) -> int:
    """Index after the name that the digits belong to (B2B, covid-19, 42nd), or 0."""
    if tokens.glued(first):
        before = tokens.words[first - 1]
        if before in MINUS or before == "_":
            before = tokens.word(first - 2) if tokens.glued(first - 1) else ""
            if is_word(before):
                return last
        elif is_word(before) and not (before in CODES_LOWER or _joins_numbers(tokens, first - 1)):
            return last
    if tokens.glued(last):
        after = tokens.words[last]
        if is_word(after) and not _may_follow(tokens, last):
            return last + 1
        if after == "_" and tokens.glued(last + 1):
            return last + 1
    return 0


def _end_of_name(tokens: Tokens, last: int) -> int:
    while tokens.glued(last) and tokens.words[last][0].isalnum():
        last += 1
    return last


def _joins_numbers(tokens: Tokens, index: int) -> bool:
    """Whether the word is the x of 6x7 or the h of 2h30m."""
    return tokens.words[index] in MEASURES and is_digits(tokens.word(index - 1))


def _may_follow(tokens: Tokens, index: int) -> bool:
    word = tokens.words[index]
    if word in MEASURES or word in _VULGAR:
        return True
    return (word in SUFFIXES or word in CODES_LOWER) and not _glued_digits(tokens, index + 1)


def _glued_digits(tokens: Tokens, index: int) -> bool:
    return tokens.glued(index) and is_digits(tokens.words[index])


def _scale(tokens: Tokens, value: Number, last: int) -> tuple[Number, int]:
    """Read k, m, bn, hundred, million … and `and a half` after the digits."""
    word = tokens.word(last)
    factor = SUFFIXES.get(word) if tokens.glued(last) else SCALES_PLURAL.get(word)
    if factor and not (tokens.glued(last) and _glued_digits(tokens, last + 1)):
        more = scaled(value, factor)
        if more is not None:
            return more, last + 1
    if word in _VULGAR and isinstance(value, int):
        return value + float(_VULGAR[word]), last + 1
    half = and_a_half(tokens, last)
    if half and isinstance(value, int):
        return value + 0.5, half
    return value, last


def _with_sign(tokens: Tokens, first: int, last: int, value: Number) -> Digits:
    sign = first - 1
    if tokens.glued(first) and tokens.word(sign) in SIGNS:
        sign -= 1  # -$5
    word = tokens.word(sign)
    if word in MINUS and tokens.glued(sign + 1):
        if not tokens.glued(sign):
            if _is_number(tokens.word(sign - 1)):
                return Digits(first, last, value, after_number=True)
            return Digits(sign if sign == first - 1 else first, last, opposite(value))
        before = tokens.word(sign - 1)
        if before[:1].isalnum() or before in (")", "%", "."):
            return Digits(first, last, value)
        return Digits(sign if sign == first - 1 else first, last, opposite(value))
    if minus_before(tokens, first, last):
        return Digits(sign, last, opposite(value))
    return Digits(first, last, value)


def minus_before(tokens: Tokens, first: int, last: int) -> bool:
    """Whether a spelt sign stands before the number: negative six, or is minus 5.

    In "minus 5 from 20" it takes away.
    """
    word = tokens.word(first - 1)
    if word == "minus":
        return tokens.word(first - 2) in _BEFORE_A_SIGN and tokens.word(last) != "from"
    return word == "negative"


def _is_number(word: str) -> bool:
    return is_digits(word) or word in ONES or word in TENS


def opposite(value: Number) -> Number:
    """`value` with the other sign; a decimal's own minus would round it."""
    if isinstance(value, Decimal):
        return value.copy_negate()
    return -value if value else value


_SIGNS: Final = frozenset({",", "/"})


def ambiguous_numbers(tokens: Tokens, span: Span) -> bool:
    """Whether the number can be read in two ways, for what it is glued to.

    1,5 is a fraction to some and two numbers to others; 1/2 is a fraction or a division.
    """
    return _joins(tokens, span.last) or _joins(tokens, span.first - 1)


def over(tokens: Tokens, one: Span, other: Span) -> bool:
    """Whether the two numbers stand as a fraction: 1/2."""
    return (
        other.first == one.last + 1 and tokens.words[one.last] == "/" and _joins(tokens, one.last)
    )


def _joins(tokens: Tokens, index: int) -> bool:
    return (
        tokens.word(index) in _SIGNS
        and is_digits(tokens.word(index - 1))
        and is_digits(tokens.word(index + 1))
        and tokens.glued(index)
        and tokens.glued(index + 1)
    )
