"""Date formats: strftime, `YYYY-MM-DD` and its kin, and names such as `long`.

Every directive is written here rather than by the C library, so that a format gives
the same text on every system and locale, and a hostile one cannot reach anything.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from server.core.suggestions import described_value, shown_value
from server.errors import ArgumentsInvalid
from server.text.dates import MONTH_NAMES, WEEKDAY_NAMES
from server.text.language import load_language
from server.text.tokens import Span, Tokens

_NOTATION: Final = """
    YYYY=Y yyyy=Y YY=y yy=y MMMM=B mmmm=B MMM=b mmm=b MM=m mm=m M=-m m=-m Do=th
    dddd=A DDDD=A EEEE=A ddd=a DDD=a EEE=a DD=d dd=d D=-d d=-d HH=H H=-H hh=H h=-H
    SSS=ms ss=S SS=S s=-S A=p a=P ZZ=z Z=:z z=Z Q=Q T=
"""
_TOKENS: Final = dict(pair.split("=") for pair in _NOTATION.split())
"""Token → directive; `T` is the letter that stands between date and time in ISO 8601."""

_ANY_TOKEN: Final = "|".join(sorted(_TOKENS, key=len, reverse=True))
_TOKEN: Final = re.compile(_ANY_TOKEN)
_WORD_OF_TOKENS: Final = re.compile(f"(?:{_ANY_TOKEN})+")
_PART: Final = re.compile(r"\[([^\]]*)\]|([A-Za-z]+)|[^A-Za-z\[]+|\[")

_MINUTES: Final[Mapping[str, str]] = {"m": "M", "-m": "-M"}
_TWELVE: Final[Mapping[str, str]] = {"H": "I", "-H": "-I"}


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
    places = [place for place, (_, directive) in enumerate(pieces) if directive]
    texts = ["", *(pieces[place][0] for place in places), ""]
    settled = list(pieces)
    for place, before, text, after in zip(places, texts, texts[1:], texts[2:], strict=False):
        if text in _MINUTES and (before in _TWELVE or after in ("S", "-S")):
            settled[place] = (_MINUTES[text], True)
        elif place in lowercase_hours and ("p" in texts or "P" in texts):
            settled[place] = (_TWELVE[text], True)
    return settled


MAX_FORMAT_CHARS: Final = 100

_EPOCH: Final = datetime(1970, 1, 1)

NAMED: Final[Mapping[str, str]] = {
    "date": "%Y-%m-%d", "datetime": "%Y-%m-%d %H:%M:%S", "time": "%H:%M:%S", "time12": "%-I:%M %p",
    "short": "%b %-d, %Y", "long": "%B %-d, %Y", "full": "%A, %B %-d, %Y", "us": "%m/%d/%Y",
    "eu": "%d/%m/%Y", "rfc2822": "%a, %d %b %Y %H:%M:%S %z", "unix": "%s", "year": "%Y",
    "month": "%B", "day": "%-d", "weekday": "%A", "week": "%-V", "quarter": "%Q",
}  # fmt: skip
"""Formats by name; `iso` is one more, with a time only where there is one."""


def _offset(moment: datetime, separator: str = "") -> str:
    away = moment.utcoffset()
    if away is None:
        return ""
    minutes = round(away.total_seconds() / 60)
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}{separator}{abs(minutes) % 60:02d}"


def _unix_seconds(moment: datetime) -> str:
    """Seconds since 1970; a moment without a zone is taken for UTC."""
    by_clock = moment.replace(tzinfo=None) - _EPOCH
    return str((by_clock - (moment.utcoffset() or timedelta(0))) // timedelta(seconds=1))


def _ordinal(number: int) -> str:
    suffix = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


_DIRECTIVES: Final[Mapping[str, Callable[[datetime], str]]] = {
    "Y": lambda d: f"{d.year:04d}", "y": lambda d: f"{d.year % 100:02d}",
    "C": lambda d: f"{d.year // 100:02d}", "m": lambda d: f"{d.month:02d}",
    "B": lambda d: MONTH_NAMES[d.month - 1], "b": lambda d: MONTH_NAMES[d.month - 1][:3],
    "h": lambda d: MONTH_NAMES[d.month - 1][:3], "j": lambda d: f"{d.timetuple().tm_yday:03d}",
    "d": lambda d: f"{d.day:02d}", "e": lambda d: f"{d.day:2d}",
    "H": lambda d: f"{d.hour:02d}", "k": lambda d: f"{d.hour:2d}",
    "I": lambda d: f"{d.hour % 12 or 12:02d}", "l": lambda d: f"{d.hour % 12 or 12:2d}",
    "M": lambda d: f"{d.minute:02d}", "S": lambda d: f"{d.second:02d}",
    "f": lambda d: f"{d.microsecond:06d}",
    "p": lambda d: "AM" if d.hour < 12 else "PM", "P": lambda d: "am" if d.hour < 12 else "pm",
    "A": lambda d: WEEKDAY_NAMES[d.weekday()], "a": lambda d: WEEKDAY_NAMES[d.weekday()][:3],
    "u": lambda d: str(d.isoweekday()), "w": lambda d: str(d.isoweekday() % 7),
    "U": lambda d: f"{(d.timetuple().tm_yday + 6 - d.isoweekday() % 7) // 7:02d}",
    "W": lambda d: f"{(d.timetuple().tm_yday + 6 - d.weekday()) // 7:02d}",
    "V": lambda d: f"{d.isocalendar().week:02d}",
    "G": lambda d: f"{d.isocalendar().year:04d}",
    "g": lambda d: f"{d.isocalendar().year % 100:02d}",
    "z": _offset, "Z": lambda d: d.tzname() or "", "s": _unix_seconds,
    # Beyond strftime, for the friendly notation.
    "Q": lambda d: str((d.month + 2) // 3), ":z": lambda d: _offset(d, ":"),
    "ms": lambda d: f"{d.microsecond // 1000:03d}", "th": lambda d: _ordinal(d.day),
}  # fmt: skip

_SHORTHANDS: Final[Mapping[str, str]] = {
    "D": "%m/%d/%y", "F": "%Y-%m-%d", "R": "%H:%M", "T": "%H:%M:%S", "X": "%H:%M:%S",
    "r": "%I:%M:%S %p", "x": "%m/%d/%y", "c": "%a %b %e %H:%M:%S %Y",
}  # fmt: skip
_LITERALS: Final[Mapping[str, str]] = {"%": "%", "n": "\n", "t": "\t"}
_UNPADDED: Final = frozenset("mdHIMSjyVUWe")
_KNOWN_DIRECTIVES: Final = ", ".join(
    f"%{key}"
    for key in sorted([*_DIRECTIVES, *_SHORTHANDS, *_LITERALS], key=lambda key: (key.lower(), key))
    if len(key) == 1
)
_READABLE: Final[Mapping[str, str]] = {
    **{key: f"%{key}" for key in "YymBbdjHIMSfpAauwUWVGzZ"},
    "e": "%d",
    "h": "%b",
    "k": "%H",
    "l": "%I",
    "P": "%p",
    ":z": "%z",
    "ms": "%f",
}
"""What strptime calls each directive that can also be read."""

_TIMES: Final = frozenset([*"HIklMSf", "ms"])


@dataclass(frozen=True, slots=True)
class Format:
    """A compiled format: literal text and directives, in order.

    A directive is a key of `_DIRECTIVES`, with `-` before it when zeros in front are
    dropped. `iso` is the format that has a time only where there is one.
    """

    text: str
    pieces: tuple[tuple[str, bool], ...]
    iso: bool = False

    def write(self, value: date) -> str:
        """Return the date in this format."""
        if self.iso:
            return value.isoformat()
        if not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        return "".join(_write(piece, value) if written else piece for piece, written in self.pieces)

    def read(self, text: str) -> date:
        """Return the date that `text` writes in this format; with a time if it has one.

        Raises:
            ArgumentsInvalid: the format cannot be read back or has no year, or the
                text is not written in it.
        """
        pattern, timed = _reading_pattern(self)
        try:
            moment = datetime.strptime(text, pattern)
        except (ValueError, IndexError, OverflowError, re.error):
            raise ArgumentsInvalid(
                f"{shown_value(text)} is not written as {shown_value(self.text)}"
            ) from None
        return moment if timed or moment.tzinfo is not None else moment.date()


@lru_cache(maxsize=256)
def _reading_pattern(shape: Format) -> tuple[str, bool]:
    """The format as strptime knows it, and whether it holds a time of day."""
    names = {piece.lstrip("-") for piece, directive in shape.pieces if directive}
    if not names <= _READABLE.keys():
        what = f"format {shown_value(shape.text)} can be written, but not read back"
        raise ArgumentsInvalid(what)
    if names.isdisjoint("YyG"):
        raise ArgumentsInvalid(f"format {shown_value(shape.text)} has no year")
    pattern = "".join(
        _READABLE[piece.lstrip("-")] if directive else piece.replace("%", "%%")
        for piece, directive in shape.pieces
    )
    return pattern, not names.isdisjoint(_TIMES)


_ISO: Final = Format("iso", (), iso=True)


def read_format(value: Any, name: str) -> Format:
    """Return the format that `value` describes.

    Raises:
        ArgumentsInvalid: not text, too long, or nothing in it stands for a date.
    """
    if not isinstance(value, str):
        raise ArgumentsInvalid(f"{name} must be text, not {described_value(value)}")
    if len(value) > MAX_FORMAT_CHARS:
        raise ArgumentsInvalid(f"{name} is longer than {MAX_FORMAT_CHARS} characters")
    return _compile(value, name)


@lru_cache(maxsize=256)
def _compile(text: str, name: str) -> Format:
    folded = text.strip().casefold()
    if folded == "iso":
        return _ISO
    source = NAMED.get(folded, text)
    pieces = _percent_pieces(source, name) if "%" in source else friendly_pieces(source)
    if not any(directive for _, directive in pieces):
        raise ArgumentsInvalid(
            f"{name} {shown_value(text)} has nothing of a date in it; write it as YYYY-MM-DD, "
            f"as %Y-%m-%d, or as one of iso, {', '.join(NAMED)}"
        )
    return Format(text, tuple(pieces))


def _percent_pieces(text: str, name: str) -> list[tuple[str, bool]]:
    pieces: list[tuple[str, bool]] = []
    for match in re.finditer(r"%(-?)(.?)|[^%]+", text, re.DOTALL):
        dash, letter = match.groups()
        if letter is None:
            pieces.append((match.group(), False))
        elif not dash and letter in _SHORTHANDS:
            pieces += _percent_pieces(_SHORTHANDS[letter], name)
        elif not dash and letter in _LITERALS:
            pieces.append((_LITERALS[letter], False))
        elif letter in (_UNPADDED if dash else _DIRECTIVES):
            pieces.append((dash + letter, True))
        else:
            raise ArgumentsInvalid(
                f"{name} has the unknown directive {shown_value('%' + dash + letter)}; "
                f"known are {_KNOWN_DIRECTIVES}"
            )
    return pieces


def _write(directive: str, moment: datetime) -> str:
    if directive[0] != "-":
        return _DIRECTIVES[directive](moment)
    return _DIRECTIVES[directive[1:]](moment).lstrip("0 ") or "0"


# Formats that a question asks for: as DD/MM/YYYY, %d %B %Y, US format.

_ENGLISH: Final = load_language("en")
_LETTERS: Final = r"(?<![^\W0-9_])(?:dd?|m{1,4}|yy(?:yy)?)(?![^\W0-9_])"
_ASKED: Final = re.compile(
    rf"{_LETTERS}(?:\s*(?:[/.,-]\s*){{0,2}}{_LETTERS})+"
    r"|%[a-z](?![^\W0-9_])(?:\s*(?:[/.,:-]\s*){0,2}%[a-z](?![^\W0-9_]))*"
    rf"|(?<![^\W0-9_])(?:iso|(?:{'|'.join(_ENGLISH.date_formats)})"
    rf"(?=\s*(?:{'|'.join(_ENGLISH.group('format_nouns'))})(?![^\W0-9_])))(?![^\W0-9_])"
)


def find_date_formats(tokens: Tokens) -> list[Span]:
    """Return every format of a date in the text as it was written, named ones by their parts."""
    found: list[Span] = []
    for match in _ASKED.finditer(tokens.folded):
        start, end = match.span()
        first, last = tokens.index_at(start), tokens.index_at(end)
        written = tokens.text[start:end]
        if match[0] in _ENGLISH.date_formats:
            written = _ENGLISH.date_formats[match[0]]
        elif "%" not in written and not re.search("dd|mm|yy", match[0]):
            continue  # "d, m" are letters of something else
        found.append(Span("date_format", start, end, first, last, written))
    return found
