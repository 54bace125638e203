"""A model that is left alone for a while after it failed again and again."""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from time import monotonic
from typing import Any

from server.core.ports import ChatModel
from server.core.speech import Message, Reply
from server.core.tools import ToolDefinition
from server.errors import ProviderRejected, ProviderTimedOut, ProviderUnavailable
from server.providers.chat.bounded import QueueFull


class CircuitOpen(ProviderUnavailable):
    """Not asked, because it failed too often just now."""


class Breaker:
    """Counts failures in a row. Open after `max_failures`; after `pause_s` one may try.

    `now` is a clock in seconds.
    """

    def __init__(
        self, *, max_failures: int, pause_s: float, now: Callable[[], float] = monotonic
    ) -> None:
        self._max_failures = max_failures
        self._pause_s = pause_s
        self._now = now
        self._failures = 0
        self._shut_until = 0.0
        self._why = ""
        self._trying = False

    @contextmanager
    def guarding(self, name: str) -> Iterator[None]:
        """Let one call through, and learn from how it ends; a cancelled one teaches nothing.

        Raises:
            CircuitOpen: it is not let through.
        """
        trying = self._admit(name)
        try:
            yield
        except QueueFull:
            raise
        except (ProviderUnavailable, ProviderTimedOut) as failure:
            self._failures += 1
            self._why = str(failure)
            self._shut_until = self._now() + self._pause_s
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
        """Whether this call is the one that tries after a pause."""
        if self._failures < self._max_failures:
            return False
        left_s = self._shut_until - self._now()
        if left_s > 0 or self._trying:
            when = f"in {left_s:.0f} s" if left_s > 0 else "right now"
            raise CircuitOpen(
                f"{name} failed {self._failures} times in a row and is tried again {when}; "
                f"last: {self._why}"
            )
        self._trying = True
        return True


class BreakingChatModel:
    """Another model behind a breaker."""

    def __init__(self, model: ChatModel, breaker: Breaker) -> None:
        self._model = model
        self._breaker = breaker

    @property
    def name(self) -> str:
        return self._model.name

    async def warm(self) -> None:
        with self._breaker.guarding(self.name):
            await self._model.warm()

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolDefinition] = (),
        max_tokens: int | None = None,
    ) -> Reply:
        with self._breaker.guarding(self.name):
            return await self._model.complete(
                messages, schema=schema, tools=tools, max_tokens=max_tokens
            )

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        with self._breaker.guarding(self.name):
            async with aclosing(self._model.stream(messages, max_tokens=max_tokens)) as pieces:
                async for piece in pieces:
                    yield piece

    async def close(self) -> None:
        await self._model.close()
