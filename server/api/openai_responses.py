"""`POST /v1/responses`, as far as a chat goes: what clients send, and what they are answered."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ConfigDict, Field

from server.api.openai_schemas import OpenAIRequest, calls_of, read_request, usage_of
from server.api.schemas import EXAMPLES
from server.api.told_messages import ParameterInvalid, ToldMessage, message_of, told_call
from server.chat.history import told_calls
from server.core.decision import Answer
from server.core.token_counts import TokenCount
from server.core.transcript import hex_of_moment, moment_of_hex
from server.core.turn import Turn
from server.errors import ConversationUnknown

_PREFIX: Final = "resp_"


class ResponseRequest(OpenAIRequest):
    """A question, as a text or as the last of a list of items."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["response"]]})

    input: str | list[dict[str, Any]] = Field(
        description="The question, or messages of which the last of role `user` is the question."
    )
    previous_response_id: str | None = Field(
        None, description="The response that the question goes on from."
    )
    text: dict[str, Any] | None = Field(None, description="`text.format`: `text` only.")
    background: bool | None = Field(default=False, description="Refused.")
    conversation: Any = Field(None, description="Refused; give `previous_response_id`.")

    @property
    def follows(self) -> str | None:
        """The moment after the response that this goes on from; may raise ConversationUnknown."""
        if self.previous_response_id is None:
            return None
        moment = moment_of_hex(self.previous_response_id.removeprefix(_PREFIX))
        if moment is None:
            raise ConversationUnknown("there is no such response for this key")
        return moment

    def told_messages(self) -> Iterator[ToldMessage]:
        """Yield the items that count. May raise ParameterInvalid."""
        items = [{"role": "user", "content": self.input}] if isinstance(self.input, str) else None
        for at, item in enumerate(items if items is not None else self.input):
            if isinstance(item, dict) and (read := _read_item(f"input.{at}", item)) is not None:
                yield read


def _read_item(param: str, item: Mapping[str, Any]) -> ToldMessage | None:
    id_ = str(item.get("call_id", ""))
    match item:
        case {"type": "function_call", "name": str(name), "arguments": str(arguments)}:
            return message_of("assistant", None, {id_: told_call(param, name, arguments)})
        case {"type": "function_call_output", "output": str() | list() as output}:
            return message_of("tool", _content(param, output), call_id=id_)
        case {"role": "user" | "assistant" as role, "content": content}:
            return message_of(role, _content(param, content))
        case {"type": "item_reference"}:
            raise ParameterInvalid(param, "items are not kept: give the item, not its id")
    return None


def _content(param: str, content: Any) -> Any:
    if isinstance(content, list) and not all(isinstance(part, dict) for part in content):
        raise ParameterInvalid(param, "parts of a content are objects")
    if not isinstance(content, str | list | None):
        raise ParameterInvalid(param, "a content is a text or a list of parts")
    return content


def read_response_request(body: bytes, adapter: str) -> ResponseRequest:
    """Return the request in a body. May raise ParameterInvalid or ModelUnknown."""
    asked = read_request(ResponseRequest, body, adapter)
    if ((asked.text or {}).get("format") or {"type": "text"}) != {"type": "text"}:
        raise ParameterInvalid("text.format", "answers are text")
    if asked.background:
        raise ParameterInvalid("background", "the answer comes with the response")
    if asked.conversation is not None:
        raise ParameterInvalid(
            "conversation", "conversations are not kept by name here; give previous_response_id"
        )
    return asked


@dataclass(frozen=True, slots=True)
class ResponseShape:
    """How the answer to a turn is written as a response, and as the events of one."""

    adapter: str
    turn: Turn
    previous_response_id: str | None
    tokens: TokenCount

    def completed(self, answer: Answer) -> dict[str, Any]:
        """Return the response. `orbit` holds what `POST /chat` adds to it."""
        rest = answer.to_dict(self.turn.session_id)
        del rest["content"]
        usage = usage_of(self.tokens)
        return self._response(answer, "completed", self._items(answer)) | {
            "usage": {
                "input_tokens": usage["prompt_tokens"],
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": usage["completion_tokens"],
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage["total_tokens"],
            },
            "orbit": rest,
        }

    def events(self, answer: Answer, pieces: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the events of an answer whose text comes in `pieces`."""
        begun = self._response(answer, "in_progress", [])
        yield {"type": "response.created", "response": begun}
        yield {"type": "response.in_progress", "response": begun}
        for at, item in enumerate(self._items(answer)):
            where = {"item_id": item["id"], "output_index": at}
            filled_later: dict[str, Any] = {"content": []}
            if item["type"] != "message":
                filled_later = {"arguments": ""}
            added = {**item, "status": "in_progress", **filled_later}
            yield {"type": "response.output_item.added", "output_index": at, "item": added}
            if item["type"] == "message":
                yield from _text_events(where, item["content"][0], pieces)
            else:
                called = "response.function_call_arguments"
                arguments = item["arguments"]
                yield {"type": f"{called}.delta", **where, "delta": arguments}
                named = {"name": item["name"], "arguments": arguments}
                yield {"type": f"{called}.done", **where, **named}
            yield {"type": "response.output_item.done", "output_index": at, "item": item}
        yield {"type": "response.completed", "response": self.completed(answer)}

    def _items(self, answer: Answer) -> list[dict[str, Any]]:
        calls = calls_of(answer, self.turn.id)
        if calls:
            return [
                {
                    "type": "function_call",
                    "id": f"fc_{self.turn.id}_{at}",
                    "call_id": call["id"],
                    **call["function"],
                    "status": "completed",
                }
                for at, call in enumerate(calls, 1)
            ]
        part = {"type": "output_text", "text": answer.content, "annotations": [], "logprobs": []}
        message = {"type": "message", "id": f"msg_{self.turn.id}", "role": "assistant"}
        return [{**message, "status": "completed", "content": [part]}]

    def _response(
        self, answer: Answer, status: str, output: list[dict[str, Any]]
    ) -> dict[str, Any]:
        told = self.turn.transcript
        # Whoever goes on from here names the moment after the answer, which the id is.
        after = told.after(answer.content, told_calls(answer)) if told is not None else self.turn.id
        return {
            "id": _PREFIX + hex_of_moment(after),
            "object": "response",
            "created_at": int(self.turn.received_at.timestamp()),
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "model": self.adapter,
            "output": output,
            "parallel_tool_calls": True,
            "previous_response_id": self.previous_response_id,
            "temperature": None,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto" if self.turn.runs else "required",
            "tools": [],
            "top_p": None,
            "usage": None,
        }


def _text_events(
    where: Mapping[str, Any], part: Mapping[str, Any], pieces: Sequence[str]
) -> Iterator[dict[str, Any]]:
    inside = {**where, "content_index": 0}
    yield {"type": "response.content_part.added", **inside, "part": {**part, "text": ""}}
    for piece in pieces:
        delta = {"delta": piece, "logprobs": []}
        yield {"type": "response.output_text.delta", **inside, **delta}
    whole = {"text": part["text"], "logprobs": []}
    yield {"type": "response.output_text.done", **inside, **whole}
    yield {"type": "response.content_part.done", **inside, "part": part}
