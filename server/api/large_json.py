"""Answers that may be large: made in a thread, zipped, and not sent to a client that has them."""

import asyncio
import gzip
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final

from fastapi import Request
from starlette.responses import Response

from server.core.http_headers import has_already, takes_gzip
from server.core.json import to_json

_LEAST: Final = 2048
"""Bytes from which an answer is zipped."""
_LEVEL: Final = 6


async def large_json_response(
    request: Request, make: Callable[[], Any], *, stored: bool = True
) -> Response:
    """Return what `make` returns as JSON; `make` runs in a thread.

    What is not to be `stored` by a client has no ETag.
    """
    return await asyncio.to_thread(_response, request.headers, make, stored=stored)


def _response(sent: Mapping[str, str], make: Callable[[], Any], *, stored: bool) -> Response:
    content = to_json(make()).encode("utf-8", "replace")
    zipped = len(content) >= _LEAST and takes_gzip(sent)
    headers = {"Vary": "Accept-Encoding", "Cache-Control": "private, no-cache"}
    if stored:
        tag = f'"{sha256(content).hexdigest()[:32]}{"-gzip" if zipped else ""}"'
        headers["ETag"] = tag
        if has_already(sent, tag):
            return Response(status_code=304, headers=headers)
    else:
        headers["Cache-Control"] = "no-store"
    if zipped:
        content = gzip.compress(content, _LEVEL, mtime=0)
        headers["Content-Encoding"] = "gzip"
    return Response(content, headers=headers, media_type="application/json")
