"""A model that is asked by so many at a time, and has so long to answer."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

from server.core.ports import ChatModel
from server.core.speech import Message, Reply
from server.core.tools import ToolDefinition
from server.errors import ProviderTimedOut, ProviderUnavailable


class QueueFull(ProviderUnavailable):
    """Too many asked at once; the provider itself may be well."""


class BoundedChatModel:
    """At most `max_concurrent` calls at a time, each with `timeout_s` for every step.

    A step is a whole answer, the first word of a stream, or each word after it. Who waits
    for a turn waits as long at most.
    """

    def __init__(self, model: ChatModel, *, max_concurrent: int, timeout_s: float) -> None:
        self._model = model
        self._timeout_s = timeout_s
        self._max_concurrent = max_concurrent
        self._places = asyncio.Semaphore(max_concurrent)

    @property
    def name(self) -> str:
        return self._model.name

    async def warm(self) -> None:
        async with self._place(), self._in_time():
            await self._model.warm()

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolDefinition] = (),
        max_tokens: int | None = None,
    ) -> Reply:
        async with self._place(), self._in_time():
            return await self._model.complete(
                messages, schema=schema, tools=tools, max_tokens=max_tokens
            )

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        async with self._place():
            pieces = self._model.stream(messages, max_tokens=max_tokens)
            async with aclosing(pieces):
                while (piece := await self._next(pieces)) is not None:
                    yield piece  # the clock stands still while the reader is busy

    async def close(self) -> None:
        await self._model.close()

    async def _next(self, pieces: AsyncGenerator[str | Reply, None]) -> str | Reply | None:
        async with self._in_time():
            return await anext(pieces, None)

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._places.acquire()
        except TimeoutError:
            raise QueueFull(
                f"{self.name} already answers {self._max_concurrent} at once, and none was done "
                f"within {self._timeout_s:g} s"
            ) from None
        try:
            yield
        finally:
            self._places.release()

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._timeout_s):
                yield
        except TimeoutError:
            raise ProviderTimedOut(
                f"{self.name} did not answer within {self._timeout_s:g} s"
            ) from None
