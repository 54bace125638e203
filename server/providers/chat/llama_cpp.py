"""Provider `llama_cpp`: a model in this process, in a thread of its own."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Any, Final

from pydantic import Field

from server.core.chat_messages import Message, Reply, TokenUsage
from server.core.tools import ToolDefinition
from server.errors import ProviderError, ProviderRejected, ProviderUnavailable
from server.providers.chat.llama_engine import DEFAULT_MODEL, LlamaEngine, Piece
from server.providers.chat.structured import call_schema, describe_tools, with_call
from server.providers.spec import ChatLimits, ProviderSpec
from server.settings.fields import Seconds, Strict


class LlamaCppOptions(Strict):
    """A model in the server's own process."""

    model: str | None = None
    """Name or GGUF file where none is named; without one, `LLAMA_CPP_MODEL`, else SmolLM2."""
    timeout_s: Seconds = 60.0
    """Seconds until an answer, until the first word of a stream, and between its words."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    """How freely words are chosen; 0 takes the likeliest, so that answers repeat."""
    max_tokens: int = Field(default=512, ge=1, le=1_000_000)
    """Most tokens of one reply."""
    context_tokens: int = Field(default=2048, ge=128, le=1_000_000)
    """Tokens that the model keeps in view, question and answer together."""
    threads: int | None = Field(default=None, ge=1, le=256)
    """Threads for one computation; without a number, one for each core."""


class LlamaCppChat:
    """Loaded on first use, or by `warm`. One call at a time; nothing is ever downloaded."""

    def __init__(self, model: str, options: LlamaCppOptions) -> None:
        self.name = f"llama_cpp:{model}"
        self._model = model
        self._options = options
        self._engine: LlamaEngine | None = None
        self._one_at_a_time = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="llama")

    async def warm(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._load)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolDefinition] = (),
        max_tokens: int | None = None,
    ) -> Reply:
        if tools:
            messages, schema = describe_tools(messages, tools), call_schema(tools)
        reply = Reply("", self.name)
        async with aclosing(self._generate(messages, schema, max_tokens)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Reply):
                    reply = piece
        return with_call(reply, tools) if tools else reply

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        async with aclosing(self._generate(messages, None, max_tokens)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        if self._engine is not None:
            self._thread.submit(self._engine.close)
        self._thread.shutdown(wait=False)

    async def _generate(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None, limit: int | None
    ) -> AsyncGenerator[str | Reply, None]:
        """Take one piece after another; whoever stops listening stops it within a token."""
        loop = asyncio.get_running_loop()
        said: list[str] = []
        last = Piece("", 0, 0)
        async with self._one_at_a_time:
            pieces = self._pieces(messages, schema, limit)
            while piece := await loop.run_in_executor(self._thread, next, pieces, None):
                last = piece
                if piece.text:
                    said.append(piece.text)
                    yield piece.text
        tokens = TokenUsage(last.read, last.written)
        yield Reply("".join(said), self.name, tokens=tokens, cut=last.cut)

    def _pieces(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None, limit: int | None
    ) -> Iterator[Piece]:
        try:
            yield from self._load().say(
                messages,
                schema=schema,
                temperature=self._options.temperature,
                max_tokens=limit or self._options.max_tokens,
            )
        except ProviderError:
            raise
        except Exception as failed:  # a library's own code may raise anything
            raise ProviderRejected(f"{self.name} could not answer: {failed}") from failed

    def _load(self) -> LlamaEngine:
        if self._engine is None:
            try:
                self._engine = LlamaEngine(
                    self._model,
                    context_tokens=self._options.context_tokens,
                    threads=self._options.threads,
                )
            except ProviderError:
                raise
            except Exception as failed:  # the same, such as a template that it cannot read
                raise ProviderUnavailable(f"{self.name} cannot be loaded: {failed}") from failed
        return self._engine


PROVIDER: Final = ProviderSpec(
    client=LlamaCppChat,
    options=LlamaCppOptions,
    default_model=DEFAULT_MODEL,
    model_variable="LLAMA_CPP_MODEL",
    # One call at a time, and what fails in this process fails again.
    limits=ChatLimits(max_retries=0, max_concurrent=1),
)
