"""Requests over a plain connection, byte by byte as they were made up."""

import asyncio
from dataclasses import dataclass

import httpx

ANSWERED_WITHIN_S = 20


class NoAnswer(Exception):
    """The connection was closed without a response."""


@dataclass
class Wire:
    """One client, whose connection is opened anew when the server has closed it."""

    port: int
    _reader: asyncio.StreamReader | None = None
    _writer: asyncio.StreamWriter | None = None

    async def ask(self, request: bytes, *, no_body: bool, last: bool) -> httpx.Response:
        """Send a request; with `last` nothing more will come.

        Raises:
            NoAnswer: the connection was closed instead.
            TimeoutError: nothing came for too long.
        """
        async with asyncio.timeout(ANSWERED_WITHIN_S):
            if self._writer is None or last:
                await self.close()
                self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self.port)
            assert self._reader is not None
            try:
                self._writer.write(request)
                if last:
                    self._writer.write_eof()
                answer = await _response(self._reader, no_body=no_body)
            except (asyncio.IncompleteReadError, ConnectionError) as closed:
                await self.close()
                raise NoAnswer from closed
            if last or answer.headers.get("connection") == "close":
                await self.close()
            return answer

    async def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


async def _response(reader: asyncio.StreamReader, *, no_body: bool) -> httpx.Response:
    status = 100
    while status < 200:  # interim ones are passed over
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").strip().split("\r\n")
        status = int(first.split(" ")[1])
    headers = httpx.Headers(
        [(name, text.strip()) for name, _, text in (x.partition(":") for x in lines)]
    )
    body = b""
    if no_body or status in (204, 304):
        pass
    elif headers.get("transfer-encoding") == "chunked":
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readexactly(2)
        del headers["transfer-encoding"]
    elif "content-length" in headers:
        body = await reader.readexactly(int(headers["content-length"]))
    else:
        body = await reader.read()
    return httpx.Response(status, headers=headers, content=body)
