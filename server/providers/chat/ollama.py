"""Provider `ollama`: models of an Ollama server."""

from collections.abc import AsyncGenerator, Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import ollama
from pydantic import Field

from server.core.chat_messages import FunctionCall, Message, Reply, TokenUsage
from server.core.tools import ToolDefinition
from server.errors import ProviderRejected
from server.providers.failures import ProviderUnreachable, refused, translated
from server.providers.spec import ChatOptions, ProviderSpec

_T = TypeVar("_T")

_UNKNOWN: Final = -1
"""The client's status for an error that came in mid-stream."""


class OllamaChatOptions(ChatOptions):
    """Models of an Ollama server."""

    model: str | None = None
    """Model where none is named; without one, `OLLAMA_MODEL`, else `llama3.2`."""
    base_url: str = "http://localhost:11434"
    """Where Ollama listens."""
    context_tokens: int | None = Field(default=None, ge=128, le=10_000_000)
    """Tokens that the model keeps in view; without a number, Ollama chooses."""
    keep_alive: str | None = None
    """How long Ollama keeps the model loaded, as `10m`; without it, Ollama chooses."""


class OllamaChat:
    """Talks to `base_url`, with `format` for schemas and `tools` for functions.

    Models that could think aloud first are asked not to.
    """

    def __init__(self, model: str, options: OllamaChatOptions) -> None:
        self.name = f"ollama:{model}"
        self._model = model
        host = urlsplit(options.base_url).netloc.rpartition("@")[2]
        self._described = f"chat provider 'ollama' at {host}"
        self._client = ollama.AsyncClient(host=options.base_url, timeout=options.timeout_s)
        self._keep_alive = options.keep_alive
        asked = {
            "temperature": options.temperature,
            "num_predict": options.max_tokens,
            "num_ctx": options.context_tokens,
        }
        self._options = {name: value for name, value in asked.items() if value is not None}

    async def warm(self) -> None:
        """Have the model loaded: a request without a message does that and no more."""
        await self._answered(
            self._client.chat(self._model, messages=[], keep_alive=self._keep_alive)
        )

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolDefinition] = (),
        max_tokens: int | None = None,
    ) -> Reply:
        answer = await self._answered(
            self._client.chat(
                self._model,
                messages=[asdict(message) for message in messages],
                tools=[tool.to_openai_schema() for tool in tools] or None,
                format=dict(schema) if schema is not None else None,
                think=False,
                options=self._options | ({"num_predict": max_tokens} if max_tokens else {}),
                keep_alive=self._keep_alive,
            )
        )
        if not answer.done:
            raise ProviderRejected(
                f"{self._described} returned something that is not a valid reply"
            )
        return self._reply(answer.message.content or "", answer)

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        parts = await self._answered(
            self._client.chat(
                self._model,
                messages=[asdict(message) for message in messages],
                stream=True,
                think=False,
                options=self._options | ({"num_predict": max_tokens} if max_tokens else {}),
                keep_alive=self._keep_alive,
            )
        )
        said: list[str] = []
        with self._translated():
            async for part in parts:
                if text := part.message.content:
                    said.append(text)
                    yield text
                if part.done:
                    yield self._reply("".join(said), part)
                    return
        raise ProviderUnreachable(f"{self._described} broke off in the middle of an answer")

    async def close(self) -> None:
        await self._client.close()  # type: ignore[no-untyped-call]

    def _reply(self, text: str, last: ollama.ChatResponse) -> Reply:
        calls = last.message.tool_calls or ()
        return Reply(
            text=text,
            model=self.name,
            calls=tuple(FunctionCall(c.function.name, dict(c.function.arguments)) for c in calls),
            tokens=TokenUsage(last.prompt_eval_count, last.eval_count),
            cut=last.done_reason == "length",
        )

    async def _answered(self, request: Awaitable[_T]) -> _T:
        with self._translated():
            return await request

    @contextmanager
    def _translated(self) -> Iterator[None]:
        with translated(self._described, expected="reply"):
            try:
                yield
            except ollama.ResponseError as answered:
                if answered.status_code == _UNKNOWN:
                    raise ProviderUnreachable(
                        f"{self._described} failed in the middle of an answer"
                    ) from None
                raise refused(
                    self._described,
                    answered.status_code,
                    model=self._model,
                    missing_hint=f"run: ollama pull {self._model}",
                ) from None


PROVIDER: Final = ProviderSpec(
    client=OllamaChat,
    options=OllamaChatOptions,
    default_model="llama3.2",
    model_variable="OLLAMA_MODEL",
)
