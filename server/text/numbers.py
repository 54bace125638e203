"""Numbers in digits, exact as they were written, and in English words."""

import re
from typing import Final, NamedTuple

from server.text.decimals import MAX_DIGITS, Number, opposite, read_plain, scaled
from server.text.language import load_language
from server.text.money import CODES_LOWER, SIGNS
from server.text.number_words import NumberPart, compose_number
from server.text.tokens import Span, Tokens, is_digits, is_word

_ENGLISH: Final = load_language("en")

SUFFIXES: Final = _ENGLISH.numbers.suffixes
MEASURES: Final = _ENGLISH.group("measures")
"""What may be glued to a number without making a name of it: 5kg is 5, and B2B is none."""
MINUS: Final = frozenset({"-", "−", "–"})
_VULGAR: Final = {"½": 0.5, "¼": 0.25, "¾": 0.75}
_MEASURED: Final = frozenset(
    word for words in load_language("common").measures.values() for word in words if len(word) > 2
)
# Words after which "minus 5" is a number of its own and no subtraction.
_BEFORE_MINUS: Final = _ENGLISH.group("before_minus") | {"", *",(=+*/:"}

# Groups of thousands (western, Indian, with dots), or digits alone; then 1.2.3, or decimals.
_NUMBER: Final = re.compile(
    r"(?:([0-9]{1,3}(?:(?:\.[0-9]{3}){2,}(?!\.?[0-9])|\.[0-9]{3}(?=,[0-9]{1,2}(?![0-9]))))"
    r"(?:,([0-9]++))?"
    r"|([0-9]{1,3}([,'’_])[0-9]{3}(?:\4[0-9]{3})*(?!\4?[0-9])"
    r"|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?!,?[0-9])"
    # With blanks that do not break, or with round thousands: 100 200 300 are three numbers.
    r"|[0-9]{1,3}(?:[\u00a0\u202f][0-9]{3})+(?![0-9])"
    r"|[1-9][0-9]{0,2}(?: [0-9]{3})? 000(?! ?[0-9])"
    r"|[0-9]++)(?:((?:\.[0-9]++){2,})|\.([0-9]++))?)"
    r"(?:e([+-]?[0-9]++))?"
)
_IN_NAMES: Final = re.compile(r"[\w−–-]")
"""What glues digits to a name: B2B, covid-19, item_4."""
_JOINED: Final = re.compile("[0-9][,/][0-9]")
_NO_SEPARATORS: Final = str.maketrans("", "", ".,'’_ \u00a0\u202f")


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
    """Return the number whose first digits are the word at `index`."""
    text = tokens.folded
    start = tokens.starts[index]
    match = _NUMBER.match(text, start)
    if match is None:
        return Digits(index, index + 1, None)
    dotted, fraction, whole, _, version, decimals, exponent = match.groups()
    digits = ""
    if not version:
        digits = (dotted or whole).translate(_NO_SEPARATORS)
        digits += f".{fraction or decimals}" if fraction or decimals else ""
        digits += f"e{exponent}" if exponent else ""
    first, last = index, tokens.index_at(match.end(5) if version else match.end())
    before = text[start - 1 : start]
    # `.5` is a number; the 5 of `3.5` and of `...5` is not another one.
    beyond = text[max(start - 2, 0) : max(start - 1, 0)]
    if digits and before == "." and not (beyond == "." or beyond.isalnum()):
        digits, first = f"0.{digits}", index - 1
    around = text[max(tokens.starts[first] - 1, 0) : tokens.starts[first]]
    around += text[tokens.ends[last - 1] : tokens.ends[last - 1] + 1]
    if _IN_NAMES.search(around) and (end_of_name := _part_of_a_name(tokens, first, last)):
        return Digits(first, end_of_name, None)
    value = read_plain(digits) if 0 < len(digits) <= MAX_DIGITS else None
    if value is None:
        return Digits(first, last, None)
    if tokens.word(last) in _SCALING:
        value, last = _scaled_up(tokens, first, last, value)
    if tokens.word(first - 1) in _SIGNING:
        return _with_sign(tokens, first, last, value)
    return Digits(first, last, value)


def _part_of_a_name(tokens: Tokens, first: int, last: int) -> int:
    """Return the index after the name that the digits belong to (B2B, covid-19, 42nd), or 0."""
    end = 0
    if tokens.glued(first):
        before = tokens.words[first - 1]
        if before in MINUS or before == "_":
            if tokens.glued(first - 1) and is_word(tokens.words[first - 2]):
                end = last
        elif is_word(before) and before not in CODES_LOWER:
            # The x of 6x7 and the h of 2h30m join two numbers.
            joins = before in MEASURES and is_digits(tokens.word(first - 2))
            end = 0 if joins else last
    if not end and tokens.glued(last):
        after = tokens.words[last]
        digits_follow = tokens.glued(last + 1) and is_digits(tokens.words[last + 1])
        ends_number = after in MEASURES or (
            (after in SUFFIXES or after in CODES_LOWER) and not digits_follow
        )
        if (is_word(after) and not ends_number) or (after == "_" and tokens.glued(last + 1)):
            end = last + 1
    while end and tokens.glued(end) and tokens.words[end][0].isalnum():
        end += 1
    return end


def _scaled_up(tokens: Tokens, first: int, last: int, value: Number) -> tuple[Number, int]:
    """Read k, m, bn, hundred, million … and `and a half` after the digits."""
    word, glued = tokens.words[last], tokens.glued(last)
    if word == "m" and tokens.glued(first) and tokens.words[first - 1] == "h":
        return value, last  # the minutes of 2h30m
    factor = SUFFIXES.get(word) if glued else SCALES_PLURAL.get(word)
    if factor and not (glued and tokens.glued(last + 1) and is_digits(tokens.words[last + 1])):
        more = scaled(value, factor)
        if more is not None:
            return more, last + 1
    if isinstance(value, int) and word in _VULGAR:
        return value + _VULGAR[word], last + 1
    if isinstance(value, int) and (half := and_a_half(tokens, last)):
        return value + 0.5, half
    return value, last


def _with_sign(tokens: Tokens, first: int, last: int, value: Number) -> Digits:
    sign = first - 1
    if tokens.glued(first) and tokens.words[sign] in SIGNS:
        sign -= 1
    if tokens.word(sign) in MINUS and tokens.glued(sign + 1):
        negative = Digits(sign if sign == first - 1 else first, last, opposite(value))
        before = tokens.word(sign - 1)
        if not tokens.glued(sign):
            is_number = is_digits(before) or before in ONES or before in TENS
            return Digits(first, last, value, after_number=True) if is_number else negative
        takes_away = before[:1].isalnum() or before in (")", "%", ".")
        return Digits(first, last, value) if takes_away else negative
    if minus_before(tokens, first, last):
        return Digits(first - 1, last, opposite(value))
    return Digits(first, last, value)


def minus_before(tokens: Tokens, first: int, last: int) -> bool:
    """Whether a spelt sign stands before the number: negative six, or is minus 5.

    In "minus 5 from 20" it takes away.
    """
    word = tokens.word(first - 1)
    if word == "minus":
        return tokens.word(first - 2) in _BEFORE_MINUS and tokens.word(last) != "from"
    return word == "negative"


def ambiguous_numbers(tokens: Tokens, span: Span) -> bool:
    """Whether the number can be read in two ways, for what it is glued to.

    1,5 is a fraction to some and two numbers to others; 1/2 is a fraction or a division.
    """
    text = tokens.folded
    after, before = span.end, span.start - 1
    return bool(
        _JOINED.fullmatch(text, after - 1, after + 2)
        or (before > 0 and _JOINED.fullmatch(text, before - 1, before + 2))
    )


def over(tokens: Tokens, one: Span, other: Span) -> bool:
    """Whether the two numbers stand as a fraction: 1/2."""
    return tokens.text[one.end : other.start] == "/" and ambiguous_numbers(tokens, one)


# In words: twenty five, a hundred, half a dozen, two and a half.

_WORDS: Final = {w: value for w, value in _ENGLISH.numbers.words.items() if " " not in w}
ONES: Final = {word: value for word, value in _WORDS.items() if value < 20}
TENS: Final = {word: value for word, value in _WORDS.items() if value >= 20}
SCALES: Final = _ENGLISH.numbers.multipliers
SCALES_PLURAL: Final = SCALES | {
    f"{word}s": value for word, value in SCALES.items() if word != "hundred"
}
_FRACTIONS: Final = _ENGLISH.numbers.fractions
PART_NAMES: Final = {
    f"{name}{plural}": number
    for name, number in _ENGLISH.numbers.ordinals.items()
    if 2 < number < 11
    for plural in ("", "s")
}
"""What each part of so many is called: two thirds, one fifth."""
NUMBER_STARTERS: Final = _WORDS.keys() | {"a", "an", "half", "point"}
_SCALING: Final = SUFFIXES.keys() | SCALES_PLURAL.keys() | _VULGAR.keys() | {"and"}
_SIGNING: Final = MINUS | SIGNS.keys() | {"minus", "negative"}
# "this one", "which one", "one of them": words before and after that make no number of it.
_NOT_BEFORE_ONE: Final = _ENGLISH.group("not_before_one")
_NOT_AFTER_ONE: Final = _ENGLISH.group("not_after_one")


def read_words(tokens: Tokens, index: int) -> tuple[Number, int] | None:
    """Return the number that begins at the word at `index`, and the index after it."""
    word, before, following = tokens.words[index], tokens.word(index - 1), tokens.word(index + 1)
    if word == "half":
        scale = SCALES.get(tokens.word(index + 2))
        if following in ("a", "an") and scale:
            return scale // 2, index + 3
        if following in ("a", "an") and tokens.word(index + 2) in _MEASURED:
            return 0.5, index + 2  # half a litre
        return (0.5, index + 1) if following == "of" else None
    if word in ("a", "an"):
        if following == "quarter" and tokens.word(index + 2) == "of":
            return 0.25, index + 2
        return _composed(tokens, index) if following in SCALES else None
    if word == "point":
        decimals, after = _decimals(tokens, index + 1)
        in_number = before in ONES or is_digits(before)
        return (float(f"0.{decimals}"), after) if decimals and not in_number else None
    if word == "one" and (before in _NOT_BEFORE_ONE or following in _NOT_AFTER_ONE):
        return None
    return _composed(tokens, index)


def _composed(tokens: Tokens, index: int) -> tuple[Number, int]:
    parts = [NumberPart(_WORDS.get(tokens.words[index], 1))]
    ends = [index + 1]
    while True:
        at = ends[-1]
        joined = tokens.word(at) == "and"
        hyphen = tokens.word(at) == "-" and tokens.glued(at) and tokens.glued(at + 1)
        at += joined or hyphen
        word = tokens.word(at)
        if word in _WORDS and (not hyphen or tokens.words[at - 2] in TENS):
            parts.append(NumberPart(_WORDS[word], joined=joined))
        elif word in SCALES and not (joined or hyphen):
            parts.append(NumberPart(SCALES[word], multiplies=True))
        else:
            break
        ends.append(at + 1)
    count, value = compose_number(parts, tens_join=False)
    after = ends[count - 1]
    if tokens.word(after) == "point":
        decimals, end = _decimals(tokens, after + 1)
        if decimals:
            return float(f"{value}.{decimals}"), end
    if half := and_a_half(tokens, after):
        return value + 0.5, half
    fraction = _FRACTIONS.get(tokens.word(after))
    if fraction and value and tokens.word(after + 1) == "of":
        return value * fraction, after + 1
    return value, after


def read_whole(text: str) -> Number | None:
    """Return the number that the whole text writes, in digits or in words."""
    tokens = Tokens(text)
    value: Number | None = None
    last = 0
    if is_digits(tokens.word(0)):
        digits = read_digits(tokens, 0)
        value, last = digits.value, digits.last
    elif tokens.word(0) in NUMBER_STARTERS and (read := read_words(tokens, 0)):
        value, last = read
    return value if last == len(tokens) else None


def and_a_half(tokens: Tokens, index: int) -> int:
    """Return the index after `and a half` at `index`, or 0."""
    return index + 3 if tokens.words[index : index + 3] == ["and", "a", "half"] else 0


def _decimals(tokens: Tokens, index: int) -> tuple[str, int]:
    digits = ""
    while len(digits) < 15 and 0 <= ONES.get(tokens.word(index), 10) < 10:
        digits += str(ONES[tokens.words[index]])
        index += 1
    return digits, index
