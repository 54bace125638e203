"""`POST /mcp`: the adapter that a key opens, over streamable HTTP.

Nothing is kept between two requests: any replica answers the next one. Clients of the current
protocol are asked for a yes in an answer, and listen for changes in one that goes on.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from server.core.installation import install_command
from server.core.languages import accepted_languages
from server.core.turn import Caller
from server.errors import ExtraMissing, OriginForeign
from server.mcp.peer import Host, Peer

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from server.mcp.calls import Context
    from server.mcp.server import Notices

EXTRA: Final = "mcp"
_DESCRIPTION: Final = """The key's adapter as a [Model Context Protocol](https://modelcontextprotocol.io)
server: each template is a tool, with `ask` and `confirm` beside them. The body is a message of that
protocol. Needs the extra `mcp`.
"""


class McpEndpoint:
    """The MCP server of a process, which is there from the first request that wants it.

    `serve` has to run beside the requests that `answer` is given.
    """

    def __init__(self, host: Host, *, max_body_bytes: int) -> None:
        self.host = host
        self._max_body_bytes = max_body_bytes
        self._wanted = asyncio.Event()
        self._opened: asyncio.Future[StreamableHTTPSessionManager] = asyncio.Future()
        self._notices: Notices | None = None

    async def serve(self) -> None:
        """Serve until cancelled; the SDK, half a second and 30 MB, is imported when wanted."""
        await self._wanted.wait()
        try:
            manager, notices = await asyncio.to_thread(self._build)
        except ImportError as missing:
            failed = extra_missing(missing)
            self._opened.set_exception(failed)
            self._opened.exception()  # seen: it is raised anew for every request
            return
        self._notices = notices
        adapters, loop = self.host.adapters, asyncio.get_running_loop()
        telling = set[asyncio.Task[None]]()

        def tell(name: str) -> None:
            task = loop.create_task(notices.publish(name))
            telling.add(task)
            task.add_done_callback(telling.discard)

        with adapters.observed(tell):
            async with manager.run():
                self._opened.set_result(manager)
                await asyncio.Event().wait()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request whose `Peer` is in its state. Raises `ExtraMissing`."""
        await (await self.opened()).handle_request(scope, receive, send)

    async def opened(self) -> "StreamableHTTPSessionManager":
        """Return what answers, once it is there. Raises `ExtraMissing`."""
        self._wanted.set()
        return await asyncio.shield(self._opened)

    def end_streams(self) -> None:
        """End what would go on for as long as a client likes."""
        if self._notices is not None:
            self._notices.close()

    def _build(self) -> "tuple[StreamableHTTPSessionManager, Notices]":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from server.mcp.server import Notices, build_server

        notices = Notices(self.host.adapters)
        manager = StreamableHTTPSessionManager(
            build_server(_peer_of, notices),
            stateless=True,
            json_response=True,  # but for notices, which are a stream
            max_request_body_size=self._max_body_bytes,
        )
        return manager, notices


def extra_missing(missing: ImportError) -> ExtraMissing:
    return ExtraMissing(
        f"MCP needs the extra {EXTRA!r} ({missing.name} is not installed); "
        f"run: {install_command(EXTRA)}"
    )


def create_router(authorize: Callable[..., Awaitable[Caller]]) -> APIRouter:
    """Return the route, whose dependency `authorize` says whose key a request has."""
    router = APIRouter(tags=["mcp"])

    @router.post("/mcp", summary="Speak MCP", description=_DESCRIPTION)
    async def speak_mcp(
        request: Request, caller: Annotated[Caller, Depends(authorize)]
    ) -> Response:
        _refuse_foreign_page(request)
        endpoint: McpEndpoint = request.app.state.mcp
        await endpoint.opened()
        languages = accepted_languages(request.headers.get("accept-language", ""))
        request.state.peer = Peer(endpoint.host, caller, request.state.request_id, languages)
        return McpResponse(endpoint, await request.body(), request.receive)

    return router


class McpResponse(Response):
    """What the SDK sends; `body` is what was read of the request by then.

    When the client leaves, what it asked for is given up, as with any question.
    """

    def __init__(self, endpoint: McpEndpoint, body: bytes, receive: Receive) -> None:
        super().__init__()
        self._endpoint = endpoint
        self._messages: list[Message] = [{"type": "http.request", "body": body}]
        self._receive = receive

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        answering = asyncio.ensure_future(self._endpoint.answer(scope, self._next_message, send))
        leaving = asyncio.ensure_future(self._receive())  # all that can come after the body
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
        finally:
            for task in (answering, leaving):
                task.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)

    async def _next_message(self) -> Message:
        return self._messages.pop() if self._messages else await self._receive()


def _peer_of(ctx: "Context") -> Peer:
    request: Any = ctx.request
    peer: Peer = request.state.peer
    return peer


def _refuse_foreign_page(request: Request) -> None:
    """Raise OriginForeign for a request that a web page of another site has made."""
    origin = request.headers.get("origin")
    if origin is None:
        return
    page = urlsplit(origin)
    if origin == "null" or (
        page.scheme in ("http", "https") and page.netloc != request.headers.get("host")
    ):
        raise OriginForeign("web pages of other sites may not speak with this server")
