"""From a request that was read to the turn that answers it."""

from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

from fastapi import Request

from server.core.turn import Caller, Turn

_MAX_LANGUAGES: Final = 8


def turn_of(request: Request, caller: Caller, text: str, session_id: str | None) -> Turn:
    """The turn of a question; a session of its own when the client names none."""
    return Turn(
        id=request.state.request_id,
        text=text,
        session_id=session_id or uuid4().hex,
        caller=caller,
        received_at=datetime.now(UTC),
        languages=languages_of(request.headers.get("accept-language", "")),
        continues=session_id is not None,
    )


def languages_of(header: str) -> tuple[str, ...]:
    """Language tags of an Accept-Language header, best first; nonsense is passed over."""
    weighted = []
    for position, part in enumerate(header.split(",")[:_MAX_LANGUAGES]):
        tag, _, weight = part.strip().partition(";q=")
        try:
            quality = float(weight) if weight else 1.0
        except ValueError:
            continue
        if tag and tag != "*":
            weighted.append((-quality, position, tag))
    return tuple(tag for _, _, tag in sorted(weighted))
