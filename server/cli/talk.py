"""`talk`: a conversation at the terminal, with an adapter in process or with a server."""

import re
from typing import TYPE_CHECKING, Annotated, Final
from uuid import uuid4

import typer

from server.cli.options import DEFAULT_CONFIG, AdapterOption, ConfigOption, DataOption
from server.cli.output import fail, failures_as_messages, say

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from server.cli.chat_backend import Partner
    from server.cli.options import Configured

_HISTORY: Final = "talk_history"


def talk(
    adapter: AdapterOption = None,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Go on with this conversation."),
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show how each answer came about.")
    ] = False,
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="URL", help="Talk to a running server, with --key."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="KEY", envvar="ORBIT_KEY", help="The key for --url."),
    ] = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
) -> None:
    """Hold a conversation; what is proposed runs only after a yes.

    /help lists what else can be typed. Answers go to standard output, so that questions can
    be piped in, one a line.
    """
    with failures_as_messages():
        from server.api.schemas import SESSION_ID
        from server.cli.options import configured

        session_id = session or uuid4().hex
        if not re.fullmatch(SESSION_ID, session_id):
            fail(f"--session: an id is of the form {SESSION_ID}")
        if url is not None and adapter is not None:
            fail("--adapter: the key decides which adapter of a server answers")
        found = configured(config, data=data)
        _talk(found, _partner(found, adapter, session_id, url, key), session, traces=trace)


def register(app: typer.Typer) -> None:
    app.command()(talk)


def _partner(
    found: "Configured", adapter: str | None, session_id: str, url: str | None, key: str | None
) -> "AbstractAsyncContextManager[Partner]":
    if url is None:
        from server.cli.chat_backend import here

        return here(found.settings, found.environ, found.adapter(adapter), session_id)
    if key is None:
        fail("--url needs a key: --key KEY, or the variable ORBIT_KEY")
    from server.cli.chat_backend import remote

    return remote(url.rstrip("/"), key, session_id)


def _talk(
    found: "Configured",
    partner: "AbstractAsyncContextManager[Partner]",
    session: str | None,
    *,
    traces: bool,
) -> None:
    """Open the partner on an event loop of its own, which goes on while somebody types."""
    from anyio.from_thread import start_blocking_portal

    from server.cli.chat_backend import Opened
    from server.cli.chat_loop import Conversation
    from server.cli.chat_screen import Screen

    screen = Screen(found.settings.data_dir / _HISTORY)
    with start_blocking_portal() as portal, Opened(portal, partner) as opened:
        if screen.reads_from_terminal:
            going_on = f", going on with {session}" if session else ""
            say(f"Talking to {opened.name}{going_on}. /help says what can be typed.")
        try:
            Conversation(screen, opened, portal.start_task_soon, traces=traces).run()
        finally:
            screen.close()
