"""`talk`: a conversation at the terminal, with an adapter in process or with a server."""

import re
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import uuid4

import typer

from server.cli import options
from server.cli.output import fail, say, show_progress
from server.errors import OrbitError

if TYPE_CHECKING:
    from server.cli.chat_backend import Backend, ShownAnswer
    from server.cli.chat_screen import Screen

_HISTORY: Final = "talk_history"
_LEAVING: Final = frozenset({"quit", "exit", "/quit", "/exit", "/q"})
_HELP: Final = """\
Type a question and press Enter. What is proposed runs only after your yes: 1 or yes, 2 or no.
  /trace  how the last answer came about
  /clear  forget what was said in this conversation
  /help   this
  /quit   leave; quit, exit and Ctrl-D do the same"""


def talk(
    adapter: options.Adapter = None,
    session: Annotated[str | None, options.option("ID", "Go on with this conversation.")] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show how each answer came about.")
    ] = False,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="Talk to a running server, with --key.")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="KEY", envvar="ORBIT_API_KEY", help="The key for --url."),
    ] = None,
    user: options.User = None,
    role: options.Role = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
) -> None:
    """Hold a conversation; what is proposed runs only after a yes.

    /help lists what else can be typed. Answers go to standard output, so that questions can
    be piped in, one a line.
    """
    from anyio.from_thread import start_blocking_portal

    from server.cli.chat_screen import Screen
    from server.core.turn import SESSION_ID

    session_id = session or uuid4().hex
    if not re.fullmatch(SESSION_ID, session_id):
        fail(f"--session: an id is of the form {SESSION_ID}")
    if url is not None and adapter is not None:
        fail("--adapter: the key decides which adapter of a server answers")
    if url is not None and (user or role):
        fail("--user, --role: the key decides who asks a server")
    found = options.configured(config, data=data)
    opening = _open_backend(found, adapter, session_id, url, key, user, role)
    screen = Screen(found.settings.data_dir / _HISTORY)
    # The backend's event loop goes on in another thread while somebody types.
    with start_blocking_portal() as portal, ExitStack() as closing:
        with show_progress("Opening"):
            backend = closing.enter_context(portal.wrap_async_context_manager(opening))
        closing.callback(screen.close)
        if screen.reads_from_terminal:
            going_on = f", going on with {session}" if session else ""
            say(f"Talking to {backend.name}{going_on}. /help says what can be typed.")
        Conversation(screen, backend, portal.start_task_soon, trace).run()


def _open_backend(
    found: options.Configured,
    adapter: str | None,
    session_id: str,
    url: str | None,
    key: str | None,
    user: str | None,
    role: str | None,
) -> "AbstractAsyncContextManager[Backend]":
    from server.adapters.local import local_caller
    from server.cli.chat_backend import open_local, open_remote

    if url is None:
        chosen = found.adapter(adapter)
        caller = local_caller(found.settings, chosen.name, user, role)
        return open_local(found.settings, found.environ, chosen, caller, session_id)
    if key is None:
        fail("--url needs a key: --key KEY, or the variable ORBIT_API_KEY")
    return open_remote(url.rstrip("/"), key, session_id)


@dataclass(slots=True)
class Conversation:
    """One person at a screen, and a backend on an event loop in another thread.

    `start` starts a coroutine function with its arguments on that event loop.
    """

    screen: "Screen"
    backend: "Backend"
    start: "Callable[..., Future[Any]]"
    traces: bool
    _last: "ShownAnswer | None" = None

    def run(self) -> None:
        while True:
            try:
                line = self.screen.read()
            except KeyboardInterrupt:
                line = None
            if line is None:
                self.screen.new_line()
                return
            if line.lower() in _LEAVING:
                return
            if line.startswith("/"):
                self._run_command(line.lower())
            elif line:
                self._ask(line)

    def _ask(self, line: str) -> None:
        if self._last is not None and self._last.waits_for_yes:
            line = {"1": "yes", "2": "no"}.get(line, line)
        future = self.start(self.backend.answer, line, self.screen)
        self._last = future.result() if self._wait_for(future) else None
        if self._last is None:
            return
        self.screen.end_answer()
        for note in self._last.notes:
            self.screen.remark(note)
        if self._last.commit is not None:
            self.screen.remark(self._last.commit)
        if self.traces:
            self._show_trace()
        if self._last.waits_for_yes:
            self.screen.choices()

    def _run_command(self, command: str) -> None:
        match command:
            case "/help":
                self.screen.remark(_HELP)
            case "/trace":
                self._show_trace()
            case "/clear":
                if self._wait_for(self.start(self.backend.clear)):
                    self._last = None
                    self.screen.remark("Forgotten.")
            case _:
                self.screen.remark(f"There is no {command}; /help says what there is.")

    def _show_trace(self) -> None:
        if self._last is None:
            self.screen.remark("Nothing was answered yet.")
        elif self._last.trace is not None:
            self.screen.trace(self._last.trace)
        else:
            self.screen.remark("The server keeps the trace; this is what its answer says:")
            self.screen.metadata(self._last.metadata)

    def _wait_for(self, future: "Future[Any]") -> bool:
        try:
            future.result()
        except OrbitError as failed:
            self.screen.fault(str(failed))
        except KeyboardInterrupt:
            future.cancel()
            self.screen.remark("Stopped.")
        except CancelledError:
            self.screen.remark("Stopped.")
        else:
            return True
        return False
