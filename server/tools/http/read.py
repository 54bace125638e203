"""Bytes of an answer to Python data: JSON, CSV or text."""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any, Final

from server.errors import ToolFailed
from server.library.http import ResponseType
from server.tools.http.body import Received

_CSV_TYPES: Final = ("text/csv", "application/csv")


class AnswerUnreadable(ToolFailed):
    """The answer came, and is not what it should be."""


def read_answer(received: Received, expected: ResponseType, *, structured: bool) -> Any:
    """Return the data of an answer; None when it has no body.

    `structured` says that a mapping will be applied, so that plain text will not do.

    Raises:
        AnswerUnreadable: another content type, or a body that is not what it claims.
    """
    if not received.body.strip():
        return None
    kind = content_type(received.headers)
    try:
        chosen = expected if expected != "auto" else _guess(kind, structured=structured)
        if chosen == "json":
            return read_json(received.body)
        text = _decode(received.body, received.headers)
        return read_csv(text) if chosen == "csv" else text.strip()
    except AnswerUnreadable as unreadable:
        named = f" (it calls it {kind})" if kind else ""
        raise AnswerUnreadable(f"{received.host} {unreadable}{named}") from unreadable


def content_type(headers: Mapping[str, str]) -> str:
    """The media type alone, lower-cased and harmless to print."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind if kind.isprintable() and kind.isascii() and len(kind) < 80 else ""


def read_json(body: bytes) -> Any:
    """Parse JSON.

    Raises:
        AnswerUnreadable: not JSON, or nested deeper than anyone means.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise AnswerUnreadable("answered something that is not JSON") from None


def read_csv(text: str) -> list[dict[str, str]]:
    """Parse CSV with a header line; cells stay text.

    Raises:
        AnswerUnreadable: a row that has more cells than the header, or quotes that do not match.
    """
    rows: list[dict[str, str]] = []
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        for row in reader:
            if None in row:
                raise AnswerUnreadable("answered CSV with rows longer than its header")
            rows.append({name: value or "" for name, value in row.items()})
    except csv.Error:
        raise AnswerUnreadable("answered something that is not CSV") from None
    return rows


def _guess(kind: str, *, structured: bool) -> ResponseType:
    if kind == "application/json" or kind.endswith("+json"):
        return "json"
    if kind in _CSV_TYPES:
        return "csv"
    if structured and kind in ("", "text/plain", "application/octet-stream"):
        return "json"
    if structured:
        raise AnswerUnreadable("answered something other than JSON or CSV")
    if kind.startswith("text/") or not kind:
        return "text"
    raise AnswerUnreadable("answered something that cannot be read as text")


def _decode(body: bytes, headers: Mapping[str, str]) -> str:
    charset = "utf-8"
    for part in headers.get("content-type", "").split(";")[1:]:
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip('"') or charset
    try:
        text = body.decode(charset)
    except (LookupError, UnicodeDecodeError):
        raise AnswerUnreadable("answered text in an encoding that cannot be read") from None
    if "\x00" in text:
        raise AnswerUnreadable("answered something that is not text")
    return text.removeprefix("\ufeff")
