"""Everything that can go wrong with a service, each at an address of its own."""

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

_MAX_SECONDS = 60.0
_CHUNK = b"0" * 65_536


def routes() -> list[Route]:
    return [
        Route("/faults/slow", slow),
        Route("/faults/drip", drip),
        Route("/faults/huge", huge),
        Route("/faults/garbage", garbage),
        Route("/faults/page", page),
        Route("/faults/redirect", redirect),
        Route("/faults/status/{status:int}", status),
    ]


async def slow(request: Request) -> Response:
    """`?seconds=2`: a good answer, late."""
    seconds = min(float(request.query_params.get("seconds", "1")), _MAX_SECONDS)
    await asyncio.sleep(seconds)
    return JSONResponse({"waited": seconds})


async def drip(_request: Request) -> Response:
    """One byte at a time, for a minute."""

    async def bytes_one_by_one() -> AsyncIterator[bytes]:
        for _ in range(int(_MAX_SECONDS * 10)):
            yield b" "
            await asyncio.sleep(0.1)

    return StreamingResponse(bytes_one_by_one(), media_type="application/json")


async def huge(_request: Request) -> Response:
    """A hundred megabytes."""

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(100_000_000 // len(_CHUNK)):
            yield _CHUNK

    return StreamingResponse(chunks(), media_type="application/json")


async def garbage(_request: Request) -> Response:
    """Bytes that call themselves JSON."""
    return Response(bytes(range(256)), media_type="application/json")


async def page(_request: Request) -> Response:
    """A web page where data was asked for."""
    return Response("<html><body>Maintenance</body></html>", media_type="text/html")


async def redirect(request: Request) -> Response:
    """Elsewhere, to `?to=`; in a circle without it."""
    return RedirectResponse(request.query_params.get("to", "/faults/redirect"))


async def status(request: Request) -> Response:
    """Any status, with `?retry_after=` as its header."""
    headers = {}
    if "retry_after" in request.query_params:
        headers["Retry-After"] = request.query_params["retry_after"]
    code = request.path_params["status"]
    return JSONResponse({"message": f"status {code}"}, status_code=code, headers=headers)
