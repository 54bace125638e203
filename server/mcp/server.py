"""One MCP server for all adapters: the handlers of its requests, and notices of what changed.

Nothing is kept between two requests, so that any process may answer the next one.
"""

import logging
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

from mcp import MCPError
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    CallToolRequestParams,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    PromptReference,
    ReadResourceRequestParams,
    ReadResourceResult,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)
from pydantic import ValidationError

from server import __version__
from server.adapters.registry import Adapters
from server.chat.sources import shared_library
from server.errors import OrbitError, RequestInvalid
from server.mcp import library
from server.mcp.calls import Context, Result, call_tool
from server.mcp.peer import Peer
from server.mcp.tools import describe_tools

_log = logging.getLogger(__name__)

PeerOf = Callable[[Context], Peer]
"""Returns who sent a request."""

CHANGED: Final = (ToolsListChanged(), PromptsListChanged(), ResourcesListChanged())
_OPENING: Final = frozenset({"initialize", "server/discover"})
_HOW: Final = (
    "Call the tool whose description says what is wanted, with values the person gave. Where none "
    "does, or in doubt, call ask with the person's own words. What changes something is proposed "
    "first: show it to the person, and call confirm with what they say."
)


class Notices:
    """Tells clients that listen when an adapter has been opened anew, or closed.

    Each hears only of the adapter that its key opens. A notice says nothing of what changed.
    """

    def __init__(self, adapters: Adapters) -> None:
        self._buses: defaultdict[str, InMemorySubscriptionBus] = defaultdict(
            InMemorySubscriptionBus
        )
        self._listening: dict[str, ListenHandler] = {}
        self._adapters = adapters
        self._stopped = False

    async def listen(
        self, peer: Peer, ctx: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve one stream of notices, until its client leaves or `close`."""
        name = peer.caller.adapter
        if self._stopped:
            raise RequestInvalid("this server is about to stop; listen again in a moment")
        if name not in self._listening:
            self._listening[name] = ListenHandler(self._buses[name])
        return await self._listening[name](ctx, params)

    async def publish(self, changed: str) -> None:
        """Tell of an adapter to those who listen to it, or to one that it is behind."""
        for name in list(self._buses):
            if changed == name or changed in self._adapters.sources(name):
                for event in CHANGED:
                    await self._buses[name].publish(event)

    def close(self) -> None:
        """End all streams, so that a server which stops waits for none of them."""
        self._stopped = True
        for handler in self._listening.values():
            handler.close()


def build_server(peer_of: PeerOf, notices: Notices) -> Server[Any]:
    """Return the server of a transport, which says by `peer_of` who sent a request."""

    async def list_tools(ctx: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        peer = peer_of(ctx)
        return ListToolsResult(tools=describe_tools(peer.adapter(), peer.caller))

    async def on_call_tool(ctx: Context, params: CallToolRequestParams) -> Result:
        return await call_tool(peer_of(ctx), ctx, params)

    async def list_prompts(ctx: Context, _: PaginatedRequestParams | None) -> ListPromptsResult:
        peer = peer_of(ctx)
        return ListPromptsResult(prompts=library.describe_prompts(peer.adapter(), peer.caller))

    async def get_prompt(ctx: Context, params: GetPromptRequestParams) -> GetPromptResult:
        peer = peer_of(ctx)
        return library.get_prompt(peer.adapter(), peer.caller, params.name, params.arguments)

    async def complete(ctx: Context, params: CompleteRequestParams) -> CompleteResult:
        peer, found = peer_of(ctx), Completion(values=[])
        if isinstance(params.ref, PromptReference):
            found = library.complete_prompt(
                peer.adapter(), peer.caller, params.ref.name, params.argument
            )
        return CompleteResult(completion=found)

    async def list_resources(ctx: Context, _: PaginatedRequestParams | None) -> ListResourcesResult:
        peer = peer_of(ctx)
        found = library.describe_resources(peer.adapter(), peer.caller)
        return ListResourcesResult(resources=found)

    async def list_resource_templates(
        _ctx: Context, _: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        found = library.describe_resource_templates()
        return ListResourceTemplatesResult(resource_templates=found)

    async def read_resource(ctx: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        peer = peer_of(ctx)
        found = library.read_resource(peer.adapter(), peer.caller, params.uri)
        return ReadResourceResult(contents=[found])

    async def listen(
        ctx: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        return await notices.listen(peer_of(ctx), ctx, params)

    server: Server[Any] = Server(
        "orbit",
        version=__version__,
        instructions=_HOW,
        get_tool_input_schema=lambda _: None,  # no parameter of a tool travels in a header
        on_list_tools=list_tools,
        on_call_tool=on_call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_list_resources=list_resources,
        on_list_resource_templates=list_resource_templates,
        on_read_resource=read_resource,
        on_subscriptions_listen=listen,
    )
    server.middleware += [_failures_of(peer_of), _introduction_by(peer_of)]
    return server


def _failures_of(peer_of: PeerOf) -> ServerMiddleware[Any]:
    """Answer a request that failed by what may be known of it, on every transport."""

    async def answer(ctx: Context, call_next: CallNext) -> HandlerResult:
        try:
            return await call_next(ctx)
        except (MCPError, ValidationError):
            raise
        except Exception as failed:
            peer = peer_of(ctx)
            body = dict(peer.host.describe_failure(failed, peer.request_id))
            is_ours = not isinstance(failed, RequestInvalid)
            code = INTERNAL_ERROR if is_ours else INVALID_REQUEST
            raise MCPError(code, body["error"]["message"], body) from None

    return answer


def _introduction_by(peer_of: PeerOf) -> ServerMiddleware[Any]:
    """Say what the adapter is about to a client that connects."""

    async def introduce(ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method not in _OPENING or not isinstance(result, dict):
            return result
        try:
            domain = shared_library(peer_of(ctx).adapter()).domain
        except OrbitError:
            return result  # it is not open; the first call will say why
        about = f"{domain.name}: {domain.description}" if domain.description else domain.name
        return {**result, "instructions": f"{about}\n\n{_HOW}"}

    return introduce
