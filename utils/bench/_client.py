"""A client that costs next to nothing, so that what is measured is the server.

A general HTTP client takes 1 to 2 ms for each request on a small machine, which is as much
as the answer itself.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit


class Reply(NamedTuple):
    """An answer, whatever it says."""

    status: int
    body: bytes


class Connection:
    """One kept-alive connection that posts JSON, one request after the other."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: str
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._head = head
        self.is_over = False
        """Whether the other side closes it after the last answer."""

    @classmethod
    async def open(cls, url: str, key: str) -> Self:
        at = urlsplit(url)
        reader, writer = await asyncio.open_connection(at.hostname, at.port)
        head = (
            f"HTTP/1.1\r\nHost: {at.netloc}\r\nAuthorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\nContent-Length: "
        )
        return cls(reader, writer, head)

    async def ask(self, question: str) -> bytes:
        """The answer's body, as JSON.

        Raises:
            SystemExit: the server answered with an error.
        """
        reply = await self.post("/chat", {"message": question})
        if reply.status != 200:
            raise SystemExit(f"the server refused: {reply.body.decode()}")
        return reply.body

    async def post(self, path: str, asked: Mapping[str, Any]) -> Reply:
        """Post JSON.

        Raises:
            ConnectionError, asyncio.IncompleteReadError: the connection ended without an answer.
        """
        body = json.dumps(asked).encode()
        self._writer.write(f"POST {path} {self._head}{len(body)}\r\n\r\n".encode() + body)
        head = await self._reader.readuntil(b"\r\n\r\n")
        first, *lines = head.lower().split(b"\r\n")
        self.is_over = b"connection: close" in lines
        length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
        return Reply(int(first.split()[1]), await self._reader.readexactly(length))

    def abandon(self) -> None:
        """Close it at once, whatever is under way."""
        self._writer.transport.abort()

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()
