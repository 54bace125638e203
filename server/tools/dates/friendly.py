"""The friendly notation of date formats: `YYYY-MM-DD HH:mm`, `D MMMM YYYY`, `dddd`.

Its letters mean what most people expect of them, in whichever dialect they learnt it:
`mm` beside hours or seconds is minutes and elsewhere the month, `hh` counts to twelve
only when the format also says AM or PM. A word that is not made of tokens stands for
itself, and so does anything in [brackets].
"""

import re
from collections.abc import Mapping
from typing import Final

_TOKENS: Final[Mapping[str, str]] = {
    "YYYY": "Y",
    "yyyy": "Y",
    "YY": "y",
    "yy": "y",
    "MMMM": "B",
    "mmmm": "B",
    "MMM": "b",
    "mmm": "b",
    "MM": "m",
    "mm": "m",
    "M": "-m",
    "m": "-m",
    "Do": "th",
    "dddd": "A",
    "DDDD": "A",
    "EEEE": "A",
    "ddd": "a",
    "DDD": "a",
    "EEE": "a",
    "DD": "d",
    "dd": "d",
    "D": "-d",
    "d": "-d",
    "HH": "H",
    "H": "-H",
    "hh": "H",
    "h": "-H",
    "SSS": "ms",
    "ss": "S",
    "SS": "S",
    "s": "-S",
    "A": "p",
    "a": "P",
    "ZZ": "z",
    "Z": ":z",
    "z": "Z",
    "Q": "Q",
    "T": "",
}
"""Token → directive; `T` is the letter that stands between date and time in ISO 8601."""

_ANY_TOKEN: Final = "|".join(sorted(_TOKENS, key=len, reverse=True))
_TOKEN: Final = re.compile(_ANY_TOKEN)
_WORD_OF_TOKENS: Final = re.compile(f"(?:{_ANY_TOKEN})+")
_PART: Final = re.compile(r"\[([^\]]*)\]|([A-Za-z]+)|[^A-Za-z\[]+|\[")

_MINUTES: Final[Mapping[str, str]] = {"m": "M", "-m": "-M"}
_TWELVE: Final[Mapping[str, str]] = {"H": "I", "-H": "-I"}
_HOURS: Final = ("H", "-H")
_SECONDS: Final = ("S", "-S")
_HALVES: Final = ("p", "P")


def friendly_pieces(text: str) -> list[tuple[str, bool]]:
    """Return literal text (False) and directives (True), in order."""
    pieces: list[tuple[str, bool]] = []
    lowercase_hours: set[int] = set()
    for part in _PART.finditer(text):
        quoted, word = part.groups()
        if word is None or not _WORD_OF_TOKENS.fullmatch(word):
            pieces.append((quoted if quoted is not None else part.group(), False))
            continue
        for token in _TOKEN.findall(word):
            if token in ("h", "hh"):
                lowercase_hours.add(len(pieces))
            pieces.append((_TOKENS[token], True) if _TOKENS[token] else (token, False))
    return _settle(pieces, lowercase_hours)


def _settle(pieces: list[tuple[str, bool]], lowercase_hours: set[int]) -> list[tuple[str, bool]]:
    """Decide, from what stands around them, minutes or month and 12 or 24 hours."""
    directives = [place for place, (_, directive) in enumerate(pieces) if directive]
    twelve = any(pieces[place][0] in _HALVES for place in directives)
    settled = list(pieces)
    for order, place in enumerate(directives):
        text = pieces[place][0]
        before = pieces[directives[order - 1]][0] if order else ""
        after = pieces[directives[order + 1]][0] if order + 1 < len(directives) else ""
        if text in _MINUTES and (before in _HOURS or after in _SECONDS):
            settled[place] = (_MINUTES[text], True)
        elif place in lowercase_hours and twelve:
            settled[place] = (_TWELVE[text], True)
    return settled
