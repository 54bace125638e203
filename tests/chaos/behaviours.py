"""What a called service may do wrong: each is a row with what the server says of it."""

import asyncio
import gzip
import json
import zlib
from dataclasses import dataclass
from typing import Any

from server.library.http_model import Pagination
from server.responses.mapping import NO_MAPPING, ResponseMapping
from tests.tools.http.upstream import Answering, Asked, always, calculated, reply

DRIP_S = 0.05


@dataclass(frozen=True)
class Behaviour:
    """`says` is in the error message; empty for an answer that is of use."""

    name: str
    answering: Answering
    says: str
    mapping: ResponseMapping = NO_MAPPING
    pagination: Pagination | None = None


def _raw(content: bytes) -> Answering:
    """Send the bytes and close."""

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        await writer.drain()
        writer.close()

    return answering


def _drip(first: bytes, forever: bytes) -> Answering:
    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while True:
            writer.write(forever)
            await writer.drain()
            await asyncio.sleep(DRIP_S)

    return answering


def _flood(first: bytes, forever: bytes) -> Answering:
    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while True:
            writer.write(forever)
            await writer.drain()

    return answering


async def _silent(asked: Asked, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def _reset(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


def _json(text: str | bytes) -> Answering:
    return always(reply(body=text.encode() if isinstance(text, str) else text))


def _text(body: bytes, content_type: str) -> Answering:
    return always(reply(body=body, content_type=content_type))


def _csv(body: bytes) -> Answering:
    return _text(body, "text/csv")


def _redirect(location: str) -> Answering:
    return always(reply({}, status=302, location=location))


def _later(retry_after: str) -> Answering:
    return always(reply({"error": "slow down"}, status=429, retry_after=retry_after))


def _deep(levels: int) -> str:
    return "[" * levels + "]" * levels


def _wide(columns: int, rows: int) -> bytes:
    header = ",".join(f"c{n}" for n in range(columns))
    return (header + "\n" + "1\n" * rows).encode()


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
ZEROS = b"0" * 50_000_000
NOT_HTTP = "did not speak HTTP"
LATE = "in time"
LARGE = "sent more than"
SHAPE = "another shape"
DIGITS = "more than 300 digits"
VALUES = "more than 100000 values"
CHARSET = "an encoding that is not read here"
CANNOT_GO_ON = "named its next page"
NO_ADDRESS = "redirected to what is no address"
CURSOR = Pagination("cursor", param="at", next="next")
LINK = Pagination("link")
PAGES = Pagination("page", param="page", page_size=1)
NUMBERS = ResponseMapping("", {"n": "to_number(n)"})
ROWS = ResponseMapping(items="rows", fields={"n": "n"}, total="total")


def _page(**fields: Any) -> Answering:
    return always(reply({"rows": [{"n": 1}], **fields}))


def _linked(target: str) -> Answering:
    return always(reply([1], link=f'<{target}>; rel="next"'))


_TABLE: list[tuple[Any, ...]] = [
    # The connection
    ("never answers", _silent, LATE),
    ("resets the connection", _reset, NOT_HTTP),
    ("closes without a word", _raw(b""), NOT_HTTP),
    ("speaks another protocol", _raw(b"220 mail.example ESMTP\r\n"), NOT_HTTP),
    ("sends binary noise", _raw(bytes(range(256)) * 40), NOT_HTTP),
    ("drips its head", _drip(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"), LATE),
    ("drips its body", _drip(HEAD + b"content-length: 1000000\r\n\r\n", b" "), LATE),
    ("drips its chunks", _drip(CHUNKED, b"1\r\n \r\n"), LATE),
    ("stops in its head", _raw(b"HTTP/1.1 200 OK\r\ncontent-le"), NOT_HTTP),
    ("stops in its body", _raw(HEAD + b"content-length: 50\r\n\r\n{"), NOT_HTTP),
    ("stops in its chunks", _raw(CHUNKED + b"5\r\n{"), NOT_HTTP),
    ("floods its head", _flood(b"HTTP/1.1 200 OK\r\n", b"x-f: " + b"y" * 4000 + b"\r\n"), NOT_HTTP),
    ("has a header without end", _flood(b"HTTP/1.1 200 OK\r\nx: ", b"y" * 4000), NOT_HTTP),
    ("goes on with 100 Continue", _drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), LATE),
    ("switches protocols", _raw(b"HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n"), NOT_HTTP),
    ("names no status", _raw(b"HTTP/1.1 \r\n\r\n"), NOT_HTTP),
    ("has a status of its own", _raw(b"HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n"), "999"),
    ("has a negative length", _raw(HEAD + b"content-length: -5\r\n\r\n{}"), NOT_HTTP),
    ("has two lengths", _raw(HEAD + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}"), NOT_HTTP),
    (
        "has an endless length",
        _raw(HEAD + b"content-length: " + b"9" * 400 + b"\r\n\r\n{}"),
        NOT_HTTP,
    ),
    ("has a bad chunk size", _raw(CHUNKED + b"zz\r\n{}\r\n"), NOT_HTTP),
    ("has an endless chunk size", _raw(CHUNKED + b"f" * 3000 + b"\r\n{}"), NOT_HTTP),
    ("folds a header", _raw(HEAD + b" folded\r\n\x00: x\r\n\r\n"), NOT_HTTP),
    ("floods its body", _flood(CHUNKED, b"ffff\r\n" + b" " * 65_535 + b"\r\n"), LARGE),
    ("sends a large body", _json(b" " * 4_000_001), LARGE),
    # Packing
    ("sends a gzip bomb", always(reply(body=gzip.compress(ZEROS), content_encoding="gzip")), LARGE),
    (
        "sends a deflate bomb",
        always(reply(body=zlib.compress(ZEROS), content_encoding="deflate")),
        LARGE,
    ),
    ("lies about packing", always(reply({}, content_encoding="gzip")), "cannot be unpacked"),
    (
        "cuts its packing off",
        always(reply(body=gzip.compress(b"[1, 2]")[:-9], content_encoding="gzip")),
        "broke off",
    ),
    ("packs as nobody asked", always(reply({}, content_encoding="br")), "not asked for"),
    ("packs twice", always(reply({}, content_encoding="gzip, gzip")), "not asked for"),
    # Structure
    ("sends no JSON", _json("{not json"), "not JSON"),
    ("sends a page instead", _text(b"<html>", "text/html"), "", NO_MAPPING),
    ("sends a page for data", _text(b"<html>", "text/html"), "other than JSON", ROWS),
    ("nests too deep to parse", _json(_deep(100_000)), "not JSON"),
    ("nests too deep to keep", _json(_deep(500)), "more than 64 levels"),
    ("nests objects", _json('{"a":' * 500 + "1" + "}" * 500), "more than 64 levels"),
    ("sends values without end", _json("[" + "0," * 1_900_000 + "0]"), VALUES),
    ("sends objects without end", _json("[" + "{}," * 1_300_000 + "{}]"), VALUES),
    ("sends a key twice", _json('{"a": 1, "a": 2}'), ""),
    ("sends a wide table", _csv(_wide(6000, 6000)), VALUES),
    ("sends a small wide table", _csv(_wide(1000, 1500)), VALUES),
    ("sends a header alone", _csv(_wide(200_000, 0)), VALUES),
    ("sends ragged rows", _csv(b"a,b\n1,2,3\n"), "longer than its header"),
    ("sends an endless field", _csv(b'a\n"' + b"x" * 3_000_000), "not CSV"),
    ("sends blank rows", _csv(b"a\n" + b"\n" * 3_000_000), ""),
    ("sends another shape", _json('{"rows": "soon"}'), SHAPE, ROWS),
    ("sends fields of another shape", _json('{"rows": [[1], 2, null]}'), "", ROWS),
    (
        "cannot be sorted",
        _json('[1, "a", {}]'),
        SHAPE,
        ResponseMapping(items="sort(@)"),
    ),
    ("overflows a mapping", _json('{"n": "inf"}'), SHAPE, ResponseMapping("ceil(to_number(n))")),
    (
        "multiplies in a mapping",
        _json(json.dumps({"n": [list(range(300))] * 300})),
        VALUES,
        ResponseMapping("[n, n, n]"),
    ),
    # Numbers
    ("sends an endless number", _json("9" * 5_000), DIGITS),
    ("sends a long number", _json('{"n": ' + "9" * 400 + "}"), DIGITS),
    ("sends an endless fraction", _json("0." + "1" * 1_000_000), ""),
    ("sends 1e999", _json('{"n": 1e999}'), "too large"),
    ("sends -1e999", _json("[-1e999]"), "too large"),
    ("sends NaN", _json('{"n": NaN}'), "NaN"),
    ("sends Infinity", _json("[Infinity]"), "Infinity"),
    (
        "sends NaN in a table",
        _csv(b"n\nNaN\ninf\n"),
        "",
        ResponseMapping("", {"n": "to_number(n)"}),
    ),
    (
        "sends digits in a table",
        _csv(b"n\n" + b"9" * 4000 + b"\n"),
        "",
        ResponseMapping("", {"n": "to_number(n)"}),
    ),
    ("has an endless total", _page(total="9" * 5_000), "", ROWS),
    ("has a negative total", _page(total=-5), "", ROWS),
    ("has a huge total", _page(total=1e300), "", ROWS),
    # Text
    ("names punycode", _text(b"a" * 1_800_000, "text/plain; charset=punycode"), CHARSET),
    ("names idna", _text(b"a" * 100_000, "text/plain; charset=idna"), CHARSET),
    ("names UTF-7", _text(b"+AGE-", "text/plain; charset=utf-7"), CHARSET),
    ("names a codec of bytes", _text(b"QlpoOTE=", "text/plain; charset=base64"), CHARSET),
    ("names unicode_escape", _text(b"\\ud800", "text/plain; charset=unicode_escape"), CHARSET),
    ("names no charset there is", _text(b"a", "text/plain; charset=\x01evil"), CHARSET),
    ("names an endless charset", _text(b"a", "text/plain; charset=" + "x" * 9_000), CHARSET),
    ("sends half of UTF-8", _text(b"gr\xc3", "text/plain"), "not in the encoding"),
    ("sends half of UTF-16", _text(b"a", "text/plain; charset=utf-16-le"), "not in the encoding"),
    ("sends NUL", _text(b"a\x00b", "text/plain"), "is not text"),
    ("escapes half a character", _json('{"t": "\\ud800"}'), ""),
    ("escapes half a key", _json('{"\\udfff": 1}'), ""),
    ("escapes NUL", _json('{"t": "a\\u0000b"}'), ""),
    ("sends half a character as bytes", _json(b'{"t": "\xed\xa0\x80"}'), ""),
    (
        "sends terminal codes in an error",
        always(reply({"error": "\x1b[2J" * 99}, status=400)),
        "[2J",
    ),
    # Status, headers, redirects, pages
    ("answers 429 for ever", _later("99999999999"), "429"),
    ("asks to wait in words", _later("in a while, perhaps"), "429"),
    ("asks to wait till year 0", _later("Mon, 00 Foo 0000 99:99:99 +9999"), "429"),
    ("asks to wait in a far zone", _later("Fri, 31 Dec 9999 23:59:59 -2359"), "429"),
    ("asks to wait with signs", _later("-5"), "429"),
    ("fails with an endless body", _flood(b"HTTP/1.1 500 No\r\n\r\n", b"x" * 9_000), "500"),
    ("fails with deep JSON", always(reply(body=(_deep(900)).encode(), status=400)), "400"),
    (
        "fails with deep details",
        always(reply(body=b'{"error":' * 900 + b"1" + b"}" * 900, status=400)),
        "400",
    ),
    ("goes round in circles", _redirect("/again"), "redirected too often"),
    ("sends callers elsewhere", _redirect("http://169.254.169.254/"), "another host"),
    ("sends callers to a file", _redirect("file:///etc/passwd"), NO_ADDRESS),
    ("sends callers to a script", _redirect("javascript:alert(1)"), NO_ADDRESS),
    ("sends callers nowhere", _redirect("http://[::1"), NO_ADDRESS),
    ("sends callers to no port", _redirect("http://127.0.0.1:99999999/"), "another host"),
    ("sends callers to no name", _redirect("http://xn--\x80\xff/"), NO_ADDRESS),
    ("sends callers to themselves", _redirect(""), "redirected"),
    ("sends callers to an endless address", _redirect("/" + "a" * 70_000), NO_ADDRESS),
    ("pages for ever", _page(), "", ROWS, PAGES),
    (
        "goes on with an endless cursor",
        _page(next="x" * 9_000),
        "named its next page",
        ROWS,
        CURSOR,
    ),
    ("goes on with an object", _page(next={"a": [1]}), "named its next page", ROWS, CURSOR),
    ("goes on with half a character", _page(next="\ud800"), "", ROWS, CURSOR),
    (
        "goes on with a new cursor each time",
        calculated(lambda asked: reply({"rows": [{"n": 1}], "next": asked.target[-40:] + "x"})),
        "",
        ROWS,
        CURSOR,
    ),
    (
        "links elsewhere",
        _linked('<http://evil.example/>; rel="next"'),
        "another host",
        NO_MAPPING,
        LINK,
    ),
    ("links nowhere", _linked('<http://[::1/>; rel="next"'), "at no address", NO_MAPPING, LINK),
    ("links without a target", _linked(";;;,<,>;rel=next"), "", NO_MAPPING, LINK),
]

BEHAVIOURS = tuple(Behaviour(*row) for row in _TABLE)
