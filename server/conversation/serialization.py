"""What a conversation remembers, and the arguments of calls, as JSON for the database."""

import json
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from server.core.chat_messages import Message
from server.core.json import to_json
from server.core.turn import CompletedCall, ConversationContext, OfferedChoices, PendingQuestion

_KIND: Final = "$"
"""The one key that marks a value which JSON has no form for; a key of a mapping that begins
with it is written with it doubled."""

_WRITERS: Final[tuple[tuple[type, str, Callable[[Any], str]], ...]] = (
    (datetime, "datetime", datetime.isoformat),  # before date, which it also is
    (date, "date", date.isoformat),
    (time, "time", time.isoformat),
    (timedelta, "duration", lambda value: f"{value.days},{value.seconds},{value.microseconds}"),
    (Decimal, "decimal", str),
)
_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "duration": lambda text: timedelta(*map(int, text.split(","))),
    "decimal": Decimal,
}


def arguments_to_json(value: Any) -> str:
    """Return `value` as JSON text; equal values give equal texts.

    Raises:
        TypeError: it holds something that is neither JSON nor a date, a time or a decimal.
    """
    return json.dumps(_to_json(value), sort_keys=True, separators=(",", ":"))


def arguments_from_json(text: str) -> Any:
    """Return the value in a text of `arguments_to_json`.

    Raises:
        ValueError: it is not such a text.
    """
    return _from_json(json.loads(text))


def _to_json(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {_escape_key(key): _to_json(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return {_KIND: "tuple", "is": [_to_json(item) for item in value]}
    if isinstance(value, list):
        return [_to_json(item) for item in value]
    for kind, name, write in _WRITERS:
        if isinstance(value, kind):
            return {_KIND: name, "is": write(value)}
    raise TypeError(f"a value of type {type(value).__name__} cannot be kept")


def _escape_key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of type {type(key).__name__} cannot be kept")
    return _KIND + key if key.startswith(_KIND) else key


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _KIND not in value:
        return {
            key[1:] if key.startswith(_KIND) else key: _from_json(item)
            for key, item in value.items()
        }
    kind, content = value[_KIND], value["is"]
    if kind == "tuple":
        return tuple(_from_json(item) for item in content)
    try:
        return _READERS[kind](content)
    except KeyError:
        raise ValueError(f"a value of kind {kind!r} is unknown") from None


def context_to_json(context: ConversationContext) -> str:
    """Return the context as JSON text; `context_from_json` reads it back."""
    data: dict[str, Any] = {"messages": [[m.role, m.content] for m in context.messages]}
    parts = {"asked": context.asked, "options": context.options, "waiting": context.waiting}
    data |= {name: _fields(part) for name, part in parts.items() if part is not None}
    if context.done:
        data["done"] = [_fields(done) for done in context.done]
    named = {"held": context.held, "held_in": context.held_in}
    data |= {name: value for name, value in named.items() if value is not None}
    return to_json(data)


def context_from_json(text: str) -> ConversationContext:
    """Return the context in a text of `context_to_json`.

    Raises:
        ValueError, KeyError, TypeError: it is not such a text.
    """
    # Numbers with a fraction stay exact, as they are in questions.
    data: dict[str, Any] = json.loads(text, parse_float=Decimal)
    return ConversationContext(
        messages=tuple(Message(role, content) for role, content in data["messages"]),
        asked=PendingQuestion(**_read(data["asked"], "missing")) if "asked" in data else None,
        options=OfferedChoices(**_read(data["options"], "template_ids"))
        if "options" in data
        else None,
        done=tuple(CompletedCall(**_read(done, "rows")) for done in data.get("done", ())),
        held=data.get("held"),
        waiting=CompletedCall(**_read(data["waiting"], "rows")) if "waiting" in data else None,
        held_in=data.get("held_in"),
    )


def _fields(part: PendingQuestion | OfferedChoices | CompletedCall) -> dict[str, Any]:
    """Return the fields that differ from their defaults."""
    return {
        name: value
        for name in part.__dataclass_fields__
        if (value := getattr(part, name)) not in (None, "", (), {})
    }


def _read(data: Mapping[str, Any], sequence: str) -> dict[str, Any]:
    """Return the fields, of which one is a tuple."""
    return {**data, sequence: tuple(data.get(sequence, ()))}
