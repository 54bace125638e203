"""Failures to responses: one shape, one table of status codes, nothing internal."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from server import errors
from server.api.disconnect import ClientLeft
from server.core.json import to_json
from server.errors import OrbitError


def json_response(
    data: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """`data` as a JSON response; text that is not valid Unicode is replaced, not refused."""
    body = to_json(data).encode("utf-8", "replace")
    return Response(body, status, dict(headers or {}), "application/json")


_log = logging.getLogger(__name__)


class BodyTooLarge(errors.RequestInvalid):
    code = "body_too_large"


class FieldsInvalid(errors.RequestInvalid):
    """The body is JSON, but not of the documented form; `details` has a row a field."""

    code = "fields_invalid"

    def __init__(self, message: str, details: Sequence[dict[str, Any]]) -> None:
        super().__init__(message)
        self.details = list(details)


_STATUS: Final[tuple[tuple[type[OrbitError], int], ...]] = (
    (BodyTooLarge, 413),
    (FieldsInvalid, 422),
    (errors.RequestInvalid, 400),
    (ClientLeft, 499),
    (errors.KeyForeign, 403),
    (errors.GatewayRefused, 403),
    (errors.RateLimited, 429),
    (errors.AccessDenied, 401),
    (errors.KeyNotFound, 404),
    (errors.KeyUnchangeable, 409),
    (errors.AdapterUnknown, 404),
    (errors.IntentsUndefined, 404),
    (errors.ProposalUnknown, 404),
    (errors.ProposalExpired, 410),
    (errors.ProposalRefused, 409),
    (errors.ReloadRefused, 409),
    (errors.AdapterUnavailable, 503),
    (errors.IndexEmpty, 503),
    (errors.ProviderError, 503),
    (errors.StoreUnavailable, 503),
    (errors.TurnTimedOut, 504),
)
"""First row whose class fits; a failure in no row is ours, and a 500."""

_OURS: Final = "Something went wrong here; it has been logged."
_HTTP_CODES: Final = {404: "not_found", 405: "method_not_allowed"}


def status_of(failure: OrbitError) -> int:
    return next((status for kind, status in _STATUS if isinstance(failure, kind)), 500)


def error_body(code: str, message: str, request_id: str, details: Any = None) -> dict[str, Any]:
    body = {"code": code, "message": message, "request_id": request_id}
    return {"error": body if details is None else body | {"details": details}}


def error_response(failure: OrbitError, request_id: str) -> Response:
    """The response for a failure that has a name."""
    note(failure, request_id)
    details = getattr(failure, "details", None)
    body = error_body(failure.code, shown_message(failure), request_id, details)
    return json_response(body, status_of(failure), error_headers(failure))


def note(failure: OrbitError, request_id: str) -> None:
    """Log a failure that is the server's, or of something it needs."""
    if status_of(failure) >= 500:
        _log.warning("request %s: %s: %s", request_id, failure.code, failure)


def shown_message(failure: OrbitError) -> str:
    """What is said of a failure; of one that is ours, nothing of the inside."""
    return str(failure) if status_of(failure) != 500 else _OURS


def error_headers(failure: OrbitError) -> dict[str, str]:
    status = status_of(failure)
    if status == 401:
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(failure, errors.RateLimited):
        return {"Retry-After": f"{failure.retry_after_s:.0f}"}
    return {"Retry-After": "5"} if status == 503 else {}


def unexpected_response(request_id: str) -> Response:
    """The response for a failure that has no name: it says nothing of the inside."""
    return json_response(error_body("internal_error", _OURS, request_id), 500)


def install(app: FastAPI) -> None:
    """Give `app` the one error shape."""

    async def named(request: Request, failure: Exception) -> Response:
        assert isinstance(failure, OrbitError)  # noqa: S101  registered for this class only
        return error_response(failure, request.state.request_id)

    async def parameters(request: Request, failure: Exception) -> Response:
        assert isinstance(failure, RequestValidationError)  # noqa: S101  as above
        details = [
            {"field": str(error["loc"][-1]), "problem": error["msg"]} for error in failure.errors()
        ]
        message = "; ".join(f"{detail['field']}: {detail['problem']}" for detail in details)
        return error_response(FieldsInvalid(message, details), request.state.request_id)

    async def http(request: Request, failure: Exception) -> Response:
        assert isinstance(failure, HTTPException)  # noqa: S101  registered for this class only
        code = _HTTP_CODES.get(failure.status_code, "http_error")
        message = f"{request.method} {request.url.path}: {str(failure.detail).lower()}"
        if failure.status_code in (404, 405):
            message += "; see /docs for the calls there are"
        body = error_body(code, message, request.state.request_id)
        return json_response(body, failure.status_code, dict(failure.headers or {}))

    app.add_exception_handler(OrbitError, named)
    app.add_exception_handler(RequestValidationError, parameters)
    app.add_exception_handler(HTTPException, http)
