"""MCP on standard input and output: one adapter, and whoever is at this machine."""

import asyncio
from typing import Final
from uuid import uuid4

from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import NotificationOptions
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ToolListChangedNotification,
)

from server.core.turn import Caller
from server.mcp.calls import Context
from server.mcp.peer import Host, Peer
from server.mcp.server import Notices, build_server

_CHANGED: Final = (
    ToolListChangedNotification(),
    PromptListChangedNotification(),
    ResourceListChangedNotification(),
)


async def serve_stdio(host: Host, caller: Caller) -> None:
    """Answer what comes on standard input, until it ends."""
    notices = Notices(host.adapters)
    server = build_server(lambda _: Peer(host, caller, uuid4().hex), notices)
    client = _Client(notices)
    server.middleware.append(client)
    changed = asyncio.Event()
    options = server.create_initialization_options(
        NotificationOptions(tools_changed=True, prompts_changed=True, resources_changed=True)
    )
    with host.adapters.observed(lambda _: changed.set()):
        telling = asyncio.create_task(client.tell(changed, caller.adapter))
        try:
            async with stdio_server() as (read, write):
                await server.run(read, write, options)
        finally:
            telling.cancel()


class _Client:
    """The one client of this process, as its requests show it."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._session: ServerSession | None = None

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method == "notifications/initialized":
            self._session = ctx.session
        return await call_next(ctx)

    async def tell(self, changed: asyncio.Event, adapter: str) -> None:
        """Tell of changes, as the client's protocol has it: unasked for, or where it listens."""
        while True:
            await changed.wait()
            changed.clear()
            await self._notices.publish(adapter)
            if self._session is None:
                continue
            for notification in _CHANGED:
                try:
                    await self._session.send_notification(notification)
                except MCPError:
                    return
