"""Requests that carry a question: read, or refused in plain words, and made a turn."""

from datetime import UTC, datetime
from typing import Final, TypeVar
from uuid import uuid4

from fastapi import Request
from pydantic import BaseModel, ValidationError

from server.api.error_responses import FieldsInvalid
from server.api.schemas import MessageRequest
from server.core.turn import Caller, Turn
from server.errors import RequestInvalid

M = TypeVar("M", bound=BaseModel)

_MAX_LANGUAGES: Final = 8


def read_body(model: type[M], body: bytes, *, max_message_chars: int | None = None) -> M:
    """Return a body as its model, whatever Content-Type it came with.

    With `max_message_chars`, its `message` must be a question of at most that length.

    Raises:
        RequestInvalid: not JSON, or a message that is empty or too long.
        FieldsInvalid: JSON, but not of the documented form.
    """
    try:
        read = model.model_validate_json(body)
    except ValidationError as invalid:
        raise _body_error(invalid, model) from None
    if max_message_chars is not None and isinstance(read, MessageRequest):
        message = read.message
        if not message.strip():
            raise RequestInvalid("'message' is empty: write a question into it")
        if len(message) > max_message_chars:
            raise RequestInvalid(
                f"'message' has {len(message)} characters; the most is {max_message_chars}"
            )
    return read


def _body_error(invalid: ValidationError, model: type[BaseModel]) -> RequestInvalid:
    rows = invalid.errors(include_url=False, include_context=False, include_input=False)
    if any(row["type"] == "json_invalid" for row in rows):
        reason = rows[0]["msg"].removeprefix("Invalid JSON: ")
        asks = "message" in model.model_fields
        example = '{"message": "your question"}' if asks else f"an object with {_needed(model)}"
        return RequestInvalid(f"the body is not JSON ({reason}); send {example}")
    return FieldsInvalid(
        (".".join(map(str, row["loc"])) or "body", _problem(row["type"], row["msg"], model))
        for row in rows
    )


def _needed(model: type[BaseModel]) -> str:
    known = model.model_fields
    needed = [name for name, field in known.items() if field.is_required()] or list(known)
    return f"the field{'s' if len(needed) > 1 else ''} {', '.join(map(repr, needed))}"


def _problem(kind: str, message: str, model: type[BaseModel]) -> str:
    if kind == "extra_forbidden":
        return f"unknown field; known are {', '.join(model.model_fields)}"
    if kind == "missing":
        return "is missing"
    if kind == "model_type":
        return f"expected an object with {_needed(model)}"
    return message[:1].lower() + message[1:]


def turn_of(request: Request, caller: Caller, text: str, session_id: str | None) -> Turn:
    """Return the turn of a question, in a new session when the client names none."""
    languages = request.headers.get("accept-language")
    return Turn(
        id=request.state.request_id,
        text=text,
        session_id=session_id or uuid4().hex,
        caller=caller,
        received_at=datetime.now(UTC),
        languages=accepted_languages(languages) if languages else (),
        continues=session_id is not None,
    )


def accepted_languages(header: str) -> tuple[str, ...]:
    """Return the tags of an Accept-Language header, best first; what is malformed is skipped."""
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
