"""Numbers in English words: twenty five, a hundred, half a dozen, two and a half."""

from typing import Final

from server.text.decimals import Number
from server.text.language import load_language
from server.text.tokens import Tokens, is_digits

_ENGLISH: Final = load_language("en")

ONES: Final = {
    word: value for word, value in _ENGLISH.numbers.words.items() if value < 20 and " " not in word
}
TENS: Final = {word: value for word, value in _ENGLISH.numbers.words.items() if 20 <= value < 100}
SCALES: Final = _ENGLISH.numbers.multipliers
SCALES_PLURAL: Final = SCALES | {
    f"{word}s": value for word, value in SCALES.items() if word != "hundred"
}
PARTS: Final = _ENGLISH.numbers.fractions
PART_NAMES: Final = {
    f"{name}{plural}": number
    for name, number in _ENGLISH.numbers.ordinals.items()
    if 2 < number < 11
    for plural in ("", "s")
}
"""What each part of so many is called: two thirds, one fifth."""
STARTERS: Final = frozenset(ONES) | frozenset(TENS) | {"a", "an", "half", "three", "point"}

# "this one", "which one", "one of them": words before and after that make no number of it.
_NOT_BEFORE_ONE: Final = _ENGLISH.group("not_before_one")
_NOT_AFTER_ONE: Final = _ENGLISH.group("not_after_one")


def read_words(tokens: Tokens, index: int) -> tuple[Number, int] | None:
    """The number that begins at the word at `index`, and the index after it."""
    words = tokens.words
    word = words[index]
    if word in ("a", "an"):
        return _after_article(tokens, index)
    if word == "half":
        return _half(tokens, index)
    if word == "point" and index + 1 < len(words) and words[index + 1] in ONES:
        if index and (words[index - 1] in ONES or is_digits(words[index - 1])):
            return None
        decimals, after = _decimals(tokens, index)
        return (float(f"0.{decimals}"), after) if decimals else None
    if word == "one" and _means_a_thing(tokens, index):
        return None
    return _whole(tokens, index)


def _means_a_thing(tokens: Tokens, index: int) -> bool:
    return tokens.word(index - 1) in _NOT_BEFORE_ONE or tokens.word(index + 1) in _NOT_AFTER_ONE


def _after_article(tokens: Tokens, index: int) -> tuple[Number, int] | None:
    following = tokens.word(index + 1)
    if following in SCALES:
        return _scale_up(tokens, index + 1, 1)
    if following == "quarter" and tokens.word(index + 2) == "of":
        return 0.25, index + 2
    return None


def _half(tokens: Tokens, index: int) -> tuple[Number, int] | None:
    following = tokens.word(index + 1)
    if following in ("a", "an") and tokens.word(index + 2) in SCALES:
        return SCALES[tokens.word(index + 2)] // 2, index + 3
    return (0.5, index + 1) if following == "of" else None


def _whole(tokens: Tokens, index: int) -> tuple[Number, int] | None:
    small = _below_hundred(tokens, index)
    if small is None:
        return None
    value, after = small
    total, after = _scale_up(tokens, after, value)
    return _with_fraction(tokens, after, total)


def _below_hundred(tokens: Tokens, index: int) -> tuple[int, int] | None:
    word = tokens.word(index)
    if word in TENS:
        after = index + 1
        if tokens.word(after) == "-" and tokens.glued(after) and tokens.glued(after + 1):
            after += 1
        ones = ONES.get(tokens.word(after), 0)
        if 0 < ones < 10:
            return TENS[word] + ones, after + 1
        return TENS[word], index + 1
    if word in ONES:
        return ONES[word], index + 1
    return None


def _scale_up(tokens: Tokens, index: int, value: int) -> tuple[int, int]:
    """Read `hundred`, `thousand` … after `value`, and what is added to them."""
    total, group, largest = 0, value, 0
    while True:
        scale = SCALES.get(tokens.word(index), 0)
        if scale and group and (scale <= 100 or not largest or scale < largest):
            index += 1
            if scale <= 100:
                group *= scale
            else:
                total, group, largest = total + group * scale, 0, scale
        elif not largest and group == value:
            return value, index
        else:
            more = _added(tokens, index, group, largest)
            if more is None or group % 100:
                return total + group, index
            added, index = more
            group += added


def _added(tokens: Tokens, index: int, group: int, largest: int) -> tuple[int, int] | None:
    """What follows a scale: `five`, or `and five`, but no number of its own.

    One hundred and one thousand is a number, two hundred and five hundred are two.
    """
    joined = tokens.word(index) == "and"
    small = _below_hundred(tokens, index + joined)
    scale = SCALES.get(tokens.word(small[1]), 0) if small else 0
    if joined and scale:
        goes_on = not group and largest > scale if scale <= 100 else scale < (largest or scale + 1)
        return small if goes_on else None
    return small


def _with_fraction(tokens: Tokens, index: int, value: int) -> tuple[Number, int]:
    if tokens.word(index) == "point":
        decimals, after = _decimals(tokens, index)
        if decimals:
            return float(f"{value}.{decimals}"), after
    after = and_a_half(tokens, index)
    if after:
        return value + 0.5, after
    part = PARTS.get(tokens.word(index))
    if part and value and tokens.word(index + 1) == "of":
        return value * part, index + 1
    return value, index


def and_a_half(tokens: Tokens, index: int) -> int:
    """Index after `and a half` at `index`, or 0."""
    words = tokens.words[index : index + 3]
    return index + 3 if words == ["and", "a", "half"] else 0


def _decimals(tokens: Tokens, index: int) -> tuple[str, int]:
    digits = ""
    index += 1
    while len(digits) < 15 and 0 <= ONES.get(tokens.word(index), 10) < 10:
        digits += str(ONES[tokens.word(index)])
        index += 1
    return digits, index
