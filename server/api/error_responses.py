"""Failures to responses: one shape, one table of status codes, nothing internal."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from server import errors
from server.core.json import to_json
from server.errors import OrbitError

_log = logging.getLogger(__name__)


class BodyTooLarge(errors.RequestInvalid):
    code = "body_too_large"


class HostForeign(errors.RequestInvalid):
    """The request is for another server: a web page may have led its reader's browser here."""

    code = "host_foreign"


class ClientLeft(OrbitError):
    """The client closed the connection; nobody will read the response."""

    code = "client_left"


class FieldsInvalid(errors.RequestInvalid):
    """The request is readable, but not of the documented form; `details` has a row a field."""

    code = "fields_invalid"

    def __init__(self, problems: Iterable[tuple[str, str]]) -> None:
        """`problems` are names of fields, each with what is wrong with it."""
        self.details = [{"field": field, "problem": problem} for field, problem in problems]
        super().__init__("; ".join(f"{row['field']}: {row['problem']}" for row in self.details))


_STATUS: Final[tuple[tuple[type[OrbitError], int], ...]] = (
    (BodyTooLarge, 413),
    (HostForeign, 421),
    (FieldsInvalid, 422),
    (errors.OriginForeign, 403),
    (errors.RequestInvalid, 400),
    (ClientLeft, 499),
    (errors.KeyForeign, 403),
    (errors.GatewayRefused, 403),
    (errors.AuthoringOff, 403),
    (errors.RateLimited, 429),
    (errors.AccessDenied, 401),
    (errors.FileUnknown, 404),
    (errors.ClusterUnknown, 404),
    (errors.FilesRefused, 409),
    (errors.DraftBusy, 409),
    (errors.DraftTimedOut, 504),
    (errors.KeyNotFound, 404),
    (errors.KeyUnchangeable, 409),
    (errors.EvaluationRunning, 409),
    (errors.AdapterUnknown, 404),
    (errors.IntentsUndefined, 404),
    (errors.ConversationUnknown, 404),
    (errors.ProposalUnknown, 404),
    (errors.DownloadUnknown, 404),
    (errors.DownloadRefused, 403),
    (errors.DownloadFailed, 503),
    (errors.TurnUnknown, 404),
    (errors.AuditOff, 404),
    (errors.UsageOff, 404),
    (errors.ProposalExpired, 410),
    (errors.ProposalRefused, 409),
    (errors.ReloadRefused, 409),
    (errors.ExtraMissing, 501),
    (errors.AdapterUnavailable, 503),
    (errors.IndexEmpty, 503),
    (errors.ProviderError, 503),
    (errors.StoreUnavailable, 503),
    (errors.TurnTimedOut, 504),
)
"""The first row whose class fits counts; a failure in no row is the server's fault, a 500."""

_INTERNAL: Final = "Something went wrong here; it has been logged."
_HTTP_CODES: Final = {404: "not_found", 405: "method_not_allowed"}


def json_response(
    data: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return `data` as a JSON response; text that is not valid Unicode is replaced."""
    return Response(to_json(data).encode("utf-8", "replace"), status, headers, "application/json")


def status_of(failure: OrbitError) -> int:
    return next((status for kind, status in _STATUS if isinstance(failure, kind)), 500)


def public_message(failure: OrbitError) -> str:
    """Return what a client may read of a failure; of an internal one, no details."""
    return failure.public if status_of(failure) != 500 else _INTERNAL


def error_body(code: str, message: str, request_id: str, details: Any = None) -> dict[str, Any]:
    body = {"code": code, "message": message, "request_id": request_id}
    return {"error": body if details is None else body | {"details": details}}


def error_headers(failure: OrbitError) -> dict[str, str]:
    status = status_of(failure)
    if status == 401:
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(failure, errors.RateLimited):
        return {"Retry-After": f"{failure.retry_after_s:.0f}"}
    return {"Retry-After": "5"} if status == 503 else {}


def log_failure(failure: OrbitError, request_id: str) -> None:
    if status_of(failure) >= 500:
        # Its words: who keeps records of the log would keep an adapter with what was raised.
        _log.warning("request %s: %s: %s", request_id, failure.code, str(failure))


def error_response(failure: OrbitError, request_id: str) -> Response:
    body = describe_failure(failure, request_id)
    return json_response(body, status_of(failure), error_headers(failure))


def describe_failure(failure: Exception, request_id: str) -> dict[str, Any]:
    """Log a failure, and return what a client may read of it."""
    if not isinstance(failure, OrbitError):
        _log.error("request %s failed", request_id, exc_info=failure)
        return internal_error(request_id)
    log_failure(failure, request_id)
    details = getattr(failure, "details", None)
    return error_body(failure.code, public_message(failure), request_id, details)


def internal_error(request_id: str) -> dict[str, Any]:
    return error_body(OrbitError.code, _INTERNAL, request_id)


def install_error_handlers(app: FastAPI) -> None:

    @app.exception_handler(OrbitError)
    async def on_failure(request: Request, failure: OrbitError) -> Response:
        return error_response(failure, request.state.request_id)

    @app.exception_handler(RequestValidationError)
    async def on_invalid_parameters(request: Request, failure: RequestValidationError) -> Response:
        invalid = FieldsInvalid((str(row["loc"][-1]), row["msg"]) for row in failure.errors())
        return error_response(invalid, request.state.request_id)

    @app.exception_handler(HTTPException)
    async def on_http_error(request: Request, failure: HTTPException) -> Response:
        code = _HTTP_CODES.get(failure.status_code, "http_error")
        message = f"{request.method} {request.url.path}: {str(failure.detail).lower()}"
        if failure.status_code in (404, 405):
            message += "; see /docs for the calls there are"
        body = error_body(code, message, request.state.request_id)
        return json_response(body, failure.status_code, failure.headers)
