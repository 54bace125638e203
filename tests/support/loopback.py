"""A JSON service on loopback: what it was asked is kept, what it answers is yours to say."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. Header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """A body as it goes over the wire, or `events` to stream, one server-sent event each.

    A stream `dies_after` so many events: the connection is closed without a word.
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    events: Iterator[Any] | None = None
    dies_after: int | None = None
    done: str = ""
    delay_s: float = 0.0


class QuietServer(ThreadingHTTPServer):
    """Says nothing of clients that give up, as tests want them to."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


Reply = Callable[[Asked], Answer]


@dataclass
class Service:
    """A running service. `answers` come first, one a request; then `reply` answers."""

    reply: Reply
    base_url: str = ""
    asked: list[Asked] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)


@contextmanager
def serving(reply: Reply) -> Iterator[Service]:
    """Run a service on a free port of loopback until the block ends."""
    service = Service(reply)
    server = QuietServer(("127.0.0.1", 0), _handler(service))
    service.base_url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(service: Service) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            return None

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.path, headers, body)
            service.asked.append(asked)
            answer = service.answers.pop(0) if service.answers else service.reply(asked)
            time.sleep(answer.delay_s)
            try:
                self._send(answer)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client gave up, as a test wants it to

        def _send(self, answer: Answer) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.events is None:
                whole = answer.body
                data = whole if isinstance(whole, bytes) else json.dumps(whole).encode()
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                return
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for number, event in enumerate(answer.events):
                if number == answer.dies_after:
                    self.close_connection = True
                    return
                # As some servers do: no character is escaped that need not be.
                self._chunk(f"data: {json.dumps(event, ensure_ascii=False)}\r\n\r\n".encode())
            if answer.done:
                self._chunk(f"data: {answer.done}\n\n".encode())
            self._chunk(b"")

        def _chunk(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

    return Handler
