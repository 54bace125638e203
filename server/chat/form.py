"""Values that are given by name, as a form does, for what the last answer asked for."""

from collections.abc import Mapping
from typing import Any, Final

from server.core.json import to_json
from server.core.suggestions import unknown
from server.core.turn import Turn
from server.errors import RequestInvalid
from server.library.model import Library

_NOTHING_ASKED: Final = (
    "the last answer of this session asked for no arguments: ask a question first, and give what "
    "its answer names in 'metadata.missing'"
)


def in_words(message: str, arguments: Mapping[str, Any]) -> str:
    """Return the message, and whatever of the arguments it does not say, in words."""
    said = [message] if message.strip() else []
    for name, value in arguments.items():
        words = value if isinstance(value, str) else to_json(value)
        if value is not None and words not in message:
            said.append(f"{name.replace('_', ' ')}: {words}")
    return "; ".join(said)


def check_given(library: Library, turn: Turn) -> None:
    """Raise `RequestInvalid` unless every value of the turn is for what was asked."""
    asked = turn.context.asked
    if asked is None or asked.template_id not in library.templates:
        raise RequestInvalid(_NOTHING_ASKED)
    for name in turn.given:
        if name not in asked.missing:
            raise RequestInvalid(f"'arguments': {unknown('argument', name, asked.missing)}")
