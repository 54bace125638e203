"""The body of an answer, read no further than its limit, however it is packed."""

import zlib
from dataclasses import dataclass

import httpx

from server.errors import ToolFailed

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


async def read_body(response: httpx.Response, max_bytes: int) -> bytes:
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
