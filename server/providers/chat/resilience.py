"""A model behind a bound on callers, retries and a circuit breaker."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager, contextmanager
from time import monotonic
from typing import Any, Final, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from server.core.chat_messages import Message, Reply
from server.core.ports import ChatModel
from server.core.tools import ToolDefinition
from server.errors import ProviderRejected, ProviderTimedOut, ProviderUnavailable
from server.providers.failures import ProviderBusy, ProviderUnreachable
from server.providers.spec import ChatLimits
from server.providers.wrappers import ChatModelWrapper

_T = TypeVar("_T")

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 30.0
"""Who asks to be left alone for longer is not worth waiting for within one question."""


class QueueFull(ProviderUnavailable):
    """Too many calls at once; the provider itself may be well."""


class CircuitOpen(ProviderUnavailable):
    """Not asked, because it failed too often just now."""


class CircuitBreaker:
    """Counts failures in a row. Open after `max_failures`; after `pause_s` one call may try."""

    def __init__(self, limits: ChatLimits, now: Callable[[], float]) -> None:
        self._limits = limits
        self._now = now
        self._failures = 0
        self._open_until = 0.0
        self._why = ""
        self._trying = False

    @contextmanager
    def guarding(self, name: str) -> Iterator[None]:
        """Let one call through, and learn from how it ends; a cancelled one teaches nothing.

        Raises `CircuitOpen`: it is not let through.
        """
        trying = self._admit(name)
        try:
            yield
        except QueueFull:
            raise
        except (ProviderUnavailable, ProviderTimedOut) as failure:
            self._failures += 1
            self._why = str(failure)
            self._open_until = self._now() + self._limits.pause_s
            raise
        except ProviderRejected:
            self._failures = 0  # it is there, and it answered
            raise
        else:
            self._failures = 0
        finally:
            if trying:
                self._trying = False

    def _admit(self, name: str) -> bool:
        """Return whether this call is the one that tries after a pause."""
        if self._failures < self._limits.max_failures:
            return False
        left_s = self._open_until - self._now()
        if left_s > 0 or self._trying:
            when = f"in {left_s:.0f} s" if left_s > 0 else "right now"
            raise CircuitOpen(
                f"{name} failed {self._failures} times in a row and is tried again {when}; "
                f"last: {self._why}"
            )
        self._trying = True
        return True


class ResilientChatModel(ChatModelWrapper):
    """Another model, asked within limits.

    - At most `max_concurrent` attempts run at a time; others wait, for `timeout_s` at most.
    - A whole answer, the first word of a stream and each after it take `timeout_s` at most.
    - What fails in passing is tried `max_retries` times more: after 1 s, 2 s, 4 s, or when
      the provider asks for it. A stream is tried again only as long as none of it was heard.
    - After `max_failures` failures in a row it is not asked for `pause_s`.
    """

    def __init__(
        self,
        model: ChatModel,
        limits: ChatLimits,
        *,
        first_pause_s: float = FIRST_PAUSE_S,
        now: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(model)
        self._limits = limits
        self._first_pause_s = first_pause_s
        self._places = asyncio.Semaphore(limits.max_concurrent)
        self._breaker = CircuitBreaker(limits, now)

    async def warm(self) -> None:
        async def attempt() -> None:
            async with self._attempt(), self._in_time():
                await self._model.warm()

        await self._retry(attempt)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolDefinition] = (),
        max_tokens: int | None = None,
    ) -> Reply:
        async def attempt() -> Reply:
            async with self._attempt(), self._in_time():
                return await self._model.complete(
                    messages, schema=schema, tools=tools, max_tokens=max_tokens
                )

        return await self._retry(attempt)

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        async def attempt() -> tuple[AsyncGenerator[str | Reply, None], str | Reply | None]:
            pieces = self._stream_once(messages, max_tokens)
            return pieces, await anext(pieces, None)

        pieces, first = await self._retry(attempt)
        async with aclosing(pieces):
            if first is not None:
                yield first
            async for piece in pieces:
                yield piece

    async def _stream_once(
        self, messages: Sequence[Message], max_tokens: int | None
    ) -> AsyncGenerator[str | Reply, None]:
        stream = self._model.stream(messages, max_tokens=max_tokens)
        async with self._attempt(), aclosing(stream) as pieces:
            while True:
                async with self._in_time():
                    piece = await anext(pieces, None)
                if piece is None:
                    return
                yield piece  # the clock stands still while the reader is busy

    @asynccontextmanager
    async def _attempt(self) -> AsyncIterator[None]:
        timeout_s = self._limits.timeout_s
        with self._breaker.guarding(self.name):
            try:
                async with asyncio.timeout(timeout_s):
                    await self._places.acquire()
            except TimeoutError:
                raise QueueFull(
                    f"{self.name} already answers {self._limits.max_concurrent} at once, and none "
                    f"was done within {timeout_s:g} s"
                ) from None
            try:
                yield
            finally:
                self._places.release()

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        timeout_s = self._limits.timeout_s
        try:
            async with asyncio.timeout(timeout_s):
                yield
        except TimeoutError:
            raise ProviderTimedOut(f"{self.name} did not answer within {timeout_s:g} s") from None

    async def _retry(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        async for trial in AsyncRetrying(
            retry=retry_if_exception(_may_pass),
            stop=stop_after_attempt(self._limits.max_retries + 1),
            wait=self._pause_s,
            reraise=True,
        ):
            with trial:
                return await attempt()
        raise AssertionError("the last attempt returns or raises")

    def _pause_s(self, state: RetryCallState) -> float:
        pause_s = self._first_pause_s * 2.0 ** (state.attempt_number - 1)
        return max(pause_s, _asked_for_s(state.outcome.exception() if state.outcome else None))


def _may_pass(failure: BaseException) -> bool:
    if _asked_for_s(failure) > LONGEST_PAUSE_S:
        return False
    return isinstance(failure, ProviderBusy | ProviderUnreachable | ProviderTimedOut)


def _asked_for_s(failure: BaseException | None) -> float:
    return (failure.retry_after_s or 0.0) if isinstance(failure, ProviderBusy) else 0.0
