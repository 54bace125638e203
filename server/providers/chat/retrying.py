"""A model that is asked again, after a pause, when a failure may pass by itself."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from server.core.ports import ChatModel
from server.core.speech import Message, Reply
from server.core.tools import ToolDefinition
from server.errors import ProviderTimedOut
from server.providers.failures import ProviderBusy, ProviderUnreachable

_T = TypeVar("_T")

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 30.0
"""Who asks to be left alone for longer is not worth waiting for within one question."""


class RetryingChatModel:
    """Tries up to `max_retries` times more: after 1 s, 2 s, 4 s, or when it is asked to.

    A stream is tried again only as long as none of it was heard.
    """

    def __init__(
        self, model: ChatModel, *, max_retries: int, first_pause_s: float = FIRST_PAUSE_S
    ) -> None:
        self._model = model
        self._max_retries = max_retries
        self._first_pause_s = first_pause_s

    @property
    def name(self) -> str:
        return self._model.name

    async def warm(self) -> None:
        await self._again(self._model.warm)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolDefinition] = (),
        max_tokens: int | None = None,
    ) -> Reply:
        return await self._again(
            lambda: self._model.complete(
                messages, schema=schema, tools=tools, max_tokens=max_tokens
            )
        )

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        async def begin() -> tuple[AsyncGenerator[str | Reply, None], str | Reply | None]:
            pieces = self._model.stream(messages, max_tokens=max_tokens)
            return pieces, await anext(pieces, None)

        pieces, first = await self._again(begin)
        async with aclosing(pieces):
            if first is not None:
                yield first
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        await self._model.close()

    async def _again(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        async for trial in AsyncRetrying(
            retry=retry_if_exception(_may_pass),
            stop=stop_after_attempt(self._max_retries + 1),
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
