"""`mcp`: an adapter as an MCP server on standard input and output, with no server and no key."""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from server.cli import options
from server.cli.output import fail, say
from server.settings.place import config_file

if TYPE_CHECKING:
    from server.settings.models import AdapterSettings


def mcp(
    place: options.Place = None,
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    user: options.User = None,
    role: options.Role = None,
) -> None:
    """Serve an adapter by MCP on standard input and output, for a program that starts this.

    Its templates are tools, and what is saved in its files is taken up at once.
    """
    found = options.configured_at(place, config, data=data)
    chosen = found.adapter(adapter)
    from server.mcp.http import extra_missing

    try:
        import mcp.server  # noqa: F401
    except ImportError as missing:
        fail(str(extra_missing(missing)))
    from server.cli.logs import set_up_logging

    set_up_logging(found.settings.logging)  # to standard error; the other is the client's

    def reread() -> "Sequence[AdapterSettings]":
        return options.configured_at(place, config, data=data).settings.adapters

    def sources() -> Sequence[Path]:
        from server.settings.loader import load_settings

        file = config if place is None else config_file(place)
        return load_settings(file, os.environ).sources if file.is_file() else ()

    asyncio.run(_serve(found, chosen, (user, role), reread, sources))


async def _serve(
    found: options.Configured,
    adapter: "AdapterSettings",
    who: tuple[str | None, str | None],
    reread: Callable[[], "Sequence[AdapterSettings]"],
    sources: Callable[[], Sequence[Path]],
) -> None:
    from server.adapters.local import local_caller, open_reloading
    from server.api.error_responses import describe_failure
    from server.mcp.peer import Host
    from server.mcp.stdio import serve_stdio
    from server.providers.embeddings.local import load_encoders_ahead

    settings = found.settings
    caller = local_caller(settings, adapter.name, *who)
    load_encoders_ahead(settings.embeddings, [adapter])
    opening = open_reloading(settings, found.environ, adapter, reread, sources, say=say)
    async with opening as adapters:
        limits = settings.server
        host = Host(adapters, describe_failure, limits.turn_timeout_s, limits.max_message_chars)
        await serve_stdio(host, caller)
