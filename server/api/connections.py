"""The HTTP server: uvicorn, with limits on what comes before a request is there.

uvicorn reads HTTP and runs the application. It bounds neither the number of connections of a
client nor the size of a request's head, nor the time in which head and body have to come;
and an event loop of libuv accepts one connection a turn, so that those that connect together
wait for the requests of all who came before them. `HttpServer` accepts by itself, and
`LimitedConnection` watches each connection.
"""

import asyncio
import ipaddress
import json
import logging
import os
import resource
import signal
import socket
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from time import monotonic
from types import FrameType
from typing import Any, Final, Literal, NamedTuple

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from server.access.clients import client_of
from server.api.error_responses import error_body
from server.metrics.metrics import Metrics
from server.settings.models import ConnectionSettings

_log = logging.getLogger(__name__)
_uvicorn_log = logging.getLogger("uvicorn.error.connections")
_uvicorn_log.setLevel(logging.ERROR)  # it warns of every request that is none, for ever

_ACCEPTED_AT_ONCE: Final = 1024
_WITHOUT_DESCRIPTORS_S: Final = 0.5
_LINGER_S: Final = 2.0
"""For which what a refused client still sends is read, so that it can read why."""
_LOOK_AFTER_S: Final = 0.5
"""After which, and how often, somebody is looked for behind a half-closed connection."""
_LOG_EVERY_S: Final = 10.0
_DRAIN_S: Final = 2.0
"""For which clients that are asking learn from an answer that they have to connect anew."""
_DRAIN_POLL_S: Final = 0.05
_SPARE_DESCRIPTORS: Final = 24
_MOST_SPARE_DESCRIPTORS: Final = 128

Limit = Literal[
    "connections",
    "address",
    "descriptors",
    "head_size",
    "head_time",
    "body_time",
    "idle",
    "unread",
    "malformed",
]
_WHY: Final[dict[Limit, str]] = {
    "connections": "there are too many connections (server.connections.most)",
    "address": "this address has too many connections (server.connections.most_per_address)",
    "descriptors": "this process may open no more files and connections (ulimit -n)",
    "head_size": "the head of the request is too large (server.connections.max_head_kb, "
    "max_headers)",
    "head_time": "the head of the request was not there in time (server.connections.head_s)",
    "body_time": "the body of the request was not there in time (server.connections.body_s)",
    "idle": "nothing was asked for too long (server.connections.idle_s)",
    "unread": "an answer was not read for too long (server.connections.idle_s)",
    "malformed": "what came is not an HTTP/1.1 request",
}


class Refusal(NamedTuple):
    """What a client is told before its connection is closed."""

    status: HTTPStatus
    code: str
    message: str

    def response(self) -> bytes:
        body = json.dumps(error_body(self.code, self.message, os.urandom(16).hex())).encode()
        retry = "Retry-After: 1\r\n" if self.status == HTTPStatus.SERVICE_UNAVAILABLE else ""
        head = (
            f"HTTP/1.1 {self.status.value} {self.status.phrase}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            f"{retry}Connection: close\r\n\r\n"
        )
        return head.encode() + body


_BUSY: Final = Refusal(
    HTTPStatus.SERVICE_UNAVAILABLE, "too_many_connections", "too many connections; try again later"
)
_MALFORMED: Final = Refusal(
    HTTPStatus.BAD_REQUEST, "request_malformed", "this is not an HTTP/1.1 request"
)


class ConnectionCount:
    """How many connections there are, in all and by address; what a limit ended, told once."""

    def __init__(
        self,
        settings: ConnectionSettings,
        metrics: Metrics,
        *,
        left: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`left` is told the address of each connection that ends."""
        self.settings = settings
        self._metrics = metrics
        self._left = left
        self._trusted = tuple(map(ipaddress.ip_network, settings.trusted_proxies))
        self._of_address: Counter[str] = Counter()
        self._total = 0
        self._told: dict[Limit, tuple[float, int]] = {}
        self._is_proxy = lru_cache(maxsize=1024)(self._find_proxy)

    def enter(self, host: str) -> Limit | None:
        """Count a connection, or return the limit that refuses it."""
        if self._total >= self.settings.most:
            return "connections"
        client = client_of(host)
        if not self._is_proxy(host):
            if self._of_address[client] >= self.settings.most_per_address:
                return "address"
            self._of_address[client] += 1
        self._total += 1
        self._metrics.connections(self._total)
        return None

    def leave(self, host: str) -> None:
        """Count a connection no more, and tell who is to know."""
        client = client_of(host)
        if not self._is_proxy(host):
            self._of_address[client] -= 1
            if not self._of_address[client]:
                del self._of_address[client]
        self._total -= 1
        self._metrics.connections(self._total)
        self._left(host)

    def note(self, limit: Limit, host: str, *, quietly: bool = False) -> None:
        """Count what a limit ended; log it, each kind once in ten seconds, with how many more."""
        self._metrics.connection_limit(limit)
        if quietly:
            return
        now = monotonic()
        told_s, more = self._told.get(limit, (now - _LOG_EVERY_S, 0))
        if now - told_s < _LOG_EVERY_S:
            self._told[limit] = told_s, more + 1
            return
        self._told[limit] = now, 0
        also = f"; {more} more since the last such line" if more else ""
        _log.warning("connection from %s ended: %s%s", host or "nowhere", _WHY[limit], also)

    def _find_proxy(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return any(address in network for network in self._trusted)


class LimitedConnection(HttpToolsProtocol):
    """A connection of uvicorn's, which is ended when it is too slow, too large, or of no use."""

    def __init__(
        self, config: uvicorn.Config, server: "HttpServer", count: ConnectionCount, host: str
    ) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(config, server.server_state, {}, loop)
        self.logger = _uvicorn_log
        self._server = server
        self._count = count
        self._host = host
        self._settings = count.settings
        self._reading: Literal["head", "body"] | None = None
        self._messages = 0
        self._head_bytes = 0
        self._unhandled_bytes = 0
        self._handled = False
        self._too_large = False
        self._lingering = False
        self._half_closed = False
        self._deadline: asyncio.TimerHandle | None = None
        self._deadline_of: tuple[Limit, int] | None = None
        self._unsent: asyncio.TimerHandle | None = None

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._count.leave(self._host)
        for timer in (self._deadline, self._unsent):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._lingering:
            return
        self._handled = False
        super().data_received(data)
        if self._lingering or self.transport.is_closing():
            return
        # A line that does not end, in the head or after the body, is handed on at its end alone.
        self._unhandled_bytes = 0 if self._handled else self._unhandled_bytes + len(data)
        if self._too_large or self._unhandled_bytes > self._settings.max_head_kb * 1024:
            self._end("head_size")
        else:
            self._set_deadline()

    def eof_received(self) -> bool | None:  # type: ignore[override]
        """Keep the connection for the answer, if the client has asked and only closed its half."""
        if self._lingering or self._reading is not None or not self._is_answering():
            return None
        self._half_closed = True
        self.loop.call_later(_LOOK_AFTER_S, self._ask_for_client)
        return True

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unsent = self.loop.call_later(self._settings.idle_s, self._give_up_unread)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unsent is not None:
            self._unsent.cancel()
            self._unsent = None

    # httptools

    def on_message_begin(self) -> None:
        self._handled = True
        self._reading, self._head_bytes = "head", 0
        self._messages += 1
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        if self._fits(len(url)):
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        # Four more, for what stands between: counted as they were sent.
        if self._fits(len(name) + len(value) + 4) and self._has_room():
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._handled = True
        self._reading = "body"
        if not self._too_large:
            super().on_headers_complete()
            if self._server.draining:
                self.close_after_answer()

    def on_body(self, body: bytes) -> None:
        self._handled = True
        if not self._too_large:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._handled = True
        self._reading = None
        if not self._too_large:
            super().on_message_complete()

    # uvicorn

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._half_closed and not self._is_answering():
            self.transport.close()
        self._set_deadline()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        self._count.note("malformed", self._host)
        self._refuse(_MALFORMED)

    def timeout_keep_alive_handler(self) -> None:
        """Do nothing: `_set_deadline` ends what rests, counted."""

    def close_after_answer(self) -> None:
        """Have the answer to the newest request, if there is one, tell to connect anew."""
        if self.cycle is not None:
            self.cycle.keep_alive = False

    def _fits(self, size: int) -> bool:
        self._handled = True
        self._head_bytes += size
        if self._head_bytes > self._settings.max_head_kb * 1024:
            self._too_large = True
        return not self._too_large

    def _has_room(self) -> bool:
        if len(self.headers) >= self._settings.max_headers:
            self._too_large = True
        return not self._too_large

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _waits_for(self) -> tuple[Limit, float] | None:
        """What the client has to do next, and within how many seconds; None if it need not."""
        settings = self._settings
        if self.transport.is_closing():
            return "unread", settings.idle_s
        if self._reading == "head":
            return "head_time", settings.head_s
        if self._reading == "body":
            return "body_time", settings.body_s
        return None if self._is_answering() else ("idle", settings.idle_s)

    def _set_deadline(self) -> None:
        waits = self._waits_for()
        of = None if waits is None else (waits[0], self._messages)
        if of == self._deadline_of:
            return
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._deadline_of = of
        if waits is not None:
            self._deadline = self.loop.call_later(waits[1], self._is_late, *waits)

    def _is_late(self, limit: Limit, seconds: float) -> None:
        if limit in ("head_time", "body_time") and self.pipeline:
            # It is this server that does not read on, before earlier requests are answered.
            self._deadline = self.loop.call_later(seconds, self._is_late, limit, seconds)
        elif limit == "unread" or (limit == "idle" and self.transport.get_write_buffer_size()):
            self._give_up_unread()
        else:
            self._end(limit)

    def _end(self, limit: Limit) -> None:
        """Tell the client why its connection ends, if it is one that waits for an answer."""
        settings = self._settings
        rested = limit == "idle" and self._messages > 0
        self._count.note(limit, self._host, quietly=rested)
        if limit == "idle":
            self.transport.close()
        elif limit == "head_size":
            most = f"{settings.max_head_kb} kB and {settings.max_headers} headers"
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            self._refuse(Refusal(status, "head_too_large", f"the most this server reads is {most}"))
        else:
            part, limit_s = ("head", settings.head_s)
            if limit == "body_time":
                part, limit_s = "body", settings.body_s
            message = f"the {part} of the request was not there within {limit_s:g} s"
            self._refuse(Refusal(HTTPStatus.REQUEST_TIMEOUT, f"{part}_late", message))

    def _refuse(self, refusal: Refusal) -> None:
        """Answer what is no request, and close when the client has read it."""
        in_between = self.pipeline or (self._is_answering() and self.cycle.response_started)
        if self._is_answering():
            self.cycle.disconnected = True
            self.cycle.waiting_for_100_continue = False  # nothing can be written after the refusal
            self.cycle.message_event.set()
        if in_between or not self.transport.can_write_eof():
            self.transport.close()
            return
        self.transport.write(refusal.response())
        self.transport.write_eof()
        self._lingering = True
        self.flow.resume_reading()
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(_LINGER_S, self.transport.abort)

    def _give_up_unread(self) -> None:
        for timer in (self._deadline, self._unsent):
            if timer is not None:
                timer.cancel()
        self._count.note("unread", self._host)
        self.transport.abort()

    def _ask_for_client(self) -> None:
        """Send something to a client that closed its half, as one that closed all refuses it.

        Before the response HTTP/1.1 allows an interim one, which clients pass over.
        """
        if self.transport.is_closing() or not self._is_answering():
            return
        plain = self.cycle.scope["http_version"] == "1.1" and not self.pipeline
        if plain and not self.cycle.response_started:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._look_for_client()

    def _look_for_client(self) -> None:
        """End a connection whose other end has refused what was sent."""
        if self.transport.is_closing() or not self._is_answering():
            return
        connection = self.transport.get_extra_info("socket")
        if connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            self.transport.abort()
            return
        self.loop.call_later(_LOOK_AFTER_S, self._look_for_client)


class HttpServer(uvicorn.Server):
    """uvicorn's server, which accepts connections by itself: all that wait, within the limits."""

    def __init__(
        self,
        config: uvicorn.Config,
        count: ConnectionCount,
        end_streams: Callable[[], None] = lambda: None,
        *,
        drain_s: float = 0.0,
        stopping: Callable[[], None] = lambda: None,
    ) -> None:
        """`end_streams` ends the answers that go on until their clients leave.

        `stopping` is called when a signal asks the server to stop, which it does after `drain_s`.
        """
        super().__init__(config)
        self.draining = False
        """Whether clients are to connect anew, where another process answers."""
        self._end_streams = end_streams
        self._drain_s = drain_s
        self._stopping = stopping
        self._exit_at_s: float | None = None
        self._told = False
        self._count = count
        self._opening: set[asyncio.Task[object]] = set()
        self._listening: tuple[socket.socket, ...] = ()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        self._listening = tuple(sockets or ())
        for listening in self._listening:
            listening.settimeout(0)
            self._listen(listening)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop after `drain_s`: Ctrl-C ends that wait, and once more that for answers under way.

        It interrupts whatever runs, and so writes no log.
        """
        first = self._exit_at_s is None
        if first:
            self._exit_at_s = monotonic() + self._drain_s
            self.send_away()
        if self._drain_s and (first or sig != signal.SIGINT):
            self._captured_signals.append(sig)
            return
        super().handle_exit(sig, frame)

    def send_away(self) -> None:
        """Say that the server is to stop, and have clients connect anew with each answer."""
        self.draining = True
        self._stopping()

    async def on_tick(self, counter: int) -> bool:
        if self._exit_at_s is not None:
            if self._drain_s and not self._told:
                self._told = True
                _log.info("stops in %g s, and answers until then", self._drain_s)
            if monotonic() >= self._exit_at_s:
                self.should_exit = True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        stopped, self._listening = self._listening, ()
        for listening in stopped:
            loop.remove_reader(listening.fileno())
        self._end_streams()
        await super().shutdown(sockets)

    def take(self, connection: socket.socket, host: str) -> None:
        """Serve a connection that was accepted, and is counted."""
        task = asyncio.get_running_loop().create_task(self._open(connection, host))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    def stop(self) -> None:
        """End when the answers under way are there."""
        self.should_exit = True

    async def drain(self) -> None:
        """Send clients away with their next answer, and end when all left or have had the time."""
        self.draining = True
        for each in self.server_state.connections:
            if isinstance(each, LimitedConnection):
                each.close_after_answer()
        until_s = monotonic() + _DRAIN_S
        # uvicorn tells nobody when a connection is gone.
        while monotonic() < until_s and (  # noqa: ASYNC110
            self.server_state.connections or self._opening
        ):
            await asyncio.sleep(_DRAIN_POLL_S)
        self.should_exit = True

    def _listen(self, listening: socket.socket) -> None:
        if listening in self._listening:
            asyncio.get_running_loop().add_reader(listening.fileno(), self._accept, listening)

    def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                connection, address = listening.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue
            except OSError:  # no descriptor is left
                self._count.note("descriptors", "")
                loop.remove_reader(listening.fileno())
                loop.call_later(_WITHOUT_DESCRIPTORS_S, self._listen, listening)
                return
            host = admitted(connection, address, self._count)
            if host is not None:
                self.take(connection, host)

    async def _open(self, connection: socket.socket, host: str) -> None:
        made: list[LimitedConnection] = []

        def protocol() -> LimitedConnection:
            made.append(LimitedConnection(self.config, self, self._count, host))
            return made[0]

        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)
        except OSError as failed:
            _log.debug("a connection from %s could not be opened: %s", host, failed)
            connection.close()
            if not made or made[0].transport is None:
                self._count.leave(host)


def admitted(
    connection: socket.socket, address: tuple[Any, ...], count: ConnectionCount
) -> str | None:
    """Count a connection that was accepted and return its address, or turn it away."""
    connection.settimeout(0)
    host = str(address[0])
    limit = count.enter(host)
    if limit is None:
        return host
    count.note(limit, host)
    _turn_away(connection)
    return None


def within_descriptors(settings: ConnectionSettings) -> ConnectionSettings:
    """Return the settings with no more connections than this process may open.

    The limit of the system is raised as far as it may be; the log says when that is not enough.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    wanted = settings.most + len(os.listdir("/dev/fd")) + _MOST_SPARE_DESCRIPTORS
    if soft != unlimited and soft < wanted:
        soft = wanted if hard == unlimited else min(hard, wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == unlimited or soft >= wanted:
        return settings
    spare = max(_SPARE_DESCRIPTORS, min(_MOST_SPARE_DESCRIPTORS, soft // 4))
    most = max(1, soft - len(os.listdir("/dev/fd")) - spare)
    if most >= settings.most:
        return settings
    _log.warning(
        "this process may open %d files (ulimit -n), so that it takes %d connections at once, and "
        "not %d as 'server.connections.most' says",
        soft,
        most,
        settings.most,
    )
    return settings.model_copy(update={"most": most})


def _turn_away(connection: socket.socket) -> None:
    """Say that there is no room, as far as that can be said at once."""
    try:
        connection.send(_BUSY.response())
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # it left before
    finally:
        connection.close()
