"""Values that are given by name, as a form does, for what the last answer asked for."""

from typing import Final

from server.core.suggestions import unknown
from server.core.turn import Turn
from server.errors import RequestInvalid
from server.library.model import Library

_NOTHING_ASKED: Final = (
    "the last answer of this session asked for no arguments: ask a question first, and give what "
    "its answer names in 'metadata.missing'"
)


def check_given(library: Library, turn: Turn) -> None:
    """Raise `RequestInvalid` unless every value of the turn is for what was asked."""
    asked = turn.context.asked
    if asked is None or asked.template_id not in library.templates:
        raise RequestInvalid(_NOTHING_ASKED)
    for name in turn.given:
        if name not in asked.missing:
            raise RequestInvalid(f"'arguments': {unknown('argument', name, asked.missing)}")
