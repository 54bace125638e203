"""What went wrong with a call, said so that it names the service and no secret."""

import ssl
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final, TypeVar

import httpx

from server.errors import ToolError, ToolFailed, ToolTimedOut
from server.tools.http.egress import AddressRefused
from server.tools.http.response import AnswerUnreadable, Received, read_json

_DETAIL_NAMES: Final = ("message", "error_description", "detail", "reason", "error", "title")
_MAX_DETAIL_CHARS: Final = 200

_E = TypeVar("_E", bound=BaseException)


class TryAgain(Exception):
    """The call may be sent again; `failure` is what to raise when it is not."""

    def __init__(self, failure: ToolError, after_s: float = 0.0) -> None:
        self.failure = failure
        self.after_s = after_s
        super().__init__(str(failure))


def from_status(received: Received, secrets: Sequence[str]) -> ToolFailed:
    """The failure for an answer with a status other than 2xx."""
    status = received.status
    try:
        phrase = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = str(status)
    message = f"{received.host} answered {phrase}"
    if status == HTTPStatus.TOO_MANY_REQUESTS and (wait := retry_after_s(received.headers)):
        message += f"; it asks to wait {wait:.0f} s"
    detail = _detail(received)
    return ToolFailed(redact_secrets(f"{message}: {detail}" if detail else message, secrets))


def from_transport(host: str, error: httpx.TransportError) -> ToolError:
    """The failure for a call that got no whole answer."""
    match error:
        case httpx.TimeoutException():
            return ToolTimedOut(f"{host} did not answer in time")
        case httpx.ConnectError() if is_refused(error):
            return ToolFailed(f"{host} stands where this server makes no calls")
        case httpx.ConnectError() if _cause(error, ssl.SSLError) is not None:
            return ToolFailed(f"{host} could not prove who it is (TLS: {_tls_reason(error)})")
        case httpx.ConnectError() if _cause(error, ConnectionRefusedError) is not None:
            return ToolFailed(f"{host} could not be reached: it refused the connection")
        case httpx.ConnectError():
            return ToolFailed(f"{host} could not be reached")
        case httpx.ReadError() | httpx.RemoteProtocolError():
            return ToolFailed(f"{host} broke off its answer, or did not speak HTTP")
        case _:
            return ToolFailed(f"the call to {host} failed ({type(error).__name__})")


def is_refused(error: httpx.TransportError) -> bool:
    """Whether no connection was even tried, because none may go there."""
    return _cause(error, AddressRefused) is not None


def retry_after_s(headers: httpx.Headers) -> float:
    """Seconds that `Retry-After` asks to wait: a number or a date; 0 when it says nothing."""
    text = headers.get("retry-after", "").strip()
    if text.isdecimal():
        return float(text[:9])
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def redact_secrets(text: str, secrets: Sequence[str]) -> str:
    """The text with every secret blacked out."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def one_line(text: str) -> str:
    """What a service says, short and without anything a terminal would act on."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= _MAX_DETAIL_CHARS else f"{line[: _MAX_DETAIL_CHARS - 1]}…"


def _detail(received: Received) -> str:
    """What a JSON answer says of its own failure: one short line, or nothing."""
    if "json" not in received.headers.get("content-type", ""):
        return ""
    try:
        data = read_json(received.body)
    except AnswerUnreadable:
        return ""
    return _first_text(data)


def _first_text(data: Any) -> str:
    if isinstance(data, str):
        return one_line(data)
    if isinstance(data, dict):
        found = (_first_text(data[name]) for name in _DETAIL_NAMES if name in data)
        return next(filter(None, found), "")
    return ""


def _cause(error: BaseException, kind: type[_E]) -> _E | None:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, kind):
            return seen
        seen = seen.__cause__ or seen.__context__
    return None


def _tls_reason(error: BaseException) -> str:
    found = _cause(error, ssl.SSLError)
    if isinstance(found, ssl.SSLCertVerificationError):
        return found.verify_message
    return (found.reason or "handshake failed").lower().replace("_", " ") if found else ""
