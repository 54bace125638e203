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
        events = _events(body["model"], think(body), limit, with_usage=with_usage)
        return Answer(events=events, done="[DONE]")
    return Answer(_completion(body["model"], list(think(body)), limit))


def refusal(message: str, status: int = 400) -> Answer:
    return Answer({"error": {"message": message, "type": "invalid_request_error"}}, status)


def _completion(
    model: str, pieces: list[str | dict[str, Any]], limit: int | None
) -> dict[str, Any]:
    kept = pieces[:limit]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "".join(piece for piece in kept if isinstance(piece, str)) or None,
        "refusal": None,
    }
    if calls := [piece for piece in kept if isinstance(piece, dict)]:
        message["tool_calls"] = [_tool_call(n, call) for n, call in enumerate(calls)]
    reason = "length" if len(pieces) > len(kept) else "tool_calls" if calls else "stop"
    return {
        **_about(model),
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": _usage(len(kept)),
    }


def _events(
    model: str, pieces: Said, limit: int | None, *, with_usage: bool
) -> Iterator[Mapping[str, Any]]:
    reason, said, calls = "stop", 0, 0
    yield _chunk(model, {"role": "assistant"}, None)
    for piece in pieces:
        if said == limit:
            reason = "length"
            break
        said += 1
        if isinstance(piece, dict):
            yield _chunk(
                model, {"tool_calls": [{"index": calls, **_tool_call(calls, piece)}]}, None
            )
            reason, calls = "tool_calls", calls + 1
        else:
            yield _chunk(model, {"content": piece}, None)
    yield _chunk(model, {}, reason)
    if with_usage:
        yield {**_chunk(model, {}, None), "choices": [], "usage": _usage(said)}


def _tool_call(number: int, function: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"call_{number}", "type": "function", "function": function}


def _usage(said: int) -> dict[str, int]:
    return {"prompt_tokens": 4, "completion_tokens": said, "total_tokens": 4 + said}


def _about(model: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "created": 1_700_000_000, "model": model}


def _chunk(model: str, delta: Mapping[str, Any], reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    about = {**_about(model), "object": "chat.completion.chunk"}
    return {**about, "choices": [choice], "usage": None}
