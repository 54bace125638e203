"""Provider `gemini`: models of Google Gemini, through its REST API."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final
from urllib.parse import quote

from pydantic import SecretStr

from server.core.chat_messages import FunctionCall, Message, Reply, TokenUsage
from server.core.tools import ToolDefinition
from server.providers.chat.json_http import HttpChat, ProviderRefusal
from server.providers.spec import ChatOptions, ProviderSpec

_KEPT: Final = (
    "description", "title", "minItems", "maxItems", "minProperties", "maxProperties",
    "minLength", "maxLength", "pattern", "minimum", "maximum",
)  # fmt: skip
_FORMATS: Final = frozenset({"enum", "date-time", "float", "double", "int32", "int64"})
_IMPLIED: Final = {"properties": "object", "items": "array"}
_DEEPEST: Final = 10
_LARGEST: Final = 1000
"""Levels and parts that are described; a schema that refers to itself has no end."""


def to_gemini(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON schema as Gemini takes it."""
    return _SchemaConverter(schema).convert(schema, 0)


class _SchemaConverter:
    def __init__(self, whole: Mapping[str, Any]) -> None:
        self._whole = whole
        self._left = _LARGEST

    def convert(self, schema: Any, depth: int) -> dict[str, Any]:
        self._left -= 1
        if not isinstance(schema, Mapping) or depth > _DEEPEST or self._left < 0:
            return {"type": "STRING"}
        schema, depth = _merged(schema, self._whole), depth + 1
        found: dict[str, Any] = {
            key: schema[key] for key in _KEPT if isinstance(schema.get(key), str | int | float)
        }
        choices = [part for key in ("anyOf", "oneOf") for part in _list(schema.get(key))]
        real = [part for part in choices if _dict(part).get("type") != "null"]
        types = [kind for kind in _list(schema.get("type")) if kind != "null"]
        if len(real) < len(choices) or "null" in _list(schema.get("type")):
            found["nullable"] = True
        if len(real) == 1:
            return self.convert(real[0], depth) | found
        if real:
            return found | {"anyOf": [self.convert(part, depth) for part in real]}
        if len(types) > 1:
            parts = [{**schema, "type": kind} for kind in types]
            return found | {"anyOf": [self.convert(part, depth) for part in parts]}
        implied = next((k for key, k in _IMPLIED.items() if key in schema), "string")
        kind = types[0] if types else implied
        found["type"] = kind.upper()
        if schema.get("format") in _FORMATS:
            found["format"] = schema["format"]
        given = _list(schema.get("enum")) or ([schema["const"]] if "const" in schema else [])
        if kind == "string" and given and all(isinstance(choice, str) for choice in given):
            found |= {"format": "enum", "enum": given}
        if kind == "array":
            found["items"] = self.convert(schema.get("items", {}), depth)
        if kind == "object" and isinstance(properties := schema.get("properties"), Mapping):
            found["properties"] = {
                name: self.convert(part, depth) for name, part in properties.items()
            }
            found["propertyOrdering"] = list(properties)
            if required := [name for name in _list(schema.get("required")) if name in properties]:
                found["required"] = required
        return found


def _merged(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with its reference and all parts of `allOf` merged into it."""
    merged = dict(schema)
    for _ in range(_DEEPEST):
        parts = [*_list(merged.pop("allOf", None))]
        if isinstance(reference := merged.pop("$ref", None), str):
            parts.append(_resolve_reference(reference, whole))
        if not parts:
            break
        for part in parts:
            if isinstance(part, Mapping):
                properties = {**_dict(part.get("properties")), **_dict(merged.get("properties"))}
                required = [*_list(part.get("required")), *_list(merged.get("required"))]
                merged = {**part, **merged}
                merged |= {"properties": properties} if properties else {}
                merged |= {"required": list(dict.fromkeys(map(str, required)))} if required else {}
    return merged


def _resolve_reference(reference: str, whole: Mapping[str, Any]) -> Any:
    place: Any = whole
    for step in reference.removeprefix("#").split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        place = place.get(step) if isinstance(place, Mapping) else None
    return place


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _dict(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


_DONE: Final = frozenset({"STOP", "MAX_TOKENS"})


class GeminiChatOptions(ChatOptions):
    """Models of Google Gemini."""

    model: str | None = None
    """Model where none is named; without one, `GEMINI_MODEL`, else `gemini-2.5-flash`."""
    base_url: str = "https://generativelanguage.googleapis.com/v1beta"
    """The API up to and with its version."""
    api_key: SecretStr | None = None
    """Sent as `x-goog-api-key`; without one, `GEMINI_API_KEY`, to Google and this machine only."""


class GeminiChat(HttpChat):
    """Posts to `{base_url}/models/{model}:generateContent`.

    Models that could think aloud first are asked not to, where they can be.
    """

    def __init__(self, model: str, options: GeminiChatOptions) -> None:
        key = options.api_key
        super().__init__(
            "gemini",
            model,
            options,
            base_url=options.base_url,
            # In a header, not in the address: addresses are written into logs.
            headers={"x-goog-api-key": key.get_secret_value()} if key else {},
            missing_hint="check the model's name",
        )
        name = quote(model.removeprefix("models/"), safe="")
        self._url = f"{options.base_url.rstrip('/')}/models/{name}"
        self._thinking_can_be_off = True

    async def warm(self) -> None:
        """Ask for one token: that finds a wrong key or name out."""
        await self._generate(self._asked([Message("user", "hi")], 1))

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
        answer = await self._generate(asked)
        with self._errors():
            self._refuse_blocked(answer)
            candidate = answer["candidates"][0]
            parts = candidate.get("content", {}).get("parts", [])
            calls = tuple(
                FunctionCall(str(called["name"]), dict(called.get("args") or {}))
                for part in parts
                if (called := part.get("functionCall"))
            )
            return self._reply(_text(parts), candidate.get("finishReason"), answer, calls)

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        said: list[str] = []
        reason: str | None = None
        last: Mapping[str, Any] = {}
        asked = self._asked(messages, max_tokens)
        url = f"{self._url}:streamGenerateContent?alt=sse"
        stream = self._events(url, lambda: self._without_thoughts(asked))
        with self._errors():
            async with aclosing(stream) as events:
                async for event in events:
                    if "error" in event:
                        break
                    self._refuse_blocked(event)
                    last = event
                    for candidate in event.get("candidates", ())[:1]:
                        reason = candidate.get("finishReason") or reason
                        if text := _text(candidate.get("content", {}).get("parts", [])):
                            said.append(text)
                            yield text
        if reason is None:
            raise self._broken_off()
        with self._errors():
            reply = self._reply("".join(said), reason, last)
        yield reply

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

    async def _generate(self, asked: dict[str, Any]) -> Mapping[str, Any]:
        with self._errors():
            answer = await self._post(
                f"{self._url}:generateContent", lambda: self._without_thoughts(asked)
            )
            if not isinstance(answer, dict):
                raise TypeError("no object")
            return answer

    def _without_thoughts(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the request with thinking off: thoughts would use up the tokens of the reply."""
        if not self._thinking_can_be_off:
            return asked
        config = {**asked["generationConfig"], "thinkingConfig": {"thinkingBudget": 0}}
        return asked | {"generationConfig": config}

    def _learn(self, refusal: ProviderRefusal, body: Mapping[str, Any]) -> bool:
        """Stop switching thinking off for a model that refuses the switch."""
        asked_for = "thinkingConfig" in body["generationConfig"]
        if refusal.status == 400 and asked_for and "think" in refusal.reason.lower():
            self._thinking_can_be_off = False
            return True
        return False

    def _refuse_blocked(self, answer: Mapping[str, Any]) -> None:
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
            tokens=TokenUsage(usage.get("promptTokenCount"), usage.get("candidatesTokenCount")),
            cut=reason == "MAX_TOKENS",
        )


def _declared(tool: ToolDefinition) -> dict[str, Any]:
    function = tool.to_openai_schema()["function"]
    declared = {"name": function["name"], "description": function["description"]}
    if function["parameters"]["properties"]:  # an object without properties is refused
        declared["parameters"] = to_gemini(function["parameters"])
    return declared


def _text(parts: Sequence[Mapping[str, Any]]) -> str:
    return "".join(part["text"] for part in parts if "text" in part and not part.get("thought"))


PROVIDER: Final = ProviderSpec(
    client=GeminiChat,
    options=GeminiChatOptions,
    default_model="gemini-2.5-flash",
    model_variable="GEMINI_MODEL",
    key_variable="GEMINI_API_KEY",
    key_host="generativelanguage.googleapis.com",
)
