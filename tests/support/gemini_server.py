"""What Gemini's REST API answers, for a loopback service to say."""

from collections.abc import Iterator
from typing import Any

from server.core.chat_messages import Message
from tests.support.loopback import Answer, Asked
from tests.support.ollama_server import Said, Think, words

HELLO = words("Hello", " there", ".")


def gemini(asked: Asked, think: Think = HELLO) -> Answer:
    """The answer of a model that `think`s, to `generateContent` or `streamGenerateContent`."""
    name, _, method = asked.path.partition(":")
    assert name.startswith("/v1beta/models/")
    wanted = asked.body["generationConfig"]
    told = {
        "messages": [
            {"role": message.role, "content": message.content} for message in messages(asked.body)
        ],
        "format": json_schema(wanted["responseSchema"]) if "responseSchema" in wanted else None,
    }
    pieces = think(told)
    limit = wanted["maxOutputTokens"]
    if method == "generateContent":
        return Answer(_content(list(pieces), limit))
    assert method == "streamGenerateContent?alt=sse"
    return Answer(events=_events(pieces, limit))


def json_schema(schema: Any) -> Any:
    """Gemini's schema in the words of JSON Schema."""
    if isinstance(schema, list):
        return [json_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: part.lower() if key == "type" and isinstance(part, str) else json_schema(part)
        for key, part in schema.items()
        if key not in {"propertyOrdering", "format"}
    }


def messages(body: Any) -> list[Message]:
    """The conversation of a request, as it was before it was put in Gemini's words."""
    told = "\n".join(part["text"] for part in body.get("systemInstruction", {}).get("parts", []))
    said = [
        Message(
            "assistant" if content["role"] == "model" else "user",
            "".join(part["text"] for part in content["parts"]),
        )
        for content in body["contents"]
    ]
    return [Message("system", told), *said] if told else said


def _content(pieces: list[str | dict[str, Any]], limit: int) -> dict[str, Any]:
    kept = pieces[:limit]
    text = "".join(piece for piece in kept if isinstance(piece, str))
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    parts += [
        {"functionCall": {"name": piece["name"], "args": piece["arguments"]}}
        for piece in kept
        if isinstance(piece, dict)
    ]
    return _candidate(parts, "STOP" if len(pieces) <= limit else "MAX_TOKENS", len(kept))


def _events(pieces: Said, limit: int) -> Iterator[dict[str, Any]]:
    said = 0
    for piece in pieces:
        if said == limit:
            yield _candidate([], "MAX_TOKENS", said)
            return
        said += 1
        yield _candidate([{"text": piece}], None, said)
    yield _candidate([{"text": ""}], "STOP", said)


def _candidate(parts: list[dict[str, Any]], reason: str | None, said: int) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if reason is not None:
        candidate["finishReason"] = reason
    counted = {"promptTokenCount": 4, "candidatesTokenCount": said, "totalTokenCount": 4 + said}
    return {"candidates": [candidate], "usageMetadata": counted, "modelVersion": "stand-in"}
