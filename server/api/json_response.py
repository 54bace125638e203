"""JSON responses."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from server.core.jsonable import to_json


def json_response(
    data: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """`data` as a JSON response; text that is not valid Unicode is replaced, not refused."""
    body = to_json(data).encode("utf-8", "replace")
    return Response(body, status, dict(headers or {}), "application/json")
