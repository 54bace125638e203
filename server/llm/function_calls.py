"""Asking a model for a function call, in the way that its provider supports.

FunctionGemma's own format is read where a server passes it on as text:

    <start_function_call>call:name{key:<escape>text<escape>,other:5}<end_function_call>

Texts stand between `<escape>` marks and may hold anything else, braces and JSON included.
Other values are numbers, true, false, null, `[…]` and `{…}`. Text that is not a call is
passed over; nothing raises.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from server.core.chat_messages import FunctionCall, Message
from server.core.ports import ChatModel
from server.core.tools import ToolDefinition
from server.errors import ProviderRejected

_NONE: Final = "none"
"""The name that stands for no function."""

_TOKEN: Final = re.compile(
    r"<start_function_call>\s*call:\s*(?P<call>[\w.-]+)\s*(?=\{)"
    r"|<escape>(?P<text>.*?)<escape>"
    r"|(?P<word>[^{}\[\]:,<>\s][^{}\[\]:,<>]*)(?P<colon>:?)"
    r"|\S",
    re.DOTALL,
)
_MAX_CHARS: Final = 100_000
_MAX_CALLS: Final = 32
_MAX_NUMBER_CHARS: Final = 60
_CONSTANTS: Final = {"true": True, "false": False, "null": None, "None": None}


async def request_function_call(
    model: ChatModel, messages: Sequence[Message], functions: Sequence[ToolDefinition]
) -> FunctionCall | None:
    """Return the call that the model proposes; None when it proposes none.

    Functions are given natively where the provider can; a model that refuses them is asked
    for the call as JSON. Nothing in the call is checked, not even its name.

    Raises:
        ProviderUnavailable, ProviderTimedOut, ProviderRejected.
    """
    try:
        reply = await model.complete(messages, tools=functions)
    except ProviderRejected:
        reply = await model.complete(messages, schema=_call_schema(functions))
        return _from_data(reply.data)
    calls = reply.calls or parse_calls(reply.text)
    return calls[0] if calls else None


def _from_data(data: Any) -> FunctionCall | None:
    name = data.get("name") if isinstance(data, Mapping) else None
    if not isinstance(name, str) or name == _NONE:
        return None
    arguments = data.get("arguments")
    return FunctionCall(name, arguments if isinstance(arguments, Mapping) else {})


def _call_schema(functions: Sequence[ToolDefinition]) -> dict[str, Any]:
    calls: list[tuple[str, dict[str, Any]]] = [
        (each.name, {"arguments": each.to_openai_schema()["function"]["parameters"]})
        for each in functions
    ]
    properties = [
        {"name": {"type": "string", "enum": [name]}} | arguments
        for name, arguments in (*calls, (_NONE, dict[str, Any]()))
    ]
    return {"anyOf": [{"type": "object", "properties": p, "required": list(p)} for p in properties]}


def parse_calls(text: str) -> tuple[FunctionCall, ...]:
    """Return the calls in a text, in order; a last one may lack its end mark."""
    pieces: list[tuple[str, list[str]]] = []
    for token in _TOKEN.finditer(text[:_MAX_CHARS]):
        if token["call"]:
            pieces.append((token["call"], []))
        elif pieces:
            pieces[-1][1].append(_as_json(token))
    calls: list[FunctionCall] = []
    for name, parts in pieces[:_MAX_CALLS]:
        with suppress(ValueError, RecursionError):
            calls.append(FunctionCall(name, json.JSONDecoder().raw_decode("".join(parts))[0]))
    return tuple(calls)


def _as_json(token: re.Match[str]) -> str:
    if token["text"] is not None:
        return json.dumps(token["text"])
    if token["word"] is None:
        return token[0]
    word = token["word"].strip()
    return f"{json.dumps(word)}:" if token["colon"] else json.dumps(_plain_value(word))


def _plain_value(word: str) -> Any:
    """Return a constant, a number, or the word itself: some models omit the marks of a text."""
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    for kind in (int, float):
        try:
            value = kind(word) if len(word) <= _MAX_NUMBER_CHARS else word
        except ValueError:
            continue
        if isinstance(value, int | str) or math.isfinite(value):
            return value
    return word
