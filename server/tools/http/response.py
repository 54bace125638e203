"""The bytes of an answer, received and unpacked within limits."""

import zlib
from dataclasses import dataclass
from typing import Final

import httpx

from server.errors import ToolFailed
from server.responses.decoder import Body

_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class Received:
    host: str
    status: int
    headers: httpx.Headers
    body: bytes

    def to_body(self) -> Body:
        return Body(self.body, self.headers.get("content-type", ""))


class BodyUnusable(ToolFailed):
    """The body goes on past its limit, or is packed in a way that cannot be undone."""


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
