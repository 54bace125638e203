"""The body of an answer to Python data: read within limits, then JSON, CSV or text."""

import csv
import io
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx

from server.errors import ToolFailed
from server.library.http_model import ResponseType

_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class Received:
    """An answer that came in whole."""

    host: str
    status: int
    headers: httpx.Headers
    body: bytes


class BodyUnusable(ToolFailed):
    """The body goes on past its limit, or is packed in a way that cannot be undone."""


async def read_limited(response: httpx.Response, max_bytes: int) -> bytes:
    """Return the unpacked body, reading from the network only as long as it fits.

    A small gzip body can hold gigabytes, so unpacking stops at the limit as well.

    Raises:
        BodyUnusable: more than `max_bytes`, packed or unpacked; not the encoding that
            its header names, or one that was not asked for.
    """
    unpack = _unpacker(response.headers.get("content-encoding", ""))
    body = bytearray()
    received = 0
    async for chunk in response.aiter_raw():
        received += len(chunk)
        try:
            body += unpack.decompress(chunk, max_bytes + 1 - len(body)) if unpack else chunk
        except zlib.error as broken:
            raise BodyUnusable("sent a body that cannot be unpacked") from broken
        if max(len(body), received) > max_bytes:
            raise BodyUnusable(f"sent more than {_megabytes(max_bytes)}")
    if unpack and received and not unpack.eof:
        raise BodyUnusable("broke off its answer")
    return bytes(body)


def _unpacker(encoding: str) -> "zlib._Decompress | None":
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip" | "deflate":
            return zlib.decompressobj(_GZIP_OR_ZLIB)
        case _:
            raise BodyUnusable("sent a body in an encoding that was not asked for")


def _megabytes(count: int) -> str:
    return f"{count / 1e6:g} MB" if count >= 100_000 else f"{count} bytes"


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
