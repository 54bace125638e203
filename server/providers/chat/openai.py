"""Provider `openai`: models of OpenAI, or any server that speaks its protocol."""

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import Any, Final

from pydantic import SecretStr

from server.core.chat_messages import FunctionCall, Message, Reply, TokenUsage
from server.core.tools import ToolDefinition
from server.providers.chat.json_http import HttpChat, ProviderRefusal
from server.providers.spec import ChatOptions, ProviderSpec

_WORTH_ANOTHER_TRY: Final = frozenset({400, 415, 422, 500, 501})
"""How servers refuse a parameter; some of them fall over it instead."""

_ABOUT_FORMAT: Final = re.compile("response_format|json_schema|json_object|schema|grammar")


_FORMS: Final = ("json_schema", "json_object with schema", "json_object", "none")
"""How a reply in JSON is asked for, best first; the second is llama.cpp's and some others'."""


class Dialect:
    """What a server understands: at first all that OpenAI documents, then less what it refuses."""

    def __init__(self) -> None:
        self._forms = list(_FORMS)
        self._limit = "max_tokens"
        self._dropped: set[str] = set()

    def body(self, asked: Mapping[str, Any], schema: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the request as this server takes it."""
        body = {key: value for key, value in asked.items() if key not in self._dropped}
        body[self._limit] = body.pop("max_tokens")
        if schema is None:
            return body
        if self._forms[0] == "json_schema":
            form = {"name": "reply", "schema": dict(schema), "strict": is_strict(schema)}
            return body | {"response_format": {"type": "json_schema", "json_schema": form}}
        told = f"Answer with JSON alone, which fits this JSON schema: {json.dumps(schema)}"
        body["messages"] = _with_system(asked["messages"], told)
        if self._forms[0] == "json_object with schema":
            body["response_format"] = {"type": "json_object", "schema": dict(schema)}
        elif self._forms[0] == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def learn(self, refusal: ProviderRefusal, body: Mapping[str, Any]) -> bool:
        """Return whether another try, without what was refused, is worth it."""
        if refusal.status not in _WORTH_ANOTHER_TRY:
            return False
        reason = refusal.reason
        if "max_completion_tokens" in reason and "max_tokens" in body:
            self._limit = "max_completion_tokens"
            return True
        for optional in ("stream_options", "temperature"):
            if optional in reason and optional in body:
                self._dropped.add(optional)
                return True
        if "response_format" in body and _ABOUT_FORMAT.search(reason):
            asked = body["response_format"]
            form = f"{asked['type']} with schema" if "schema" in asked else asked["type"]
            # Other requests may have learnt the same in the meantime.
            if self._forms[0] == form:
                self._forms.pop(0)
            return True
        return False


def is_strict(schema: Any) -> bool:
    """Return whether a schema is closed everywhere, as OpenAI requires for `strict`."""
    if isinstance(schema, list):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, Mapping):
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties or ()):
            return False
    return all(is_strict(part) for part in schema.values())


def _with_system(messages: list[dict[str, str]], told: str) -> list[dict[str, str]]:
    """Return the messages with `told` in one system message at the head."""
    if messages and messages[0]["role"] == "system":
        head = {"role": "system", "content": f"{messages[0]['content']}\n\n{told}"}
        return [head, *messages[1:]]
    return [{"role": "system", "content": told}, *messages]


class OpenAIChatOptions(ChatOptions):
    """Models of OpenAI, or any server that speaks its protocol."""

    model: str | None = None
    """Model where none is named; without one, `OPENAI_MODEL`, else `gpt-4o-mini`."""
    base_url: str = "https://api.openai.com/v1"
    """The API up to and with `/v1`."""
    api_key: SecretStr | None = None
    """Sent as a bearer token; without one, `OPENAI_API_KEY`, to OpenAI and this machine only."""


class OpenAIChat(HttpChat):
    """Posts to `{base_url}/chat/completions`.

    A server that does not know schemas is asked for JSON, and one that does not know that
    is told in words.
    """

    def __init__(self, model: str, options: OpenAIChatOptions) -> None:
        key = options.api_key
        super().__init__(
            "openai",
            model,
            options,
            base_url=options.base_url,
            headers={"Authorization": f"Bearer {key.get_secret_value()}"} if key else {},
            missing_hint="check the model's name and models.openai.base_url",
        )
        self._url = f"{options.base_url.rstrip('/')}/chat/completions"
        self._dialect = Dialect()

    async def warm(self) -> None:
        """Ask for one token: that loads a local model, and finds a wrong key or name out."""
        await self.complete([Message("user", "hi")], max_tokens=1)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolDefinition] = (),
        max_tokens: int | None = None,
    ) -> Reply:
        asked = self._asked(messages, max_tokens)
        if tools:
            asked["tools"] = [tool.to_openai_schema() for tool in tools]
        with self._errors():
            answer = await self._post(self._url, lambda: self._dialect.body(asked, schema))
            choice = answer["choices"][0]
            message = choice["message"]
            if message.get("refusal"):
                raise self._declined()
            return self._reply(
                _text(message.get("content")),
                choice.get("finish_reason"),
                answer.get("usage"),
                tuple(_call(called["function"]) for called in message.get("tool_calls") or ()),
            )

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        asked = self._asked(messages, max_tokens)
        asked |= {"stream": True, "stream_options": {"include_usage": True}}
        said: list[str] = []
        reason = usage = None
        with self._errors():
            stream = self._events(self._url, lambda: self._dialect.body(asked, None))
            async with aclosing(stream) as events:
                async for event in events:
                    if "error" in event:
                        break
                    usage = event.get("usage") or usage
                    for choice in event["choices"][:1]:
                        reason = choice.get("finish_reason") or reason
                        if text := _text(choice["delta"].get("content")):
                            said.append(text)
                            yield text
            reply = self._reply("".join(said), reason, usage)
        if reason is None:
            raise self._broken_off()
        yield reply

    def _learn(self, refusal: ProviderRefusal, body: dict[str, Any]) -> bool:
        return self._dialect.learn(refusal, body)

    def _asked(self, messages: Sequence[Message], max_tokens: int | None) -> dict[str, Any]:
        return {
            "model": self._model,
            "messages": [asdict(message) for message in messages],
            "temperature": self._temperature,
            "max_tokens": max_tokens or self._max_tokens,
        }

    def _reply(
        self,
        text: str,
        reason: str | None,
        usage: Mapping[str, Any] | None,
        calls: tuple[FunctionCall, ...] = (),
    ) -> Reply:
        if reason == "content_filter":
            raise self._declined()
        return Reply(
            text=text,
            model=self.name,
            calls=calls,
            tokens=TokenUsage(_count(usage, "prompt_tokens"), _count(usage, "completion_tokens")),
            cut=reason == "length",
        )


def _text(content: object) -> str:
    if content is None:
        return ""
    if not isinstance(content, str):
        raise TypeError("content is no text")
    return content


def _call(function: Mapping[str, Any]) -> FunctionCall:
    arguments = function["arguments"]
    if isinstance(arguments, str):
        arguments = json.loads(arguments or "{}")
    if not isinstance(arguments, dict) or not isinstance(function["name"], str):
        raise TypeError("no call")
    return FunctionCall(function["name"], arguments)


def _count(usage: Mapping[str, Any] | None, kind: str) -> int | None:
    found = (usage or {}).get(kind)
    return found if isinstance(found, int) else None


PROVIDER: Final = ProviderSpec(
    client=OpenAIChat,
    options=OpenAIChatOptions,
    default_model="gpt-4o-mini",
    model_variable="OPENAI_MODEL",
    key_variable="OPENAI_API_KEY",
    key_host="api.openai.com",
)
