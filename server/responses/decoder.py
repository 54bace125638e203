"""The body of an answer to Python data, within limits."""

import codecs
import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, Literal

from server.errors import ToolFailed

ResponseType = Literal["auto", "json", "csv", "text"]

MAX_DEPTH: Final = 64
"""Levels of objects and lists within each other."""

MAX_DIGITS: Final = 300
"""Digits of a number; about the range of a double, which most clients can read."""

CHARSETS: Final = frozenset(
    (
        *("ascii", "utf-8", "utf-8-sig", "iso8859-1", "utf-16", "utf-16-le", "utf-16-be"),
        *(f"cp{number}" for number in range(1250, 1259)),
    )
)
"""The only ones that text is decoded from, by the names of `codecs`: each takes linear time."""


class AnswerUnreadable(ToolFailed):
    """The answer came, and is not what it should be."""


@dataclass(frozen=True, slots=True)
class Body:
    """An answer's bytes and what it calls them: its `Content-Type`."""

    content: bytes
    content_type: str = ""

    @property
    def kind(self) -> str:
        """The media type, in lower case and without parameters."""
        return self.content_type.partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        for part in self.content_type.split(";")[1:]:
            name, _, value = part.partition("=")
            if name.strip().lower() == "charset" and value.strip().strip('"'):
                return value.strip().strip('"')
        return "utf-8"


def read_body(body: Body, expected: ResponseType, *, structured: bool, max_values: int) -> Any:
    """Return the data of an answer, None for no body, or raise `AnswerUnreadable`.

    `structured` says that a mapping will be applied, so that plain text will not do.
    `max_values` bounds everything that it holds, at any depth.
    """
    if not body.content.strip():
        return None
    kind = body.kind
    try:
        chosen = expected if expected != "auto" else _guess_type(kind, structured=structured)
        return _READERS[chosen](body, max_values)
    except AnswerUnreadable as unreadable:
        printable = kind and kind.isprintable() and kind.isascii() and len(kind) < 80
        named = f" (it calls it {kind})" if printable else ""
        raise AnswerUnreadable(f"{unreadable}{named}") from unreadable


def read_json(body: Body, max_values: int) -> Any:
    """Return the JSON of a body, or raise `AnswerUnreadable`."""
    try:
        data = json.loads(
            body.content, parse_int=_whole, parse_float=_fraction, parse_constant=_not_json
        )
    except (ValueError, RecursionError):
        raise AnswerUnreadable("answered something that is not JSON") from None
    check_size(data, max_values)
    return data


def check_size(data: Any, max_values: int) -> None:
    """Raise `AnswerUnreadable` when data holds too many values, or too deep ones."""
    level: list[Any] = [data]
    count = depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise AnswerUnreadable(f"answered with more than {MAX_DEPTH} levels")
        count += len(level)
        if count > max_values:
            raise _too_many(max_values)
        level = list(chain.from_iterable(map(_children, level)))


def _children(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _too_many(max_values: int) -> AnswerUnreadable:
    return AnswerUnreadable(f"answered with more than {max_values} values")


def _whole(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise AnswerUnreadable(f"answered with a number of more than {MAX_DIGITS} digits")
    return int(text)


def _fraction(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise AnswerUnreadable("answered with a number that is too large to be one")
    return number


def _not_json(name: str) -> Any:
    raise AnswerUnreadable(f"answered with {name}, which is no number in JSON")


def _read_csv(body: Body, max_values: int) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = []
    try:
        reader = csv.reader(io.StringIO(_read_text(body, max_values), newline=""), strict=True)
        header: list[str] = next(_filled(reader), [])
        if len(header) > max_values:
            raise _too_many(max_values)
        for row in _filled(reader):
            if len(row) > len(header):
                raise AnswerUnreadable("answered CSV with rows longer than its header")
            # A short row costs as much as a whole one, so it counts as much.
            if (len(rows) + 1) * len(header) > max_values:
                raise _too_many(max_values)
            rows.append(dict.fromkeys(header, "") | dict(zip(header, row, strict=False)))
    except csv.Error:
        raise AnswerUnreadable("answered something that is not CSV") from None
    return rows


def _filled(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    return (row for row in rows if row)


def _read_text(body: Body, _max_values: int = 0) -> str:
    try:
        name = codecs.lookup(body.charset).name
    except (LookupError, ValueError):
        name = ""
    if name not in CHARSETS:
        raise AnswerUnreadable("answered text in an encoding that is not read here")
    try:
        text = body.content.decode(name)
    except UnicodeError:
        raise AnswerUnreadable("answered text that is not in the encoding that it names") from None
    if "\x00" in text:
        raise AnswerUnreadable("answered something that is not text")
    return text.removeprefix("\ufeff")


_READERS: Final[Mapping[ResponseType, Callable[[Body, int], Any]]] = {
    "json": read_json,
    "csv": _read_csv,
    "text": lambda body, _: _read_text(body).strip(),
}


def _guess_type(kind: str, *, structured: bool) -> ResponseType:
    if kind == "application/json" or kind.endswith("+json"):
        return "json"
    if kind in ("text/csv", "application/csv"):
        return "csv"
    if structured and kind in ("", "text/plain", "application/octet-stream"):
        return "json"
    if structured:
        raise AnswerUnreadable("answered something other than JSON or CSV")
    if kind.startswith("text/") or not kind:
        return "text"
    raise AnswerUnreadable("answered something that cannot be read as text")
