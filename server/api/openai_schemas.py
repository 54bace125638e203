"""What clients of OpenAI's chat API send, and what they are answered."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import Response

from server.api import error_responses as responses
from server.api.schemas import EXAMPLES, SessionId
from server.core.decision import Answer
from server.core.turn import SESSION_ID
from server.errors import AdapterUnknown, OrbitError, RequestInvalid

_TYPES: Final = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}


class ModelUnknown(AdapterUnknown):
    """The request names a model that is not the adapter of its key."""

    code = "model_not_found"

    def __init__(self, adapter: str) -> None:
        super().__init__(f"there is no such model for this key; its model is {adapter!r}")


class TextPart(BaseModel):
    type: Literal["text"]
    text: str


class CompletionMessage(BaseModel):
    """One message; only those of the user are read."""

    role: str
    content: str | list[TextPart | dict[str, Any]] | None = None


class CompletionMetadata(BaseModel):
    session_id: SessionId | None = Field(
        None, description=f"Names the conversation; `{SESSION_ID}`. One is made up without."
    )


class CompletionRequest(BaseModel):
    """A question, as OpenAI's clients ask it. What steers a language model has no effect."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["completion"]]})

    model: str | None = Field(None, description="The adapter that the key opens.")
    messages: list[CompletionMessage] = Field(
        description="The last message of role `user` is the question."
    )
    stream: bool | None = Field(default=False, description="Answer as server-sent events.")
    n: int | None = Field(1, description="There is one answer.")
    tools: list[Any] | None = Field(None, description="Refused: an adapter has its own.")
    functions: list[Any] | None = Field(None, description="Refused, as `tools`.")
    response_format: dict[str, Any] | None = Field(None, description="`text` only.")
    metadata: CompletionMetadata | None = None

    @property
    def session_id(self) -> str | None:
        return self.metadata.session_id if self.metadata else None


def read_completion(body: bytes, adapter: str, max_chars: int) -> tuple[CompletionRequest, str]:
    """Return the request in a body, and its question. May raise RequestInvalid or ModelUnknown."""
    try:
        asked = CompletionRequest.model_validate_json(body)
    except ValidationError as invalid:
        error = invalid.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, error["loc"])) or "body"
        raise RequestInvalid(f"{where}: {error['msg'][:1].lower()}{error['msg'][1:]}") from None
    if asked.model is not None and asked.model != adapter:
        raise ModelUnknown(adapter)
    if asked.n not in (None, 1):
        raise RequestInvalid("n: there is one answer to a question, so n is 1")
    for name in ("tools", "functions"):
        if getattr(asked, name):
            raise RequestInvalid(f"{name}: this model calls tools of its own, and no others")
    if (asked.response_format or {}).get("type", "text") != "text":
        raise RequestInvalid("response_format: answers are text")
    question = _question(asked.messages)
    if not question.strip():
        raise RequestInvalid("messages: the last message of role 'user' holds no text")
    if len(question) > max_chars:
        raise RequestInvalid(
            f"messages: the question has {len(question)} characters; the most is {max_chars}"
        )
    return asked, question


def _question(messages: list[CompletionMessage]) -> str:
    last = next((message for message in reversed(messages) if message.role == "user"), None)
    if last is None:
        raise RequestInvalid("messages: none is of role 'user'")
    if isinstance(last.content, str):
        return last.content
    parts = last.content or []
    if any(not isinstance(part, TextPart) for part in parts):
        raise RequestInvalid("messages: only text can be read")
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def completion(
    answer: Answer, adapter: str, session_id: str, request_id: str, created: int
) -> dict[str, Any]:
    """Return an answer as a chat completion. `orbit` holds what `POST /chat` adds to it."""
    rest = answer.to_dict(session_id)
    message = {"role": "assistant", "content": rest.pop("content"), "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return _envelope("chat.completion", choice, adapter, request_id, created) | {"orbit": rest}


def completion_chunk(
    delta: Mapping[str, Any], reason: str | None, adapter: str, request_id: str, created: int
) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    return _envelope("chat.completion.chunk", choice, adapter, request_id, created)


def _envelope(
    kind: str, choice: Mapping[str, Any], adapter: str, request_id: str, created: int
) -> dict[str, Any]:
    shared = {"id": f"chatcmpl-{request_id}", "object": kind, "created": created}
    return shared | {"model": adapter, "choices": [choice]}


def describe_model(adapter: str, created: int) -> dict[str, Any]:
    return {"id": adapter, "object": "model", "created": created, "owned_by": "orbit"}


def openai_error(failure: OrbitError, request_id: str) -> dict[str, Any]:
    """Return a failure in OpenAI's shape: the one error shape, with `type` and `param`."""
    status = responses.status_of(failure)
    body = responses.error_body(failure.code, responses.public_message(failure), request_id)
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    body["error"] |= {"type": kind, "param": None}
    return body


def openai_error_response(failure: OrbitError, request_id: str) -> Response:
    responses.log_failure(failure, request_id)
    body = openai_error(failure, request_id)
    status, headers = responses.status_of(failure), responses.error_headers(failure)
    return responses.json_response(body, status, headers)
