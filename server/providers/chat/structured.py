"""A model whose JSON is held to its schema, whatever its provider can force."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from server.core.ports import ChatModel
from server.core.speech import Message, Reply, Tokens
from server.core.tools import ToolDefinition
from server.errors import ProviderRejected
from server.providers.chat.json_reading import NoJson, json_in, misfit

M = TypeVar("M", bound=BaseModel)

_SHOWN: Final = 4000
"""Characters of a failed attempt that the model is shown again."""


class StructuredChatModel:
    """Reads and checks `data`; a reply that does not fit may be mended once."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

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
        reply = await self._model.complete(
            messages, schema=schema, tools=tools, max_tokens=max_tokens
        )
        if schema is None or reply.calls:
            return reply
        data, amiss = _read(reply, schema)
        if amiss is None:
            return replace(reply, data=data)
        if reply.cut:  # it would run into the same limit again
            raise ProviderRejected(
                f"{self.name} ran into its limit of tokens before its JSON was done"
            )
        mended = await self._model.complete(
            [*messages, Message("assistant", reply.text[:_SHOWN]), _again(amiss)],
            schema=schema,
            max_tokens=max_tokens,
        )
        data, amiss = _read(mended, schema)
        if amiss is not None:
            raise ProviderRejected(f"{self.name} did not keep to the schema: {amiss}")
        return replace(mended, data=data, tokens=_both(reply.tokens, mended.tokens))

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        async with aclosing(self._model.stream(messages, max_tokens=max_tokens)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        await self._model.close()


async def complete_as(
    shape: type[M],
    model: ChatModel,
    messages: Sequence[Message],
    *,
    max_tokens: int | None = None,
) -> M:
    """Return the next message as an instance of a Pydantic model.

    Raises:
        ProviderUnavailable, ProviderTimedOut.
        ProviderRejected: also when only a validator of `shape` refuses the reply.
    """
    reply = await model.complete(messages, schema=shape.model_json_schema(), max_tokens=max_tokens)
    try:
        return shape.model_validate(reply.data)
    except ValueError:
        raise ProviderRejected(f"{model.name} gave no valid {shape.__name__}") from None


def _read(reply: Reply, schema: Mapping[str, Any]) -> tuple[Any, str | None]:
    """The data of a reply, and what is wrong with it."""
    data = reply.data
    if data is None:
        try:
            data = json_in(reply.text)
        except NoJson as no:
            return None, str(no)
    return data, misfit(data, schema)


def _again(amiss: str) -> Message:
    return Message("user", f"That cannot be used: {amiss}. Answer with nothing but valid JSON.")


def _both(first: Tokens, second: Tokens) -> Tokens:
    return Tokens(
        None if first.prompt is second.prompt is None
        else (first.prompt or 0) + (second.prompt or 0),
        None if first.completion is second.completion is None
        else (first.completion or 0) + (second.completion or 0),
    )  # fmt: skip
