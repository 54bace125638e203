"""Values for examples: those of the document, and others like them."""

import json
import re
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, Final
from zlib import crc32

import re2

from server.authoring.naming import words
from server.authoring.phrases import is_plural, name_words, phrases, said
from server.authoring.schema import ApiParameter
from server.library.parameter_types import PARAMETER_TYPES

_MAX_EXAMPLE_CHARS: Final = 40
_MOST_REPEATS: Final = 8
_CLASSES: Final[Mapping[str, str]] = {
    "d": "0123456789",
    "w": "abcdefghjkmnpqrstuvwxyz",
    "s": " ",
}
_PIECE: Final = re.compile(
    r"\\(?P<escape>.)|\[(?P<set>[^\]]+)\]|(?P<group>\((?:\?:)?)|(?P<close>\))|(?P<other>.)"
)
_CODE: Final = re.compile(r"(?=.*[0-9]{2})(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9_-]{2,}[A-Za-z0-9]")
"""What is written like the number of a thing: V-0042, not Atlas or 12."""
_TIMES: Final = ("07:30", "14:15", "09:45", "18:00")
_COUNT: Final = re.compile(r"\{(\d+)(?:,\d*)?\}|[?*+]")


def value_of(parameter: ApiParameter, turn: int = 0) -> Any:
    """Return the value that a parameter has in the example of a turn; turns differ, if they can."""
    if parameter.enum:
        return parameter.enum[turn % len(parameter.enum)]
    given = parameter.example if is_usable(parameter.example, parameter) else None
    match parameter.type:
        case "boolean":
            return True
        case "integer" | "number":
            return _number(parameter, given, turn)
        case "array":
            return given or ([1, 2] if parameter.item_type in ("integer", "number") else ["red"])
        case "object":
            return {"name": "value"}
        case "date" | "datetime" | "time":
            return _moment(parameter.type, given, turn)
    return _text(parameter, given, turn)


def is_free(parameter: ApiParameter) -> bool:
    """Whether its values are any text."""
    known = parameter.enum or parameter.pattern or parameter.is_code
    return parameter.type == "string" and not known


def is_invented(parameter: ApiParameter) -> bool:
    """Whether the codes of a parameter are none that the document shows."""
    return parameter.is_code and not is_usable(parameter.example, parameter)


def spoken(value: Any, parameter: ApiParameter, turn: int = 0) -> str:
    """A value as people write it: 3 May 2026, in use."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if parameter.enum:
        return said(value)
    if isinstance(value, list):
        return " and ".join(map(str, value))
    if isinstance(value, str) and parameter.type in ("date", "datetime"):
        return _day(value, turn)
    if isinstance(value, str) and parameter.type == "time" and turn % 2 and value[3:5] == "00":
        hour = int(value[:2])
        return f"{hour % 12 or 12}{'pm' if hour >= 12 else 'am'}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def is_usable(value: Any, parameter: ApiParameter) -> bool:
    """Whether a document's example can stand in a sentence."""
    match parameter.type:
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array" | "object":
            kind = list if parameter.type == "array" else dict
            return isinstance(value, kind) and len(json.dumps(value)) <= _MAX_EXAMPLE_CHARS
    return (
        isinstance(value, str)
        and 0 < len(value) <= _MAX_EXAMPLE_CHARS
        and value.isprintable()
        and not set(value) & set("\"'“”‘’,;{}$\\")
        and PARAMETER_TYPES[parameter.type].belongs(value)
    )


def shape_of_code(example: Any) -> str:
    """The pattern of codes like an example, letters and digits as it has them; empty for others.

    A number of an example may have a digit more or less in other codes.
    """
    if not isinstance(example, str) or not _CODE.fullmatch(example):
        return ""
    shape = ""
    for run in re.findall(r"[A-Za-z]+|[0-9]+|[^A-Za-z0-9]", example):
        if run.isdigit():
            shape += f"[0-9]{{{max(1, len(run) - 1)},{len(run) + 1}}}"
        else:
            shape += f"[A-Za-z]{{{len(run)}}}" if run.isalpha() else f"{re.escape(run)}?"
    return shape


def like_pattern(pattern: str, seed: str) -> str | None:
    """Return a text that a pattern describes; None where it is not plain enough to write one."""
    body = pattern.removeprefix("^").removesuffix("$").removeprefix(r"\A").removesuffix(r"\z")
    text, end = _written(body, 0, crc32(seed.encode()))
    return text if text and end == len(body) and describes(pattern, text) else None


def describes(pattern: str, text: str) -> bool:
    """Whether a pattern describes all of a text; none that RE2 cannot read does."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options).fullmatch(text) is not None
    except re2.error:
        return False


def _written(pattern: str, at: int, dice: int, *, inner: bool = False) -> tuple[str, int]:
    """Write what a pattern describes from `at` on, and where it ends; the first of choices."""
    text = ""
    while at < len(pattern):
        if pattern[at] == "|":
            depth = 0
            while at < len(pattern) and not (inner and depth == 0 and pattern[at] == ")"):
                depth += {"(": 1, ")": -1}.get(pattern[at], 0)
                at += 1
            continue
        piece = _PIECE.match(pattern, at)
        if piece is None or (piece["close"] and not inner):
            return "", -1
        if piece["close"]:
            return text, at
        at = piece.end()
        letters: str | None = None
        if piece["group"]:
            part, at = _written(pattern, at, dice, inner=True)
            at += 1
        elif piece["set"]:
            part, letters = "", _letters(piece["set"])
        elif piece["escape"]:
            letters = _CLASSES.get(piece["escape"])
            part = piece["escape"]
        else:
            part = "a" if piece["other"] == "." else piece["other"]
        count = _COUNT.match(pattern, at)
        times = 1
        if count is not None:
            at = count.end()
            times = min(int(count[1]), 4 * _MOST_REPEATS) if count[1] else 1
        for _ in range(times):
            dice = (dice * 1_103_515_245 + 12_345) % 2**31
            text += letters[(dice >> 8) % len(letters)] if letters else part
    return text, at


def _letters(members: str) -> str:
    if members.startswith("^"):
        return "a"
    spans = re.findall(r"(.)-(.)|\\?(.)", members)
    return "".join(
        "".join(map(chr, range(ord(low), ord(high) + 1))) if low else _CLASSES.get(one, one)
        if f"\\{one}" in members else one
        for low, high, one in spans
    )  # fmt: skip


def _number(parameter: ApiParameter, given: Any, turn: int) -> float:
    if parameter.name in phrases().limits:
        most = 20 if parameter.maximum is None else int(parameter.maximum)
        return min(2 + (3 * turn) % 11, most)
    if given is not None and turn == 0:
        return int(given) if given == int(given) and parameter.type == "integer" else given
    dice = crc32(f"{parameter.name}:{turn}".encode())
    whole = parameter.type == "integer" or given is None or given == int(given)
    low, high = parameter.minimum, parameter.maximum
    if low is not None and high is not None and high >= low:
        value: float = low + dice % (int(high - low) + 1)
    else:
        size = abs(int(given)) if given else (7 if name_is_count(parameter) else 900)
        start = max(2, size // 2)
        value = start + dice % max(3, size)
        value = max(value, low) if low is not None else value
        value = min(value, high) if high is not None else value
    return int(value) if whole and value == int(value) else value if whole else value + 0.5


def name_is_count(parameter: ApiParameter) -> bool:
    """Whether a number says how many, and not which or how much."""
    return is_plural(words(parameter.name)) or parameter.name in ("quantity", "count")


def _moment(kind: str, given: Any, turn: int) -> str:
    if kind == "time":
        return str(given) if given and turn == 0 else _TIMES[turn % len(_TIMES)]
    dates = phrases().dates
    day = dates[turn % len(dates)]
    return day if kind == "date" else f"{day}T10:00:00"


def later(day: str, turn: int) -> str:
    """A day some days after another, or a time of day some hours after another."""
    if ":" in day[:5]:
        return f"{(int(day[:2]) + 1 + turn % 3) % 24:02}{day[2:]}"
    return (date.fromisoformat(day[:10]) + timedelta(days=2 + turn % 5)).isoformat()


def _day(value: str, turn: int) -> str:
    try:
        day = date.fromisoformat(value[:10])
    except ValueError:
        return value
    clock = f" at {value[11:16]}" if len(value) > 10 else ""
    if turn % 4 == 3 and not clock:
        return day.isoformat()
    if turn % 2:
        return f"{day:%B} {day.day}, {day.year}{clock}"
    return f"{day.day} {day:%B} {day.year}{clock}"


def _text(parameter: ApiParameter, given: Any, turn: int) -> str:
    to_where = phrases().directions.get(name_words(parameter.name)[0]) == "to"
    turn += to_where and parameter.is_code  # another place than that where it comes from
    if given is not None and turn == 0:
        return str(given)
    if parameter.pattern:
        months = tuple(day[:7] for day in phrases().dates)
        for pool in (_TIMES, phrases().dates, months):
            if all(describes(parameter.pattern, each) for each in pool):
                return pool[turn % len(pool)]
        text = like_pattern(parameter.pattern, f"{parameter.name}:{turn}")
        if text is not None:
            return text
    if parameter.is_code and (given is not None or not _pool(parameter)):
        known_codes = phrases().codes
        code = str(given) if given is not None else known_codes[turn % len(known_codes)]
        return _like_code(code, f"{parameter.name}:{turn}")
    if given is not None and not (parameter.others or _pool(parameter)):
        return str(given)
    known: list[str] = [] if given is None else [str(given)]
    known += parameter.others
    known += PARAMETER_TYPES[parameter.type].examples or _pool(parameter)
    known = known or [*phrases().values[-1].values]
    if len(known) == 1:
        known += phrases().values[-1].values
    choices = list(dict.fromkeys(known))
    text = choices[turn % len(choices)]
    if parameter.min_length and len(text) < parameter.min_length:
        text = text * (1 + parameter.min_length // len(text))
    return text[: parameter.max_length] if parameter.max_length else text


def _like_code(example: str, seed: str) -> str:
    """Another code: the letters of an example with other digits."""
    dice = crc32(seed.encode())
    written = ""
    for letter in example:
        dice = (dice * 1_103_515_245 + 12_345) % 2**31
        written += str((dice >> 8) % 10) if letter.isdigit() else letter
    return written


def _pool(parameter: ApiParameter) -> tuple[str, ...]:
    parts = name_words(parameter.name)
    # What it is stands last: the city of recipient_city.
    for own in ({" ".join(parts)}, {parts[-1]}, set(parts)):
        for each in phrases().values:
            if each.words & own:
                return each.values
    return phrases().person_names if len(parts) > 1 and parts[-1] == "name" else ()
