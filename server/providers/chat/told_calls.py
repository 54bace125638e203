"""Functions for models that know none: told in words, called in JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from server.core.speech import FunctionCall, Message, Reply
from server.core.tools import ToolDefinition
from server.providers.chat.json_reading import NoJson, json_in

_NONE: Final = "none"
"""The name that stands for no function; a function of that name would not be called."""


def call_schema(tools: Sequence[ToolDefinition]) -> dict[str, Any]:
    """What a call of one of `tools` looks like, or the decision for none of them."""
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"const": tool.name},
                "arguments": tool.to_openai_schema()["function"]["parameters"]
                | {"additionalProperties": False},
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    none = {
        "type": "object",
        "properties": {"name": {"const": _NONE}},
        "required": ["name"],
        "additionalProperties": False,
    }
    return {"anyOf": [*calls, none]}


def with_tools(messages: Sequence[Message], tools: Sequence[ToolDefinition]) -> list[Message]:
    """The messages, and before them what the functions are."""
    listed = "\n".join(json.dumps(tool.to_openai_schema()["function"]) for tool in tools)
    told = (
        f"You can call one of these functions:\n{listed}\n"
        'Answer with {"name": …, "arguments": {…}}, '
        f'or with {{"name": "{_NONE}"}} when none of them fits.'
    )
    if messages and messages[0].role == "system":
        return [Message("system", f"{messages[0].content}\n\n{told}"), *messages[1:]]
    return [Message("system", told), *messages]


def with_call(reply: Reply, tools: Sequence[ToolDefinition]) -> Reply:
    """The reply with the call that its text is; any other text stays text."""
    try:
        found = json_in(reply.text)
    except NoJson:
        return reply
    if not isinstance(found, Mapping):
        return reply
    name, arguments = found.get("name"), found.get("arguments")
    if name == _NONE:
        return replace(reply, text="")
    if name not in {tool.name for tool in tools} or not isinstance(arguments, dict):
        return reply
    return replace(reply, text="", calls=(FunctionCall(str(name), arguments),))
