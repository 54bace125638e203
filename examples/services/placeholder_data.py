"""Practice data in the shape of JSONPlaceholder: users, posts, comments, albums, todos.

Like the original it answers writes as if they had happened, and keeps nothing.
"""

from collections.abc import Callable, Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .placeholder_rows import ROWS

Row = dict[str, Any]

_PARENTS = {"posts": "userId", "albums": "userId", "todos": "userId"}
_PARENTS |= {"comments": "postId", "photos": "albumId"}
_NESTED = {
    "users": ("posts", "albums", "todos"),
    "posts": ("comments",),
    "albums": ("photos",),
}


def routes() -> list[Route]:
    return [route for name in ROWS for route in _resource(name)]


def _resource(name: str) -> Iterator[Route]:
    yield Route(f"/{name}", _list(name), methods=["GET"])
    yield Route(f"/{name}", _create(name), methods=["POST"])
    yield Route(f"/{name}/{{id:int}}", _one(name), methods=["GET"])
    yield Route(f"/{name}/{{id:int}}", _change(name), methods=["PUT", "PATCH"])
    yield Route(f"/{name}/{{id:int}}", _delete, methods=["DELETE"])
    for child in _NESTED.get(name, ()):
        yield Route(f"/{name}/{{id:int}}/{child}", _list(child, _PARENTS[child]), methods=["GET"])


Handler = Callable[[Request], Any]


def _list(name: str, parent: str = "") -> Handler:
    def handler(request: Request) -> Response:
        wanted = {key: v for key, v in request.query_params.items() if not key.startswith("_")}
        if parent:
            wanted[parent] = str(request.path_params["id"])
        found = [row for row in ROWS[name] if _fits(row, wanted)]
        return _page(request, found)

    return handler


def _fits(row: Row, wanted: dict[str, str]) -> bool:
    return all(_text(row.get(key)).lower() == value.lower() for key, value in wanted.items())


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _page(request: Request, rows: list[Row]) -> Response:
    total = len(rows)
    limit = _whole(request, "_limit", total)
    page = _whole(request, "_page", 0)
    start = _whole(request, "_start", 0)
    headers = {"X-Total-Count": str(total)}
    if page:
        limit = _whole(request, "_limit", 10)
        start = (page - 1) * limit
        if start + limit < total:
            following = request.url.include_query_params(_page=page + 1)
            headers["Link"] = f'<{following}>; rel="next"'
    return JSONResponse(rows[start : start + limit], headers=headers)


def _whole(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, "")
    return int(text) if text.isdecimal() else default


def _find(name: str, request: Request) -> Row | None:
    wanted = request.path_params["id"]
    return next((row for row in ROWS[name] if row["id"] == wanted), None)


def _one(name: str) -> Handler:
    def handler(request: Request) -> Response:
        row = _find(name, request)
        return JSONResponse(row) if row else JSONResponse({}, status_code=404)

    return handler


def _create(name: str) -> Handler:
    async def handler(request: Request) -> Response:
        row = await _body(request)
        return JSONResponse(row | {"id": len(ROWS[name]) + 1}, status_code=201)

    return handler


def _change(name: str) -> Handler:
    async def handler(request: Request) -> Response:
        row = _find(name, request)
        if row is None:
            return JSONResponse({}, status_code=404)
        kept = row if request.method == "PATCH" else {}
        return JSONResponse(kept | await _body(request) | {"id": row["id"]})

    return handler


def _delete(_request: Request) -> Response:
    return JSONResponse({})


async def _body(request: Request) -> Row:
    try:
        data = await request.json()
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}
