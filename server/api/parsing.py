"""Requests that carry a question: read, or refused in plain words, and made a turn."""

from datetime import UTC, datetime
from typing import Final, TypeVar
from uuid import uuid4

from fastapi import Request
from pydantic import BaseModel, ValidationError

from server.api.error_responses import FieldsInvalid
from server.api.schemas import ChatRequest, IntentRequest
from server.core.turn import Caller, Turn
from server.errors import RequestInvalid

M = TypeVar("M", ChatRequest, IntentRequest)
B = TypeVar("B", bound=BaseModel)


def read_message(model: type[M], body: bytes, max_message_chars: int) -> M:
    """The question in a body, whatever Content-Type it came with.

    Raises:
        RequestInvalid: not JSON, or a message that is empty or too long.
        FieldsInvalid: JSON, but not of the documented form.
    """
    asked = read_body(model, body)
    if not asked.message.strip():
        raise RequestInvalid("'message' is empty: write a question into it")
    if len(asked.message) > max_message_chars:
        raise RequestInvalid(
            f"'message' has {len(asked.message)} characters; the most is {max_message_chars}"
        )
    return asked


def read_body(model: type[B], body: bytes) -> B:
    """A body of another kind.

    Raises:
        RequestInvalid: not JSON.
        FieldsInvalid: JSON, but not of the documented form.
    """
    try:
        return model.model_validate_json(body)
    except ValidationError as invalid:
        raise _named(invalid, model) from None


def _named(invalid: ValidationError, model: type[BaseModel]) -> RequestInvalid:
    errors = invalid.errors(include_url=False, include_context=False, include_input=False)
    if any(error["type"] == "json_invalid" for error in errors):
        reason = errors[0]["msg"].removeprefix("Invalid JSON: ")
        return RequestInvalid(f"the body is not JSON ({reason}); send {_example(model)}")
    details = [
        {
            "field": ".".join(map(str, error["loc"])) or "body",
            "problem": _problem(error["type"], error["msg"], model),
        }
        for error in errors
    ]
    message = "; ".join(f"{detail['field']}: {detail['problem']}" for detail in details)
    return FieldsInvalid(message, details)


def _example(model: type[BaseModel]) -> str:
    if "message" in model.model_fields:
        return '{"message": "your question"}'
    return f"an object with {_needed(model)}"


def _needed(model: type[BaseModel]) -> str:
    known = model.model_fields
    needed = [name for name, field in known.items() if field.is_required()] or list(known)
    fields = ", ".join(map(repr, needed))
    return f"the field {fields}" if len(needed) == 1 else f"the fields {fields}"


def _problem(kind: str, message: str, model: type[BaseModel]) -> str:
    if kind == "extra_forbidden":
        return f"unknown field; known are {', '.join(model.model_fields)}"
    if kind == "missing":
        return "is missing"
    if kind == "model_type":
        return f"expected an object with {_needed(model)}"
    return message[:1].lower() + message[1:]


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
