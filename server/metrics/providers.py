"""Providers that are counted and timed: an embedder, and a chat model."""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from time import perf_counter
from typing import Any

from server.core.chat_messages import Message, Reply
from server.core.ports import ChatModel, Embedder, Vectors
from server.core.tools import ToolDefinition
from server.errors import ProviderError, ProviderTimedOut
from server.metrics.metrics import Metrics


class MeteredEmbedder:
    """Another embedder, each call of which is counted under its name."""

    def __init__(self, embedder: Embedder, metrics: Metrics) -> None:
        self._embedder = embedder
        self._metrics = metrics

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    async def warm(self) -> None:
        await self._embedder.warm()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        since = perf_counter()
        with _outcome(lambda how: self._metrics.provider_call(self.name, how, since)):
            return await self._embedder.embed(texts)

    async def close(self) -> None:
        await self._embedder.close()


class MeteredChatModel:
    """Another model, each call and token of which is counted under its name."""

    def __init__(self, model: ChatModel, metrics: Metrics) -> None:
        self._model = model
        self._metrics = metrics

    @property
    def name(self) -> str:
        return self._model.name

    async def warm(self) -> None:
        await self._model.warm()

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolDefinition] = (),
        max_tokens: int | None = None,
    ) -> Reply:
        with self._call() as heard:
            heard.append(
                await self._model.complete(
                    messages, schema=schema, tools=tools, max_tokens=max_tokens
                )
            )
        return heard[0]

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        with self._call() as heard:
            async with aclosing(self._model.stream(messages, max_tokens=max_tokens)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        heard.append(piece)
                    yield piece

    async def close(self) -> None:
        await self._model.close()

    @contextmanager
    def _call(self) -> Iterator[list[Reply]]:
        """Count what happens inside; the reply is put into the list that is handed out."""
        since = perf_counter()
        heard: list[Reply] = []

        def count(how: str) -> None:
            tokens = heard[0].tokens if heard else None
            self._metrics.model_call(
                self.name,
                "success" if heard else how,
                since,
                prompt=tokens.prompt if tokens else None,
                completion=tokens.completion if tokens else None,
            )

        with _outcome(count):
            yield heard


@contextmanager
def _outcome(count: Callable[[str], None]) -> Iterator[None]:
    """Count how what happens inside ends: success, timeout, error, or abandoned."""
    how = "abandoned"
    try:
        yield
        how = "success"
    except ProviderTimedOut:
        how = "timeout"
        raise
    except ProviderError:
        how = "error"
        raise
    finally:
        count(how)
