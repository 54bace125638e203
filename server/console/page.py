"""The console's page and its files, as they are served: read once, compressed once."""

import gzip
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from server.core.http_headers import has_already, takes_gzip
from server.core.installation import command

router = APIRouter(include_in_schema=False)

_PAGE: Final = "index.html"
_COMMAND: Final = b"{{ command }}"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-cache",  # kept, but asked for again each time: an update shows at once
    "Vary": "Accept-Encoding",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file of the page. `zipped` is the same by gzip; `digest` tells versions apart."""

    content: bytes
    zipped: bytes
    media_type: str
    digest: str


@router.api_route("/", methods=["GET", "HEAD"])
@router.api_route("/console", methods=["GET", "HEAD"])
def get_page(request: Request) -> Response:
    """The page, which needs no key: what it shows, it asks for with the reader's."""
    return _response(request, _static_files()[_PAGE])


@router.api_route("/console/static/{path:path}", methods=["GET", "HEAD"])
def get_static_file(request: Request, path: str) -> Response:
    """A script, a style sheet or a text of the page, by the name that it has in the package."""
    found = _static_files().get(path)
    if found is None or path == _PAGE:
        raise HTTPException(404)
    return _response(request, found)


@cache
def _static_files() -> Mapping[str, StaticFile]:
    """Every file of the page. A path is only ever looked up here, so none leads elsewhere."""
    found = _walk(files("server.console").joinpath("static"), "")
    # The page names commands, and these have the name that the server was started by.
    orbit = escape(command()).encode()
    return {
        name: _read(name, content.replace(_COMMAND, orbit) if name == _PAGE else content)
        for name, content in found
    }


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(tuple(_TYPES)):
            yield prefix + entry.name, entry.read_bytes()


def _read(name: str, content: bytes) -> StaticFile:
    return StaticFile(
        content,
        gzip.compress(content, mtime=0),
        _TYPES[name[name.rindex(".") :]],
        hashlib.sha256(content).hexdigest()[:32],
    )


def _response(request: Request, file: StaticFile) -> Response:
    zipped = takes_gzip(request.headers)
    etag = f'"{file.digest}{"-gzip" if zipped else ""}"'
    headers = _HEADERS | {"ETag": etag} | ({"Content-Encoding": "gzip"} if zipped else {})
    if has_already(request.headers, etag):
        return Response(status_code=304, headers=headers)
    content = file.zipped if zipped else file.content
    return Response(content, headers=headers, media_type=file.media_type)
