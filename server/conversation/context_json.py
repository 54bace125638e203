"""What a conversation remembers, as JSON for the database."""

import json
from typing import Any

from server.core.context import Context
from server.core.jsonable import to_json
from server.core.speech import Message


def to_text(context: Context) -> str:
    """The context as JSON text; `from_text` reads it back."""
    return to_json({"messages": [[m.role, m.content] for m in context.messages]})


def from_text(text: str) -> Context:
    """The context in a text of `to_text`."""
    data: dict[str, Any] = json.loads(text)
    return Context(tuple(Message(role, content) for role, content in data["messages"]))
