"""Calls of the HTTP API as values: what is sent, how its response is read, when it is sent again.

Nothing here sends anything, so that both clients share it.
"""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Literal, TypeVar
from urllib.parse import quote

import httpx

from server.client.answers import Answer, Piece, Proposal
from server.client.errors import (
    ClientError,
    KeyRefused,
    Refused,
    ResponseInvalid,
    ServerUnreachable,
    TryLater,
)
from server.client.states import AdapterReadiness, Health, KeyInfo, Library, Readiness

T = TypeVar("T")

Verdict = Literal["right", "wrong"]

_FIRST_PAUSE_S: Final = 0.2
_LONGEST_PAUSE_S: Final = 10.0
"""Whoever is told to come back later than that is told so at once."""
_NOT_BEGUN: Final = frozenset({"rate_limited", "adapter_unavailable", "too_many_connections"})
"""Errors of which it is certain that nothing of the call was done."""
_NOT_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One call. `is_safe`: nothing changes by it, so that it can be sent once more."""

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_safe: bool = False
    accepts: frozenset[int] = frozenset()
    """Statuses of failure whose body is read all the same."""

    @property
    def arguments(self) -> dict[str, Any]:
        """What httpx takes, to send it."""
        body = None if self.body is None else dict(self.body)
        return {
            "method": self.method,
            "url": self.path,
            "headers": dict(self.headers),
            "json": body,
        }

    def result(self, response: httpx.Response) -> T:
        """Return what the response says. Raises Refused or ResponseInvalid."""
        if not response.is_success and response.status_code not in self.accepts:
            raise refusal(response)
        return self.read(response)

    def pause_s(self, failure: ClientError, tries: int) -> float | None:
        """Return after how long to send it again, or None: the failure is the outcome."""
        pause_s = _FIRST_PAUSE_S * 2**tries
        if isinstance(failure, ServerUnreachable):
            may = self.is_safe or isinstance(failure.__cause__, _NOT_SENT)
        else:
            may = isinstance(failure, TryLater) and (self.is_safe or failure.code in _NOT_BEGUN)
            pause_s = max(pause_s, getattr(failure, "retry_after_s", None) or 0.0)
        return pause_s if may and pause_s <= _LONGEST_PAUSE_S else None


def ask(
    message: str,
    session_id: str | None,
    arguments: Mapping[str, Any] | None,
    languages: Sequence[str],
    *,
    explain: bool,
    stream: bool = False,
) -> Call[Answer]:
    given = {"session_id": session_id, "arguments": arguments}
    body = {"message": message, **{name: each for name, each in given.items() if each is not None}}
    flags = {name: True for name, is_set in (("explain", explain), ("stream", stream)) if is_set}
    headers = {"Accept-Language": ", ".join(languages)} if languages else {}
    return Call("POST", "/chat", _read_answer, body | flags, headers)


def confirm(proposal: Proposal, *, accept: bool, explain: bool) -> Call[Answer]:
    body: dict[str, Any] = {
        "session_id": proposal.session_id,
        "proposal_id": proposal.proposal_id,
        "accept": accept,
    }
    if proposal.seal is not None:
        body["seal"] = proposal.seal
    if explain:
        body["explain"] = True
    return Call("POST", "/chat/confirm", _read_answer, body)


def feedback(
    answer: Answer | str,
    verdict: Verdict,
    session_id: str | None,
    comment: str,
    expected: str | None,
) -> Call[None]:
    """Mark an answer, or the request of that id; marking it twice is as marking it once."""
    request_id = answer
    if isinstance(answer, Answer):
        request_id, session_id = answer.request_id, session_id or answer.session_id
    given = {"session_id": session_id, "comment": comment, "expected": expected}
    body: dict[str, Any] = {"request_id": request_id, "verdict": verdict}
    body |= {name: each for name, each in given.items() if each}
    return Call("POST", "/chat/feedback", _read_nothing, body, is_safe=True)


def forget(session_id: str) -> Call[None]:
    return Call("DELETE", f"/chat/sessions/{_segment(session_id)}", _read_nothing, is_safe=True)


def detect(message: str) -> Call[dict[str, Any]]:
    return Call("POST", "/intents/detect", _json_object, {"message": message}, is_safe=True)


def health() -> Call[Health]:
    return Call("GET", "/health", lambda r: _read(Health, _json_object(r)), is_safe=True)


def ready() -> Call[Readiness]:
    return Call("GET", "/ready", _read_readiness, is_safe=True, accepts=frozenset({503}))


def key_info() -> Call[KeyInfo]:
    return Call("GET", "/key", lambda r: _read(KeyInfo, _json_object(r)), is_safe=True)


def library(adapter: str) -> Call[Library]:
    path = f"/adapters/{_segment(adapter)}/library"
    return Call("GET", path, lambda r: _read(Library, _json_object(r)), is_safe=True)


def tools(adapter: str) -> Call[list[dict[str, Any]]]:
    return Call("GET", f"/adapters/{_segment(adapter)}/tools", _read_tools, is_safe=True)


def unreachable(url: httpx.URL, failure: httpx.HTTPError) -> ServerUnreachable:
    why = str(failure) or type(failure).__name__
    return ServerUnreachable(f"{str(url).rstrip('/')} does not answer: {why}")


def refusal(response: httpx.Response) -> Refused | ResponseInvalid:
    """Return what a response of failure says, whose body was read."""
    status = response.status_code
    try:
        error = response.json()["error"]
        return _refused(error, status, _seconds(response.headers.get("retry-after")))
    except (ValueError, KeyError, TypeError):
        what = f"{response.url} answered with status {status}"
        return ResponseInvalid(f"{what} and no error of an Orbit server; is it one?")


def _refused(error: Mapping[str, Any], status: int, retry_after_s: float | None) -> Refused:
    kind = {401: KeyRefused, 403: KeyRefused, 429: TryLater, 503: TryLater}.get(status, Refused)
    return kind(
        str(error["message"]),
        status=status,
        code=str(error["code"]),
        request_id=str(error["request_id"]),
        details=error.get("details") or (),
        retry_after_s=retry_after_s,
    )


class EventReader:
    """Reads the lines of a stream of server-sent events, of which the last is the answer."""

    def __init__(self, request_id: str) -> None:
        self._request_id = request_id
        self._text = ""
        self._ended = False

    def feed(self, line: str) -> Piece | Answer | None:
        """Return what a line adds. Raises Refused where it says that the turn failed."""
        if not line.startswith("data:"):
            return None
        try:
            event = json.loads(line.removeprefix("data:"))
            match event["status"]:
                case "streaming":
                    self._text += event["chunk"]
                    return Piece(event["chunk"])
                case "reset":
                    self._text = ""
                    return Piece(reset=event["reason"])
                case "complete":
                    self._ended = True
                    answer = _read(Answer, {"content": self._text, **event})
                    return replace(answer, request_id=self._request_id)
                case "error":
                    raise _refused(event["error"], 200, None)
        except (ValueError, KeyError, TypeError):
            raise ResponseInvalid(f"an event of the stream cannot be read: {line[:200]}") from None
        return None

    def end(self) -> None:
        """Raise ServerUnreachable where the stream ended too early."""
        if not self._ended:
            raise ServerUnreachable("the answer broke off")


def _read_answer(response: httpx.Response) -> Answer:
    answer = _read(Answer, _json_object(response))
    return replace(answer, request_id=response.headers.get("x-request-id", ""))


def _read_readiness(response: httpx.Response) -> Readiness:
    found = _json_object(response)
    if "adapters" not in found:
        raise refusal(response)
    readiness = _read(Readiness, found)
    rows: Any = readiness.adapters
    return replace(readiness, adapters=tuple(_read(AdapterReadiness, row) for row in rows))


def _read_tools(response: httpx.Response) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = list(_json_object(response).get("tools", ()))
    return found


def _read_nothing(response: httpx.Response) -> None:
    pass


def _json_object(response: httpx.Response) -> dict[str, Any]:
    try:
        found = response.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ResponseInvalid(
            f"{response.url} answered with no JSON object; is it an Orbit server?"
        )
    return found


def _read(kind: type[T], data: Mapping[str, Any]) -> T:
    """Return the fields that `kind` has; those it does not know are of a newer server."""
    fields: Any = dataclasses.fields(kind)  # type: ignore[arg-type]
    try:
        return kind(**{each.name: data[each.name] for each in fields if each.name in data})
    except TypeError as missing:
        raise ResponseInvalid(f"the server left something out: {missing}") from None


def _segment(text: str) -> str:
    return quote(text, safe="")


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdigit() else None
