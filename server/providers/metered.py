"""Providers that are counted and timed: an embedder, and a chat model."""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any

from server.core.chat_messages import Message, Reply, TokenUsage
from server.core.ports import ChatModel, Embedder, Vectors
from server.core.spans import traced_call
from server.core.storable import storable_data, storable_text
from server.core.token_counts import note_tokens
from server.core.tools import ToolDefinition
from server.errors import ProviderError, ProviderTimedOut
from server.metrics.metrics import Metrics
from server.providers.wrappers import ChatModelWrapper, EmbedderWrapper


class MeteredEmbedder(EmbedderWrapper):
    """Another embedder, each call of which is counted under its name."""

    def __init__(self, embedder: Embedder, metrics: Metrics) -> None:
        super().__init__(embedder)
        self._metrics = metrics

    async def embed(self, texts: Sequence[str]) -> Vectors:
        since = perf_counter()
        with (
            traced_call(f"embeddings {self.name}", _about("embeddings", self.name)),
            _outcome(lambda how: self._metrics.provider_call(self.name, how, since)),
        ):
            return await self._embedder.embed(texts)


class MeteredChatModel(ChatModelWrapper):
    """Another model, each call and token of which is counted under its name."""

    def __init__(self, model: ChatModel, metrics: Metrics) -> None:
        super().__init__(model)
        self._metrics = metrics

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolDefinition] = (),
        max_tokens: int | None = None,
    ) -> Reply:
        with self._call() as heard:
            reply = await super().complete(
                messages, schema=schema, tools=tools, max_tokens=max_tokens
            )
            heard.append(reply)
            return _storable(reply)

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        with self._call() as heard:
            async with aclosing(super().stream(messages, max_tokens=max_tokens)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        heard.append(piece)
                        yield _storable(piece)
                    else:
                        yield storable_text(piece)

    @contextmanager
    def _call(self) -> Iterator[list[Reply]]:
        """Count what happens inside; the reply is put into the list that is handed out."""
        since = perf_counter()
        heard: list[Reply] = []

        def count(how: str) -> None:
            tokens = heard[0].tokens if heard else TokenUsage()
            how = "success" if heard else how
            note_tokens(tokens)
            self._metrics.model_call(self.name, how, since, tokens)

        with traced_call(f"chat {self.name}", _about("chat", self.name)) as span, _outcome(count):
            yield heard
            if heard:
                used = heard[0].tokens
                told = {"input_tokens": used.prompt, "output_tokens": used.completion}
                span.set({f"gen_ai.usage.{k}": v for k, v in told.items() if v is not None})


def _about(operation: str, name: str) -> Mapping[str, str]:
    """What a span tells of a call; `name` is provider and model."""
    provider, _, model = name.partition(":")
    return {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model or provider,
    }


def _storable(reply: Reply) -> Reply:
    return replace(reply, text=storable_text(reply.text), data=storable_data(reply.data))


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
