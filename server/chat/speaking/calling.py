"""Asking a model for a function call, in whichever way its provider can be asked."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from server.chat.speaking.function_gemma import parse_calls
from server.core.chat_messages import FunctionCall, Message
from server.core.ports import ChatModel
from server.core.tools import ToolDefinition
from server.errors import ProviderRejected

_NONE: Final = "none"
"""The name that stands for no function."""


async def call_by(
    model: ChatModel, messages: Sequence[Message], functions: Sequence[ToolDefinition]
) -> FunctionCall | None:
    """The call that the model proposes; None when it proposes none.

    Functions are told natively where the provider can; a model that refuses them is asked
    for the call as JSON. Nothing in the call is checked, not even its name.

    Raises:
        ProviderUnavailable, ProviderTimedOut, ProviderRejected.
    """
    try:
        reply = await model.complete(messages, tools=functions)
    except ProviderRejected:
        reply = await model.complete(messages, schema=_schema(functions))
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


def _schema(functions: Sequence[ToolDefinition]) -> dict[str, Any]:
    """A call of one of the functions as JSON, or the name `none`."""
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
