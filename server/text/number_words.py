"""Numbers out of the words that make them, in any language: 2, 100, 5 are two hundred and five."""

from collections.abc import Sequence
from typing import Final, NamedTuple

_HUNDRED: Final = 100
_THOUSAND: Final = 1000


class NumberPart(NamedTuple):
    """One word of a number; `joined` by an "and" before it, or by letters attached to it."""

    value: int
    multiplies: bool = False
    joined: bool = False


def compose_number(
    parts: Sequence[NumberPart], *, last_is_joined: bool = False, tens_join: bool = True
) -> tuple[int, int]:
    """Return how many of `parts` make the longest number from the first on, and its value.

    With `last_is_joined` what ends a number has to be joined, as in Hebrew, unless it is a word
    for hundreds. Without
    `tens_join` only hundreds and more are: a hundred and five, but not twenty and five.
    """
    total, current, largest = 0, parts[0].value, 0
    best = 1, current
    for at, (value, multiplies, joined) in enumerate(parts[1:], 1):
        if multiplies and not joined:
            too_small = 100 <= value <= current
            if not current or too_small or (largest and value >= max(largest, _THOUSAND)):
                break
            current *= value
            if value >= _THOUSAND:
                total, current, largest = total + current, 0, value
        elif not 0 < value < _room_after(current or total):
            break
        else:
            if joined and not tens_join and (current or total) % 100:
                break
            if joined and at + 1 < len(parts) and parts[at + 1].multiplies:
                # One hundred and one thousand is a number, two hundred and five hundred are two.
                scale = parts[at + 1].value
                fits = not largest or scale < largest
                if scale < _THOUSAND:
                    fits = not current and scale < largest
                if not fits and not parts[at + 1].joined:
                    break
            current += value
        if not last_is_joined or joined or multiplies or value >= _HUNDRED:
            best = at + 1, total + current
    return best


def _room_after(value: int) -> int:
    """Return what a part that is added must stay under: 100 after 300, 10 after 20, 1 after 10."""
    if value % 100 == 10:
        return 1
    place = 1
    while value and value % (place * 10) == 0:
        place *= 10
    return place
