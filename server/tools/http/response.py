"""The body of an answer to Python data: read within limits, decoded, and mapped."""

import csv
import io
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
from jmespath.exceptions import JMESPathError

from server.errors import ToolFailed
from server.library.expressions import compile_path
from server.library.http_model import ResponseMapping, ResponseType

_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS
_MAX_DETAIL_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class Received:
    host: str
    status: int
    headers: httpx.Headers
    body: bytes


class BodyUnusable(ToolFailed):
    """The body goes on past its limit, or is packed in a way that cannot be undone."""


class AnswerUnreadable(ToolFailed):
    """The answer came, and is not what it should be."""


async def read_limited(response: httpx.Response, max_bytes: int) -> bytes:
    """Return the unpacked body, or raise `BodyUnusable`: over `max_bytes`, or badly packed.

    A small gzip body can hold gigabytes, so unpacking stops at the limit as well.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise BodyUnusable("sent a body in an encoding that was not asked for")
    unpack = zlib.decompressobj(_GZIP_OR_ZLIB) if encoding not in ("", "identity") else None
    body = bytearray()
    received = 0
    async for chunk in response.aiter_raw():
        received += len(chunk)
        try:
            body += unpack.decompress(chunk, max_bytes + 1 - len(body)) if unpack else chunk
        except zlib.error as broken:
            raise BodyUnusable("sent a body that cannot be unpacked") from broken
        if max(len(body), received) > max_bytes:
            size = f"{max_bytes / 1e6:g} MB" if max_bytes >= 100_000 else f"{max_bytes} bytes"
            raise BodyUnusable(f"sent more than {size}")
    if unpack and received and not unpack.eof:
        raise BodyUnusable("broke off its answer")
    return bytes(body)


def read_answer(received: Received, expected: ResponseType, *, structured: bool) -> Any:
    """Return the data of an answer, None for no body, or raise `AnswerUnreadable`.

    `structured` says that a mapping will be applied, so that plain text will not do.
    """
    if not received.body.strip():
        return None
    kind = received.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        chosen = expected if expected != "auto" else _guess_type(kind, structured=structured)
        return _READERS[chosen](received)
    except AnswerUnreadable as unreadable:
        printable = kind and kind.isprintable() and kind.isascii() and len(kind) < 80
        named = f" (it calls it {kind})" if printable else ""
        raise AnswerUnreadable(f"{received.host} {unreadable}{named}") from unreadable


def read_json(received: Received) -> Any:
    """Return the JSON of a body, or raise `AnswerUnreadable`."""
    try:
        return json.loads(received.body)
    except (ValueError, RecursionError):
        raise AnswerUnreadable("answered something that is not JSON") from None


def _read_csv(received: Received) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = []
    try:
        for row in csv.DictReader(io.StringIO(_read_text(received), newline=""), strict=True):
            if None in row:
                raise AnswerUnreadable("answered CSV with rows longer than its header")
            rows.append({name: value or "" for name, value in row.items()})
    except csv.Error:
        raise AnswerUnreadable("answered something that is not CSV") from None
    return rows


def _read_text(received: Received) -> str:
    charset = "utf-8"
    for part in received.headers.get("content-type", "").split(";")[1:]:
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip('"') or charset
    try:
        text = received.body.decode(charset)
    except (LookupError, UnicodeDecodeError):
        raise AnswerUnreadable("answered text in an encoding that cannot be read") from None
    if "\x00" in text:
        raise AnswerUnreadable("answered something that is not text")
    return text.removeprefix("\ufeff")


_READERS: Final[Mapping[ResponseType, Callable[[Received], Any]]] = {
    "json": read_json,
    "csv": _read_csv,
    "text": lambda received: _read_text(received).strip(),
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


@dataclass(frozen=True, slots=True)
class Mapped:
    """One page of an answer. `single` says that it is one thing, not a list of things."""

    items: list[Any] = field(default_factory=list)
    single: bool = False
    total: int | None = None
    next: Any = None


def map_answer(data: Any, mapping: ResponseMapping, *, next_path: str = "") -> Mapped:
    """Return what the mapping asks for, or raise `ToolFailed`: an error, or another shape.

    A path that leads nowhere is an empty list of items, and a field without a value.
    """
    complaint = _search(mapping.error, data) if mapping.error else None
    if complaint:
        detail = one_line(complaint) if isinstance(complaint, str) else ""
        raise ToolFailed(f"says: {detail}" if detail else "reported an error")
    found = _search(mapping.items, data) if mapping.items else data
    total = _whole_number(_search(mapping.total, data)) if mapping.total else None
    following = _search(next_path, data) if next_path else None
    if found is None:
        return Mapped([], single=data is None, total=total, next=following)
    if isinstance(found, list):
        items = [_map_fields(item, mapping.fields) for item in found]
        return Mapped(items, total=total, next=following)
    if mapping.items and not isinstance(found, Mapping):
        raise ToolFailed("answered in another shape than the template expects")
    return Mapped([_map_fields(found, mapping.fields)], single=True, total=total, next=following)


def one_line(text: str) -> str:
    """Return what a service says, short and without anything a terminal would act on."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= _MAX_DETAIL_CHARS else f"{line[: _MAX_DETAIL_CHARS - 1]}…"


def _map_fields(item: Any, fields: Mapping[str, str]) -> Any:
    return {name: _search(path, item) for name, path in fields.items()} if fields else item


def _search(path: str, data: Any) -> Any:
    try:
        return compile_path(path).search(data)
    except JMESPathError as wrong:
        raise ToolFailed("answered in another shape than the template expects") from wrong


def _whole_number(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value)
