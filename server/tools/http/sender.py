"""Sending one call, bounded in time, size, redirects and retries, and what can go wrong.

Messages name the service and hold no secret.
"""

import asyncio
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final, TypeVar

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_exponential, wait_random

from server.core.spans import traced_call
from server.errors import ToolError, ToolFailed, ToolTimedOut
from server.library.http_model import IDEMPOTENT, HttpService
from server.responses.decoder import AnswerUnreadable, read_json
from server.responses.mapping import one_line
from server.tools.http.egress import AddressRefused, RedirectUnusable
from server.tools.http.request import FilledRequest
from server.tools.http.response import BodyUnusable, Received, read_limited

_TOO_MANY_REQUESTS: Final = 429
_REJECTIONS: Final = frozenset((400, 404, 409, 410, 422))
"""What was asked is not there, or cannot be asked like that."""
_PASSING_FAULTS: Final = frozenset((502, 503, 504))
_MAX_BACKOFF_S: Final = 5.0
_PORTS: Final = {"http": 80, "https": 443}
_MAX_DATE_CHARS: Final = 60
_ERROR_BODY_BYTES: Final = 16_384
_ERROR_BODY_VALUES: Final = 2_000
_DETAIL_NAMES: Final = ("message", "error_description", "detail", "reason", "error", "title")

_E = TypeVar("_E", bound=BaseException)


class TryAgain(Exception):
    """The call may be sent again; `failure` is what to raise when it is not."""

    def __init__(self, failure: ToolError, after_s: float = 0.0) -> None:
        self.failure = failure
        self.after_s = after_s
        super().__init__(str(failure))


class Sender:
    def __init__(self, client: httpx.AsyncClient, *, max_concurrency: int) -> None:
        self._client = client
        self._slots = asyncio.Semaphore(max_concurrency)

    async def send(
        self,
        request: FilledRequest,
        service: HttpService,
        *,
        deadline: float,
        secrets: Sequence[str] = (),
    ) -> Received:
        """Return the answer once its status is 2xx and its body is in.

        `deadline`, by the loop's clock, bounds everything: the wait for a slot, every try, the
        pauses between, and a body that drips in. Raises `ToolTimedOut` then, else `ToolFailed`.
        """
        try:
            async with asyncio.timeout_at(deadline):
                return await _retrying(service, deadline)(self._try, request, service, secrets)
        except TryAgain as last:
            raise last.failure from last.__cause__
        except TimeoutError:
            raise ToolTimedOut(f"{request.host} did not answer in time") from None

    async def _try(
        self, request: FilledRequest, service: HttpService, secrets: Sequence[str]
    ) -> Received:
        """Send once, redirects included. Raises `TryAgain` where trying once more may help."""
        try:
            async with self._slots:
                received = await self._traced(request, service)
        except httpx.TransportError as error:
            failure = _transport_failure(request.host, error)
            if _may_repeat(request, error):
                raise TryAgain(failure) from error
            raise failure from error
        except BodyUnusable as unusable:
            raise ToolFailed(f"{request.host} {unusable}") from unusable
        except (httpx.InvalidURL, UnicodeEncodeError) as error:
            # Addresses and headers are checked when they are filled, so this is rare: an
            # address that is too long, or a secret that no header can hold.
            raise ToolFailed(f"the call to {request.host} cannot be written down") from error
        if 200 <= received.status < 300:
            return received
        failed = _status_failure(received, secrets)
        if received.status == _TOO_MANY_REQUESTS or (
            received.status in _PASSING_FAULTS and request.method in IDEMPOTENT
        ):
            raise TryAgain(failed, _retry_after_s(received.headers))
        raise failed

    async def _traced(self, request: FilledRequest, service: HttpService) -> Received:
        """Send once, in a span of its own; its attributes are without path and query."""
        url = httpx.URL(request.url)
        about: dict[str, str | int] = {
            "http.request.method": request.method,
            "server.address": url.host,
            "server.port": url.port or _PORTS.get(url.scheme, 0),
            "url.scheme": url.scheme,
        }
        with traced_call(request.method, about) as span:
            received = await self._follow(request, service, span.traceparent)
            span.set({"http.response.status_code": received.status})
            if received.status >= 400:
                span.fail(str(received.status))
            return received

    async def _follow(
        self, request: FilledRequest, service: HttpService, traceparent: str
    ) -> Received:
        sent = self._client.build_request(
            request.method, request.url, headers=request.headers, content=request.content
        )
        if traceparent:  # not part of the filled request, by which answers are remembered
            sent.headers.setdefault("traceparent", traceparent)
        for _ in range(service.max_redirects + 1):
            response = await self._client.send(sent, stream=True)
            try:
                following = response.next_request
                if following is None:
                    body = await _read_body(response, service.max_response_bytes)
                    return Received(request.host, response.status_code, response.headers, body)
            finally:
                await response.aclose()
            if not _is_same_host(sent.url, following.url):
                what = "redirected to another host, which is not followed"
                raise ToolFailed(f"{request.host} {what}")
            sent = following
        raise ToolFailed(f"{request.host} redirected too often")


async def _read_body(response: httpx.Response, limit: int) -> bytes:
    if response.is_success:
        return await read_limited(response, limit)
    try:
        return await read_limited(response, min(limit, _ERROR_BODY_BYTES))
    except BodyUnusable:
        return b""  # the status alone says enough


def _is_same_host(here: httpx.URL, there: httpx.URL) -> bool:
    """Return whether host and port are the same; https instead of http counts as well."""
    upgraded = (here.scheme, there.scheme) == ("http", "https") and there.port is None
    same = (here.scheme, here.port) == (there.scheme, there.port)
    return there.host == here.host and (same or upgraded)


def _may_repeat(request: FilledRequest, error: httpx.TransportError) -> bool:
    never = httpx.UnsupportedProtocol | httpx.LocalProtocolError | RedirectUnusable
    if isinstance(error, never):
        return False
    # A connection that was never made has carried nothing, whatever the method.
    never_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
    return not _is_refused(error) and (never_sent or request.method in IDEMPOTENT)


def _retrying(service: HttpService, deadline: float) -> AsyncRetrying:
    backoff = wait_exponential(multiplier=service.backoff_s, max=_MAX_BACKOFF_S)
    jitter = wait_random(0, service.backoff_s)

    def pause_s(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked_s = error.after_s if isinstance(error, TryAgain) else 0.0
        return max(asked_s, backoff(state)) + jitter(state)

    def too_late(state: RetryCallState) -> bool:
        # Waiting past the deadline would only turn a clear refusal into a timeout.
        return asyncio.get_running_loop().time() + state.upcoming_sleep >= deadline

    tries = stop_after_attempt(service.retries + 1)
    return AsyncRetrying(
        retry=retry_if_exception_type(TryAgain),
        wait=pause_s,
        stop=lambda state: tries(state) or too_late(state),
        reraise=True,
    )


def _status_failure(received: Received, secrets: Sequence[str]) -> ToolFailed:
    status = received.status
    try:
        phrase = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = str(status)
    message = f"{received.host} answered {phrase}"
    if status == HTTPStatus.TOO_MANY_REQUESTS and (wait := _retry_after_s(received.headers)):
        message += f"; it asks to wait {wait:.0f} s"
    detail = _detail(received)
    told = redact_secrets(f"{message}: {detail}" if detail else message, secrets)
    rejected = redact_secrets(detail or phrase, secrets) if status in _REJECTIONS else None
    return ToolFailed(told, rejected)


def _transport_failure(host: str, error: httpx.TransportError) -> ToolError:
    match error:
        case httpx.TimeoutException():
            return ToolTimedOut(f"{host} did not answer in time")
        case httpx.ConnectError() if _is_refused(error):
            return ToolFailed(f"{host} stands where this server makes no calls")
        case httpx.ConnectError() if _cause(error, ssl.SSLError) is not None:
            return ToolFailed(f"{host} could not prove who it is (TLS: {_tls_reason(error)})")
        case httpx.ConnectError() if _cause(error, ConnectionRefusedError) is not None:
            return ToolFailed(f"{host} could not be reached: it refused the connection")
        case httpx.ConnectError():
            return ToolFailed(f"{host} could not be reached")
        case RedirectUnusable() | httpx.UnsupportedProtocol():
            return ToolFailed(f"{host} redirected to what is no address")
        case httpx.ReadError() | httpx.RemoteProtocolError():
            return ToolFailed(f"{host} broke off its answer, or did not speak HTTP")
        case _:
            return ToolFailed(f"the call to {host} failed ({type(error).__name__})")


def _is_refused(error: httpx.TransportError) -> bool:
    return _cause(error, AddressRefused) is not None


def _retry_after_s(headers: httpx.Headers) -> float:
    """Return the seconds that `Retry-After` asks to wait, as a number or a date; else 0."""
    text = headers.get("retry-after", "").strip()
    if text.isdecimal():
        return float(text[:9])
    try:
        until = parsedate_to_datetime(text[:_MAX_DATE_CHARS])
        if until.tzinfo is None:
            until = until.replace(tzinfo=UTC)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0  # the parser of dates in mail fails in all of these ways


def redact_secrets(text: str, secrets: Sequence[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def _detail(received: Received) -> str:
    if "json" not in received.headers.get("content-type", ""):
        return ""
    try:
        data = read_json(received.to_body(), _ERROR_BODY_VALUES)
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
