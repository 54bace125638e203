"""Provider `gemini`: models of Google Gemini, through its REST API."""

import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import Any, Final
from urllib.parse import quote, urlsplit

from server.core.speech import FunctionCall, Message, Reply, Tokens
from server.core.tools import ToolDefinition
from server.errors import ProviderRejected
from server.providers.chat.gemini_schema import to_gemini
from server.providers.chat.naming import DEFAULT_MODELS
from server.providers.chat.wire import Refusal, Wire
from server.providers.failures import ProviderUnreachable, refused, translated

_DONE: Final = frozenset({"STOP", "MAX_TOKENS"})
_REASON: Final = re.compile(r"[A-Z_]{2,40}")


class GeminiChat:
    """Posts to `{base_url}/models/{model}:generateContent`.

    Models that could think aloud first are asked not to, where they can be.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        base_url: str = "https://generativelanguage.googleapis.com/v1beta",
        api_key: str | None = None,
        timeout_s: float = 30.0,
        temperature: float = 0.0,
        max_tokens: int = 512,
    ) -> None:
        self._model = model or DEFAULT_MODELS["gemini"]
        host = urlsplit(base_url).netloc.rpartition("@")[2]
        self._described = f"chat provider 'gemini' at {host}"
        name = quote(self._model.removeprefix("models/"), safe="")
        self._url = f"{base_url.rstrip('/')}/models/{name}"
        # In a header, not in the address: addresses are written into logs.
        headers = {"x-goog-api-key": api_key} if api_key else {}
        self._wire = Wire(headers=headers, timeout_s=timeout_s)
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._thinking_can_be_off = True

    @property
    def name(self) -> str:
        return f"gemini:{self._model}"

    async def warm(self) -> None:
        """Ask for one token: that finds a wrong key or name out."""
        await self._answered(self._asked([Message("user", "hi")], 1))

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolDefinition] = (),
        max_tokens: int | None = None,
    ) -> Reply:
        asked = self._asked(messages, max_tokens)
        if schema is not None:
            asked["generationConfig"] |= {
                "responseMimeType": "application/json",
                "responseSchema": to_gemini(schema),
            }
        if tools:
            asked["tools"] = [{"functionDeclarations": [_declared(tool) for tool in tools]}]
        answer = await self._answered(asked)
        with self._translated():
            self._not_blocked(answer)
            candidate = answer["candidates"][0]
            parts = _parts(candidate)
            return self._reply(
                _text(parts), candidate.get("finishReason"), answer, tuple(_calls(parts))
            )

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        said: list[str] = []
        reason: str | None = None
        last: Mapping[str, Any] = {}
        with self._translated():
            async with aclosing(self._events(self._asked(messages, max_tokens))) as events:
                async for event in events:
                    if "error" in event:
                        break
                    self._not_blocked(event)
                    last = event
                    for candidate in event.get("candidates", ())[:1]:
                        reason = candidate.get("finishReason") or reason
                        if text := _text(_parts(candidate)):
                            said.append(text)
                            yield text
        if reason is None:
            raise ProviderUnreachable(f"{self._described} broke off in the middle of an answer")
        with self._translated():
            reply = self._reply("".join(said), reason, last)
        yield reply

    async def close(self) -> None:
        await self._wire.close()

    def _asked(self, messages: Sequence[Message], max_tokens: int | None) -> dict[str, Any]:
        told = [message.content for message in messages if message.role == "system"]
        asked: dict[str, Any] = {
            "contents": [
                {
                    "role": "model" if message.role == "assistant" else "user",
                    "parts": [{"text": message.content}],
                }
                for message in messages
                if message.role != "system"
            ],
            "generationConfig": {
                "temperature": self._temperature,
                "maxOutputTokens": max_tokens or self._max_tokens,
            },
        }
        if told:
            asked["systemInstruction"] = {"parts": [{"text": text} for text in told]}
        return asked

    async def _answered(self, asked: dict[str, Any]) -> Mapping[str, Any]:
        with self._translated():
            while True:
                body = self._quietly(asked)
                try:
                    answer = await self._wire.post(f"{self._url}:generateContent", body)
                except Refusal as refusal:
                    if not self._learn(refusal, body):
                        raise
                else:
                    if not isinstance(answer, dict):
                        raise TypeError("no object")
                    return answer

    async def _events(self, asked: dict[str, Any]) -> AsyncGenerator[Any, None]:
        while True:
            body = self._quietly(asked)
            url = f"{self._url}:streamGenerateContent?alt=sse"
            try:
                async with aclosing(self._wire.events(url, body)) as events:
                    async for event in events:
                        yield event
            except Refusal as refusal:
                if not self._learn(refusal, body):
                    raise
            else:
                return

    def _quietly(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Without thoughts: they would use up the tokens of the reply."""
        if not self._thinking_can_be_off:
            return asked
        config = {**asked["generationConfig"], "thinkingConfig": {"thinkingBudget": 0}}
        return asked | {"generationConfig": config}

    def _learn(self, refusal: Refusal, body: Mapping[str, Any]) -> bool:
        """Some models cannot think, others cannot help it, and both refuse to be asked."""
        asked_for = "thinkingConfig" in body["generationConfig"]
        if refusal.status == 400 and asked_for and "think" in refusal.reason.lower():
            self._thinking_can_be_off = False
            return True
        return False

    def _not_blocked(self, answer: Mapping[str, Any]) -> None:
        if reason := answer.get("promptFeedback", {}).get("blockReason"):
            raise self._declined(reason)

    def _reply(
        self,
        text: str,
        reason: str | None,
        answer: Mapping[str, Any],
        calls: tuple[FunctionCall, ...] = (),
    ) -> Reply:
        if reason not in _DONE:
            raise self._declined(reason)
        usage = answer.get("usageMetadata", {})
        return Reply(
            text=text,
            model=self.name,
            calls=calls,
            tokens=Tokens(usage.get("promptTokenCount"), usage.get("candidatesTokenCount")),
            cut=reason == "MAX_TOKENS",
        )

    def _declined(self, reason: object) -> ProviderRejected:
        named = isinstance(reason, str) and _REASON.fullmatch(reason)
        return ProviderRejected(
            f"{self._described} declined to answer{f' ({reason})' if named else ''}"
        )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        with translated(self._described, expected="reply"):
            try:
                yield
            except Refusal as refusal:
                # A wrong key is a bad request to Gemini.
                status = 401 if "API_KEY_INVALID" in refusal.reason else refusal.status
                raise refused(
                    self._described,
                    status,
                    model=self._model,
                    missing_hint="check the model's name",
                    key_hint="set GEMINI_API_KEY or models.gemini.api_key",
                    retry_after=refusal.retry_after,
                ) from None
            except AttributeError:  # a list where an object should be
                raise TypeError from None


def _declared(tool: ToolDefinition) -> dict[str, Any]:
    function = tool.to_openai_schema()["function"]
    declared = {"name": function["name"], "description": function["description"]}
    if function["parameters"]["properties"]:  # an object without properties is refused
        declared["parameters"] = to_gemini(function["parameters"])
    return declared


def _parts(candidate: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = candidate.get("content", {}).get("parts", [])
    return found


def _text(parts: Sequence[Mapping[str, Any]]) -> str:
    return "".join(part["text"] for part in parts if "text" in part and not part.get("thought"))


def _calls(parts: Sequence[Mapping[str, Any]]) -> Iterator[FunctionCall]:
    for part in parts:
        if called := part.get("functionCall"):
            yield FunctionCall(str(called["name"]), dict(called.get("args") or {}))
