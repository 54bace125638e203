"""Messages as clients of OpenAI's API tell them, read as a question and what was said before."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from pydantic_core import from_json

from server.core.storable import storable_data, storable_text
from server.core.transcript import Exchange, ReturnedCall, ToldCall, Transcript, TranscriptKey
from server.errors import RequestInvalid

_TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})

Role = Literal["user", "assistant", "tool"]


class ParameterInvalid(RequestInvalid):
    """What cannot be done as it was asked; `param` is the field that asks for it."""

    def __init__(self, param: str | None, message: str) -> None:
        super().__init__(f"{param}: {message}" if param else message)
        self.param = param


@dataclass(frozen=True, slots=True)
class ToldMessage:
    """A message that counts: `calls` by their ids, or what came of the one with `call_id`."""

    role: Role
    text: str
    calls: Mapping[str, ToldCall] | None = None
    call_id: str = ""
    other_parts: bool = False
    """Whether it holds more than text."""


@dataclass(frozen=True, slots=True)
class Told:
    """A question, the conversation before it, and the calls that the client made for it."""

    question: str
    transcript: Transcript
    returned: tuple[ReturnedCall, ...] = ()


def message_of(
    role: Role, content: Any, calls: Mapping[str, ToldCall] | None = None, call_id: str = ""
) -> ToldMessage:
    """Return a message whose content is a text, parts of one, or nothing."""
    if content is None or isinstance(content, str):
        return ToldMessage(role, storable_text(content or ""), calls, call_id)
    parts = [part for part in content if part.get("type") in _TEXT_PARTS]
    text = "\n".join(str(part.get("text", "")) for part in parts)
    others = len(parts) < len(content)
    return ToldMessage(role, storable_text(text), calls, call_id, others)


def told_call(param: str, name: str, arguments: str) -> ToldCall:
    """Return a call whose arguments come as JSON text; raises ParameterInvalid."""
    try:
        return ToldCall(storable_text(name), storable_data(from_json(arguments or "{}")))
    except ValueError:
        raise ParameterInvalid(param, f"the arguments of {name[:80]!r} are not JSON") from None


def read_messages(
    messages: Iterable[ToldMessage],
    key: TranscriptKey,
    *,
    param: str,
    start: str,
    follows: str | None = None,
    max_chars: int,
) -> Told:
    """Return the question in messages, and the conversation that they tell before it.

    It begins at the moment `start`, or goes on after the one that it `follows`. Questions that
    were not answered, and what was said without one, are no part of it.

    Raises:
        ParameterInvalid: there is no question, or one that cannot be read.
    """
    exchanges = list[Exchange]() if follows is None else [Exchange(None, follows)]
    moment = follows or start
    turns = list(_turns(messages))
    if not turns:
        raise ParameterInvalid(param, "none is of role 'user'")
    *earlier, (asked, after) = turns
    for question, replies in earlier:
        if not any(each.role == "assistant" for each in replies):
            continue
        moment = _after(key, moment, [question, *replies])
        text = question.text if len(question.text) <= max_chars else ""
        exchanges.append(Exchange(text, moment))
    _check_question(param, asked, max_chars)
    last = max((at for at, each in enumerate(after, 1) if each.role == "tool"), default=0)
    returned = tuple(_returned(param, after[:last]))
    moment = _after(key, moment, [asked, *after[:last]])
    return Told(asked.text, Transcript(key, tuple(exchanges), moment), returned)


def _turns(
    messages: Iterable[ToldMessage],
) -> Iterator[tuple[ToldMessage, list[ToldMessage]]]:
    """Yield each question with the messages up to the next; those of an assistant as one."""
    question: ToldMessage | None = None
    replies = list[ToldMessage]()
    for each in messages:
        if each.role == "user":
            if question is not None:
                yield question, replies
            question, replies = each, []
        elif each.role == "tool":
            replies.append(each)
        elif each.text.strip() or each.calls:
            if replies and replies[-1].role == "assistant":
                before = replies.pop()
                text = "\n".join(part for part in (before.text, each.text) if part)
                calls = {**(before.calls or {}), **(each.calls or {})}
                each = replace(each, text=text, calls=calls)
            replies.append(each)
    if question is not None:
        yield question, replies


def _after(key: TranscriptKey, moment: str, messages: Sequence[ToldMessage]) -> str:
    for each in messages:
        moment = key.after(moment, each.role, each.text, (each.calls or {}).values())
    return moment


def _check_question(param: str, asked: ToldMessage, max_chars: int) -> None:
    if asked.other_parts:
        raise ParameterInvalid(param, "only text can be read")
    if not asked.text.strip():
        raise ParameterInvalid(param, "the last message of role 'user' holds no text")
    if len(asked.text) > max_chars:
        size = len(asked.text)
        raise ParameterInvalid(
            param, f"the question has {size} characters; the most is {max_chars}"
        )


def _returned(param: str, replies: Sequence[ToldMessage]) -> Iterator[ReturnedCall]:
    calls = dict[str, ToldCall]()
    for each in replies:
        calls |= each.calls or {}
        if each.role != "tool":
            continue
        if each.call_id not in calls:
            id_ = each.call_id[:80]
            raise ParameterInvalid(param, f"no call before the result of {id_!r} has that id")
        yield ReturnedCall(calls[each.call_id], each.text)
