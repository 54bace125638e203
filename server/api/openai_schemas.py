"""What clients of OpenAI's chat API send, and what they are answered."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import Response

from server.api import error_responses as responses
from server.api.schemas import EXAMPLES, SessionId
from server.api.told_messages import (
    ParameterInvalid,
    Role,
    Told,
    ToldMessage,
    message_of,
    read_messages,
    told_call,
)
from server.core.decision import Answer
from server.core.json import to_json
from server.core.token_counts import TokenCount
from server.core.transcript import TranscriptKey
from server.core.turn import SESSION_ID
from server.errors import AdapterUnknown, ConversationUnknown, OrbitError

_TYPES: Final = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}


RUN_HEADER: Final = "x-orbit-run"
"""`false`: run nothing, and answer with the calls."""


class ModelUnknown(AdapterUnknown):
    """The request names a model that is not the adapter of its key."""

    code = "model_not_found"

    def __init__(self, adapter: str) -> None:
        super().__init__(f"there is no such model for this key; its model is {adapter!r}")


class CalledFunction(BaseModel):
    name: str
    arguments: str = ""


class CompletionCall(BaseModel):
    id: str
    function: CalledFunction


class CompletionMessage(BaseModel):
    """One message: those of users and assistants, and what came of calls, are the conversation."""

    role: str
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[CompletionCall] | None = None
    tool_call_id: str = ""


class OpenAIMetadata(BaseModel):
    session_id: SessionId | None = Field(
        None,
        description=f"Names a conversation that the server keeps; `{SESSION_ID}`. Without one, "
        "the messages before the question are the conversation.",
    )


class OpenAIRequest(BaseModel):
    """What both calls have. What steers a language model has no effect."""

    model: str | None = Field(None, description="The adapter that the key opens.")
    stream: bool | None = Field(default=False, description="Answer as server-sent events.")
    tools: list[Any] | None = Field(None, description="Refused: an adapter has its own.")
    tool_choice: str | dict[str, Any] | None = Field(
        None, description="`required`: run nothing, and answer with the calls."
    )
    user: str | None = Field(
        None, max_length=512, description="Keeps the conversations of one user from another's."
    )
    metadata: OpenAIMetadata | None = None

    @property
    def session_id(self) -> str | None:
        return self.metadata.session_id if self.metadata else None


class StreamOptions(BaseModel):
    include_usage: bool | None = False


class CompletionRequest(OpenAIRequest):
    """A question and what was said before it, as OpenAI's clients ask it."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["completion"]]})

    messages: list[CompletionMessage] = Field(
        description="The last message of role `user` is the question."
    )
    n: int | None = Field(1, description="There is one answer.")
    functions: list[Any] | None = Field(None, description="Refused, as `tools`.")
    response_format: dict[str, Any] | None = Field(None, description="`text` only.")
    stream_options: StreamOptions | None = None

    def told_messages(self) -> Iterator[ToldMessage]:
        for each in self.messages:
            if each.role in ("user", "assistant", "tool"):
                calls = {
                    call.id: told_call("messages", call.function.name, call.function.arguments)
                    for call in each.tool_calls or ()
                }
                yield message_of(cast("Role", each.role), each.content, calls, each.tool_call_id)


R = TypeVar("R", bound=OpenAIRequest)


def read_request(model: type[R], body: bytes, adapter: str) -> R:
    """Return the request in a body. May raise ParameterInvalid or ModelUnknown."""
    try:
        asked = model.model_validate_json(body)
    except ValidationError as invalid:
        error = invalid.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, error["loc"])) or None
        said = f"{error['msg'][:1].lower()}{error['msg'][1:]}"
        raise ParameterInvalid(where, said if where else f"body: {said}") from None
    if asked.model is not None and asked.model != adapter:
        raise ModelUnknown(adapter)
    for name in ("tools", "functions"):
        if getattr(asked, name, None):
            raise ParameterInvalid(name, "this model calls tools of its own, and no others")
    if asked.tool_choice not in (None, "auto", "none", "required"):
        raise ParameterInvalid("tool_choice", "what is called depends on the question alone")
    return asked


def read_completion(body: bytes, adapter: str) -> CompletionRequest:
    """Return the request in a body. May raise ParameterInvalid or ModelUnknown."""
    asked = read_request(CompletionRequest, body, adapter)
    if asked.n not in (None, 1):
        raise ParameterInvalid("n", "there is one answer to a question, so n is 1")
    if (asked.response_format or {}).get("type", "text") != "text":
        raise ParameterInvalid("response_format", "answers are text")
    return asked


def told_in(
    asked: OpenAIRequest,
    messages: Iterable[ToldMessage],
    key: TranscriptKey,
    *,
    param: str,
    follows: str | None = None,
    max_chars: int,
) -> Told:
    """Return the question of a request, and the conversation that it tells.

    Raises:
        ParameterInvalid: there is no question, or one that cannot be read.
    """
    start = key.start(asked.user) if asked.user else key.start()
    return read_messages(
        messages, key, param=param, start=start, follows=follows, max_chars=max_chars
    )


def runs_calls(asked: OpenAIRequest, header: str | None) -> bool:
    """Whether what is decided is done; raises ParameterInvalid for a header that says neither."""
    if header is not None and header.lower() not in ("true", "false"):
        raise ParameterInvalid(RUN_HEADER, "is 'true' or 'false'")
    return asked.tool_choice != "required" and (header or "true").lower() == "true"


def usage_of(tokens: TokenCount) -> dict[str, int]:
    """How many tokens a model read and wrote for an answer; none where none was asked."""
    return {
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.completion,
        "total_tokens": tokens.prompt + tokens.completion,
    }


def calls_of(answer: Answer, request_id: str) -> list[dict[str, Any]]:
    """Return the calls that the client is to make, as OpenAI writes them."""
    return [
        {
            "id": f"call_{request_id}_{at}",
            "type": "function",
            "function": {"name": each["name"], "arguments": to_json(each["arguments"])},
        }
        for at, each in enumerate(answer.metadata.get("tool_calls", ()), 1)
    ]


def completion(
    answer: Answer,
    adapter: str,
    session_id: str,
    request_id: str,
    created: int,
    tokens: TokenCount,
) -> dict[str, Any]:
    """Return an answer as a chat completion. `orbit` holds what `POST /chat` adds to it."""
    rest, calls = answer.to_dict(session_id), calls_of(answer, request_id)
    message = {"role": "assistant", "content": rest.pop("content"), "refusal": None}
    if calls:
        message |= {"content": None, "tool_calls": calls}
    reason = "tool_calls" if calls else "stop"
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    shared = _envelope("chat.completion", [choice], adapter, request_id, created)
    return shared | {"usage": usage_of(tokens), "orbit": rest}


def completion_chunk(
    delta: Mapping[str, Any], reason: str | None, adapter: str, request_id: str, created: int
) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    return _envelope("chat.completion.chunk", [choice], adapter, request_id, created)


def usage_chunk(tokens: TokenCount, adapter: str, request_id: str, created: int) -> dict[str, Any]:
    shared = _envelope("chat.completion.chunk", [], adapter, request_id, created)
    return shared | {"usage": usage_of(tokens)}


def _envelope(
    kind: str,
    choices: Sequence[Mapping[str, Any]],
    adapter: str,
    request_id: str,
    created: int,
) -> dict[str, Any]:
    shared = {"id": f"chatcmpl-{request_id}", "object": kind, "created": created}
    return shared | {"model": adapter, "choices": list(choices)}


def describe_model(adapter: str, created: int) -> dict[str, Any]:
    return {"id": adapter, "object": "model", "created": created, "owned_by": "orbit"}


def openai_error(failure: OrbitError, request_id: str) -> dict[str, Any]:
    """Return a failure in OpenAI's shape: the one error shape, with `type` and `param`."""
    status = responses.status_of(failure)
    body = responses.error_body(failure.code, responses.public_message(failure), request_id)
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    body["error"] |= {"type": kind, "param": getattr(failure, "param", None)}
    if isinstance(failure, ConversationUnknown):
        named = {"code": "previous_response_not_found", "param": "previous_response_id"}
        body["error"] |= named
    return body


def openai_error_response(failure: OrbitError, request_id: str) -> Response:
    responses.log_failure(failure, request_id)
    body = openai_error(failure, request_id)
    status, headers = responses.status_of(failure), responses.error_headers(failure)
    return responses.json_response(body, status, headers)
