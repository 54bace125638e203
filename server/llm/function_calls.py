"""Asking a model for a function call, in the way that its provider supports.

FunctionGemma's own format is read where a server passes it on as text:

    <start_function_call>call:name{key:<escape>text<escape>,other:5}<end_function_call>

Texts stand between `<escape>` marks and may hold anything else, braces and JSON included.
Other values are numbers, true, false, null, `[…]` and `{…}`. Text that is not a call is
passed over; nothing raises.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from server.core.chat_messages import FunctionCall, Message
from server.core.ports import ChatModel
from server.core.tools import ToolDefinition
from server.errors import ProviderRejected

_NONE: Final = "none"
"""The name that stands for no function."""

_START: Final = "<start_function_call>"
_CALL: Final = re.compile(r"\s*call:\s*([\w.-]+)\s*(?=\{)")
_TOKEN: Final = re.compile(
    r"\s*(?:<escape>(?P<text>.*?)<escape>|(?P<mark>[{}\[\]:,])|(?P<word>[^{}\[\]:,<>\s][^{}\[\]:,<>]*))",
    re.DOTALL,
)
_MAX_CHARS: Final = 100_000
_MAX_CALLS: Final = 32
_MAX_DEPTH: Final = 32
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
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        return None
    if data["name"] == _NONE:
        return None
    arguments = data.get("arguments")
    return FunctionCall(data["name"], arguments if isinstance(arguments, Mapping) else {})


def _call_schema(functions: Sequence[ToolDefinition]) -> dict[str, Any]:
    """Return the JSON schema of a call of one of the functions, or of the name `none`."""
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": [function.name]},
                "arguments": function.to_openai_schema()["function"]["parameters"],
            },
            "required": ["name", "arguments"],
        }
        for function in functions
    ]
    none = {
        "type": "object",
        "properties": {"name": {"type": "string", "enum": [_NONE]}},
        "required": ["name"],
    }
    return {"anyOf": [*calls, none]}


class _Unreadable(Exception):
    """The text is not a call from here on."""


def parse_calls(text: str) -> tuple[FunctionCall, ...]:
    """Return the calls in a text, in order; a last one may lack its end mark."""
    calls: list[FunctionCall] = []
    text = text[:_MAX_CHARS]
    at = text.find(_START)
    while at >= 0 and len(calls) < _MAX_CALLS:
        at += len(_START)
        call = _CALL.match(text, at)
        if call is not None:
            try:
                arguments, at = _read_value(text, call.end(), 0)
                calls.append(FunctionCall(call[1], arguments))
            except _Unreadable:
                pass
        at = text.find(_START, at)
    return tuple(calls)


def _read_value(text: str, at: int, depth: int) -> tuple[Any, int]:
    """Return the value that begins at a place, and the place after it."""
    kind, opening, at = _read_token(text, at)
    if kind != "mark":
        return (opening if kind == "text" else _plain(opening)), at
    if opening not in "{[" or depth > _MAX_DEPTH:
        raise _Unreadable
    close = "}" if opening == "{" else "]"
    fields: dict[str, Any] = {}
    items: list[Any] = []
    while True:
        kind, token, after = _read_token(text, at)
        if (kind, token) == ("mark", close):
            return (fields if close == "}" else items), after
        if close == "}":
            colon = _read_token(text, after)
            if kind == "mark" or colon[:2] != ("mark", ":"):
                raise _Unreadable
            fields[token], at = _read_value(text, colon[2], depth + 1)
        else:
            item, at = _read_value(text, at, depth + 1)
            items.append(item)
        kind, token, after = _read_token(text, at)
        if (kind, token) == ("mark", ","):
            at = after
        elif (kind, token) != ("mark", close):
            raise _Unreadable


def _read_token(text: str, at: int) -> tuple[str, str, int]:
    """Return the next token (an escaped text, a mark or a plain word), and the place after it."""
    found = _TOKEN.match(text, at)
    if found is None or found.lastgroup is None:
        raise _Unreadable
    token = found[found.lastgroup]
    return found.lastgroup, token if found.lastgroup == "text" else token.strip(), found.end()


def _plain(word: str) -> Any:
    """Return a constant, a number, or the word itself: some models omit the marks of a text."""
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    for kind in (int, float):
        try:
            value = kind(word) if len(word) <= 60 else word
        except ValueError:
            continue
        if isinstance(value, int | str) or math.isfinite(value):
            return value
    return word
