"""What a conversation remembers, as JSON for the database."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from server.core.context import Asked, Context, Done, Options
from server.core.jsonable import to_json
from server.core.speech import Message


def to_text(context: Context) -> str:
    """The context as JSON text; `from_text` reads it back."""
    data: dict[str, Any] = {"messages": [[m.role, m.content] for m in context.messages]}
    if context.asked is not None:
        data["asked"] = _fields(context.asked)
    if context.options is not None:
        data["options"] = _fields(context.options)
    if context.done:
        data["done"] = [_fields(done) for done in context.done]
    if context.held is not None:
        data["held"] = context.held
    if context.waiting is not None:
        data["waiting"] = _fields(context.waiting)
    return to_json(data)


def from_text(text: str) -> Context:
    """The context in a text of `to_text`.

    Raises:
        ValueError, KeyError, TypeError: it is no such text.
    """
    # Numbers with a fraction stay exact, as they are in questions.
    data: dict[str, Any] = json.loads(text, parse_float=Decimal)
    return Context(
        messages=tuple(Message(role, content) for role, content in data["messages"]),
        asked=_asked(data["asked"]) if "asked" in data else None,
        options=_options(data["options"]) if "options" in data else None,
        done=tuple(_done(done) for done in data.get("done", ())),
        held=data.get("held"),
        waiting=_done(data["waiting"]) if "waiting" in data else None,
    )


def _fields(part: Asked | Options | Done) -> dict[str, Any]:
    """What is not as it is by default."""
    return {
        name: value
        for name in part.__dataclass_fields__
        if (value := getattr(part, name)) not in (None, "", (), {})
    }


def _asked(data: Mapping[str, Any]) -> Asked:
    return Asked(**{**data, "missing": tuple(data.get("missing", ()))})


def _options(data: Mapping[str, Any]) -> Options:
    return Options(**{**data, "template_ids": tuple(data["template_ids"])})


def _done(data: Mapping[str, Any]) -> Done:
    return Done(**{**data, "rows": tuple(data.get("rows", ()))})
