"""What OpenAI's chat API answers, for a loopback service to say."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.loopback import Answer, Asked
from tests.support.ollama_server import Said, Think, words

HELLO = words("Hello", " there", ".")


def openai(asked: Asked, think: Think = HELLO) -> Answer:
    """The answer of a model that `think`s, whole or streamed."""
    assert asked.path == "/v1/chat/completions"
    body = asked.body
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    if body.get("stream"):
        with_usage = body.get("stream_options", {}).get("include_usage", False)
        return Answer(events=_events(think(body), limit, with_usage=with_usage), done="[DONE]")
    return Answer(_completion(list(think(body)), limit))


def refusal(message: str, status: int = 400) -> Answer:
    return Answer({"error": {"message": message, "type": "invalid_request_error"}}, status)


def _completion(pieces: list[str | dict[str, Any]], limit: int) -> dict[str, Any]:
    kept = pieces[:limit]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "".join(piece for piece in kept if isinstance(piece, str)) or None,
        "refusal": None,
    }
    if calls := [piece for piece in kept if isinstance(piece, dict)]:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": call}
            for n, call in enumerate(calls)
        ]
    reason = "length" if len(pieces) > limit else "stop"
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 4, "completion_tokens": len(kept)},
    }


def _events(pieces: Said, limit: int, *, with_usage: bool) -> Iterator[Mapping[str, Any]]:
    reason, said = "stop", 0
    yield _chunk({"role": "assistant"}, None)
    for piece in pieces:
        if said == limit:
            reason = "length"
            break
        said += 1
        yield _chunk({"content": piece}, None)
    yield _chunk({}, reason)
    if with_usage:
        usage = {"prompt_tokens": 4, "completion_tokens": said}
        yield {"object": "chat.completion.chunk", "choices": [], "usage": usage}


def _chunk(delta: Mapping[str, Any], reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"object": "chat.completion.chunk", "choices": [choice], "usage": None}
