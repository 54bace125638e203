"""The supervisor as a worker sees it: connections come from it, and it is asked what is shared."""

import asyncio
import itertools
import os
import socket
from collections.abc import Callable
from typing import Any, Final

from server.core.claims import Claim
from server.errors import StoreUnavailable
from server.workers.channel import Channel, ChannelClosed

_ASK_WITHIN_S: Final = 5.0
_GONE: Final = "the supervisor of this worker gives no answer"


class Parent:
    """A worker's end of the channel, from `attach` to the end of its event loop."""

    def __init__(self, channel: Channel, *, number: int, count: int) -> None:
        """`number` is the worker's, from 1 to `count` when all run."""
        self._channel = channel
        self.number = number
        self.count = count
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._take: Callable[[socket.socket, str], None] | None = None
        self._drain: Callable[[], None] = lambda: None
        self._send_away: Callable[[], None] = lambda: None
        self._end: Callable[[], object] = lambda: None
        self._gone = False
        self.stopping = asyncio.Event()
        """Set once the whole server is to stop, and not this worker alone."""

    def attach(self, *, gone: Callable[[], object]) -> None:
        """Listen to the supervisor from now on; `gone` is called when it is no more."""
        self._end = gone
        asyncio.get_running_loop().add_reader(self._channel.fileno(), self._receive)

    def serve(
        self,
        take: Callable[[socket.socket, str], None],
        drain: Callable[[], None],
        send_away: Callable[[], None] = lambda: None,
    ) -> None:
        """Say that connections may come: each is given to `take`, with the address it is from.

        `drain` is called when no more will, and those that are there are to be finished;
        `send_away` before, when the whole server is to stop.
        """
        self._take, self._drain, self._send_away = take, drain, send_away
        self._send(["serving"])

    def ready(self) -> None:
        """Say that every adapter was tried, so that an older worker may leave."""
        self._send(["ready"])

    def left(self, host: str) -> None:
        """Say that a connection from there has ended."""
        self._send(["left", host])

    async def workers(self) -> dict[str, Any]:
        """Return what the supervisor knows of its workers. Raises `StoreUnavailable`."""
        found: dict[str, Any] = await self._ask("workers")
        return found

    async def pids(self) -> tuple[int, ...]:
        """Return the processes of the server, the supervisor first."""
        found = await self.workers()
        return (os.getppid(), *(int(row["pid"]) for row in found["processes"]))

    async def count_calls(self, space: str, window: str, what: str, *about: str) -> Any:
        """Ask the counts of a `space`, as `server.access.rate_limits.LocalCounts.ask` does.

        Raises `StoreUnavailable`.
        """
        return await self._ask("count", space, window, what, *about)

    def note(self, kind: str, key: str, value: str) -> None:
        """Have every worker see a value from now on, as `server.workers.notes` keeps it."""
        self._send(["note", kind, key, value])

    async def noted(self, kind: str, key: str) -> str | None:
        found: str | None = await self._ask("noted", kind, key)
        return found

    async def take_notes(self, kind: str) -> list[tuple[str, str]] | None:
        found: list[tuple[str, str]] | None = await self._ask("take_notes", kind)
        return found

    def give_notes_back(self, kind: str, *, written: bool) -> None:
        self._send(["give_notes_back", kind, written])

    async def drop_note(self, kind: str, key: str) -> bool:
        return bool(await self._ask("drop_note", kind, key))

    async def claim(self, kind: str, name: str, *, for_s: float | None = None) -> Claim:
        claimed: Claim = await self._ask("claim", kind, name, for_s)
        return claimed

    async def release(self, kind: str, name: str) -> None:
        await self._ask("release", kind, name)

    async def is_claimed(self, kind: str, name: str) -> bool:
        return bool(await self._ask("is_claimed", kind, name))

    async def _ask(self, *question: Any) -> Any:
        number = next(self._numbers)
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            if self._gone:
                raise StoreUnavailable(_GONE)
            self._send(["ask", number, *question])
            async with asyncio.timeout(_ASK_WITHIN_S):
                return await answer
        except TimeoutError:
            raise StoreUnavailable(_GONE) from None
        finally:
            del self._asked[number]

    def _send(self, message: list[Any]) -> None:
        try:
            self._channel.send(message)
        except ChannelClosed:
            self._lose()
            return
        if self._channel.has_unsent:
            loop = asyncio.get_running_loop()
            loop.add_writer(self._channel.fileno(), self._flush)

    def _flush(self) -> None:
        try:
            self._channel.flush()
        except ChannelClosed:
            self._lose()
            return
        if not self._channel.has_unsent:
            asyncio.get_running_loop().remove_writer(self._channel.fileno())

    def _receive(self) -> None:
        try:
            messages = self._channel.receive()
        except ChannelClosed:
            self._lose()
            return
        for kind, *rest in messages:
            if kind == "answer":
                self._answer(*rest)
            elif kind == "connection":
                connection = self._channel.next_connection()
                assert self._take is not None  # noqa: S101  none comes before `serve`
                self._take(connection, *rest)
            elif kind == "drain":
                self._drain()
            elif kind == "stopping":
                self.stopping.set()
                self._send_away()

    def _answer(self, number: int, result: Any) -> None:
        waiting = self._asked.get(number)
        if waiting is not None and not waiting.done():
            waiting.set_result(result)

    def _lose(self) -> None:
        """End with the supervisor: nobody else would stop this process."""
        if self._gone:
            return
        self._gone = True
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._channel.fileno())
        loop.remove_writer(self._channel.fileno())
        for waiting in self._asked.values():
            if not waiting.done():
                waiting.set_exception(StoreUnavailable(_GONE))
        self._end()
