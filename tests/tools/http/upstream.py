"""A service on loopback that answers whatever a test scripts, byte by byte if need be."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    """A request as it came over the wire."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> list[tuple[str, str]]:
        return parse_qsl(urlsplit(self.target).query, keep_blank_values=True)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Answering = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Upstream:
    """`origin` is its address; `asked` every request so far."""

    origin: str
    asked: list[Asked] = field(default_factory=list)

    @property
    def host(self) -> str:
        return self.origin.partition("://")[2]


def reply(
    data: Any = None,
    *,
    status: int = 200,
    body: bytes | None = None,
    content_type: str = "application/json",
    **headers: str,
) -> bytes:
    """A whole HTTP answer; keyword `retry_after` becomes the header `retry-after`."""
    content = body if body is not None else json.dumps(data).encode()
    lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {len(content)}"]
    if content_type:
        lines.append(f"content-type: {content_type}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def always(answer: bytes) -> Answering:
    """Answer every request with the same bytes."""
    return in_turn(answer)


def in_turn(*answers: bytes) -> Answering:
    """Answer with each in turn, and with the last from then on."""
    left = list(answers)

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(left.pop(0) if len(left) > 1 else left[0])

    return answering


def calculated(answer: Callable[[Asked], bytes]) -> Answering:
    """Answer with what a function makes of the request."""

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(asked))

    return answering


@asynccontextmanager
async def upstream(answering: Answering, ssl: Any = None) -> AsyncIterator[Upstream]:
    """Run a service for as long as the block lasts."""
    service = Upstream("")
    connections: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        try:
            while (asked := await _read(reader)) is not None:
                service.asked.append(asked)
                await answering(asked, writer)
                await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            connections.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=ssl)
    port = server.sockets[0].getsockname()[1]
    service.origin = f"http{'s' if ssl else ''}://127.0.0.1:{port}"
    try:
        yield service
    finally:
        server.close()
        for task in list(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, target, _ = first.split(" ")
    pairs = (line.split(":", 1) for line in lines)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, target, headers, body)
