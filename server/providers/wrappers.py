"""A chat model and an embedder that stand before another one and pass on what they keep."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from server.core.chat_messages import Message, Reply
from server.core.ports import ChatModel, Embedder
from server.core.tools import ToolDefinition


class ChatModelWrapper:
    """Another chat model, as it is."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.name = model.name

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
        return await self._model.complete(
            messages, schema=schema, tools=tools, max_tokens=max_tokens
        )

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        async with aclosing(self._model.stream(messages, max_tokens=max_tokens)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        await self._model.close()


class EmbedderWrapper:
    """Another embedder, but for `embed`."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    async def warm(self) -> None:
        await self._embedder.warm()

    async def close(self) -> None:
        await self._embedder.close()
