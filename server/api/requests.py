"""What routes work with: the running server, and the body and the turn of a request."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, TypeVar
from uuid import uuid4

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError
from starlette.types import Receive

from server.access.gateway import Gateway
from server.access.keys import KeyStore
from server.access.rate_limits import RateLimits
from server.access.sign_in import SignInLinks
from server.access.wrong_keys import WrongKeys
from server.adapters.manager import AdapterManager
from server.adapters.registry import Adapters
from server.api.error_responses import ClientLeft, FieldsInvalid
from server.api.schemas import MessageRequest
from server.audit.changes import ChangeRecorder
from server.audit.reader import AuditReader
from server.authoring.saver import LibrarySaver
from server.conversation.confirmations.service import ConfirmationService
from server.conversation.inbox import InboxStore
from server.core.languages import accepted_languages
from server.core.spans import Tracer
from server.core.storable import storable_text
from server.core.transcript import TranscriptKey
from server.core.turn import Caller, Turn
from server.errors import RequestInvalid
from server.evaluation.drafts import DraftDesk
from server.evaluation.library_map import LibraryMaps
from server.evaluation.live import Evaluations
from server.guards.manager import GuardManager
from server.metrics.metrics import Metrics
from server.settings.models import Authoring, BlockedIn, RolesSettings
from server.storage.announcements import Announcements
from server.telemetry.usage import UsageStore
from server.workers.parent import Parent

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ApiState:
    """All that a running server has: `app.state.api`, set when the application starts.

    `instance` tells one start from the next. Without a token, `/metrics` is for this machine.
    One that `listens_locally` is bound to an address that only this machine reaches. Without
    `sign_in`, no link opens the console; without an `inbox`, no turns are kept for one; without
    an `audit`, no calls are; without `usage`, no turns are counted by key, and without a
    `tracer`, no request is traced. A worker among others has a `parent`. `stopping`
    is set once the whole server is to stop, while it still answers. `transcripts` know
    conversations by what was said.
    """

    adapters: Adapters
    manager: AdapterManager
    announcements: Announcements
    guards: GuardManager
    keys: KeyStore
    limits: RateLimits
    changes: ChangeRecorder
    desk: DraftDesk
    saver: LibrarySaver
    metrics: Metrics
    max_message_chars: int
    turn_timeout_s: float
    heartbeat_s: float = 15.0
    blocked_in: BlockedIn = "words"
    sample_keys: bool = False
    gateway: Gateway = field(default_factory=Gateway)
    wrong_keys: WrongKeys = field(default_factory=WrongKeys)
    roles: tuple[str, ...] = RolesSettings().names
    metrics_token: str | None = field(default=None, repr=False)
    listens_locally: bool = False
    authoring: Authoring = "loopback"
    sign_in: SignInLinks | None = None
    inbox: InboxStore | None = None
    evaluations: Evaluations = field(default_factory=Evaluations)
    proposals: ConfirmationService | None = None
    audit: AuditReader | None = None
    usage: UsageStore | None = None
    tracer: Tracer | None = None
    maps: LibraryMaps = field(default_factory=LibraryMaps)
    transcripts: TranscriptKey = field(default_factory=TranscriptKey)
    instance: str = field(default_factory=lambda: uuid4().hex)
    parent: Parent | None = None
    stopping: asyncio.Event = field(default_factory=asyncio.Event)


async def state_of(request: Request) -> ApiState:
    state: ApiState = request.app.state.api
    return state


State = Annotated[ApiState, Depends(state_of)]
"""For a route's parameter: the running server."""


async def cancel_on_disconnect(receive: Receive, work: "asyncio.Task[T]") -> T:
    """Return the result of `work`; when the client leaves, cancel it and raise ClientLeft."""
    disconnect = asyncio.ensure_future(receive())  # all that can come after the body
    try:
        await asyncio.wait({work, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        raise ClientLeft("the client left before the answer was there")
    finally:
        for task in (disconnect, work):
            task.cancel()
        await asyncio.gather(disconnect, work, return_exceptions=True)


def read_body(model: type[M], body: bytes, *, max_message_chars: int | None = None) -> M:
    """Return a body as its model, whatever Content-Type it came with.

    With `max_message_chars`, its `message` must be a question of at most that length.
    May raise RequestInvalid or FieldsInvalid.
    """
    try:
        read = model.model_validate_json(body)
    except ValidationError as invalid:
        raise _body_error(invalid, model) from None
    if max_message_chars is not None and isinstance(read, MessageRequest):
        message = read.question()
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
        text=storable_text(text),
        session_id=session_id or uuid4().hex,
        caller=caller,
        received_at=datetime.now(UTC),
        languages=accepted_languages(languages) if languages else (),
        continues=session_id is not None,
    )
