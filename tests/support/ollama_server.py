"""A loopback server that speaks Ollama's embedding API, faults included."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 8


@dataclass
class OllamaStandIn:
    """What it serves and how it misbehaves; `requests` keeps the texts of each call.

    `statuses` are answered first, one a call; then `raw` when it is set, then vectors.
    """

    base_url: str = ""
    model: str = "nomic-embed-text:latest"
    digest: str = "0a109f422b47"
    statuses: list[int] = field(default_factory=list)
    raw: bytes | None = None
    delay_s: float = 0.0
    requests: list[list[str]] = field(default_factory=list)


@contextmanager
def ollama_stand_in() -> Iterator[OllamaStandIn]:
    """Run it on a free port of loopback until the block ends."""
    stand_in = OllamaStandIn()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(stand_in))
    stand_in.base_url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield stand_in
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(stand_in: OllamaStandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            return None

        def do_GET(self) -> None:
            assert self.path == "/api/tags"
            model = {"model": stand_in.model, "name": stand_in.model, "digest": stand_in.digest}
            self._answer(200, json.dumps({"models": [model]}).encode())

        def do_POST(self) -> None:
            assert self.path == "/api/embed"
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            stand_in.requests.append(asked["input"])
            time.sleep(stand_in.delay_s)
            if stand_in.statuses:
                status = stand_in.statuses.pop(0)
                self._answer(status, b'{"error": "model failure, key sk-secret"}')
            elif asked["model"] not in (stand_in.model, stand_in.model.split(":")[0]):
                self._answer(404, b'{"error": "model not found, try pulling it first"}')
            elif stand_in.raw is not None:
                self._answer(200, stand_in.raw)
            else:
                rows = [
                    [float(len(text) + n) for n in range(DIMENSIONS)] for text in asked["input"]
                ]
                body = {"model": asked["model"], "embeddings": rows}
                self._answer(200, json.dumps(body).encode())

        def _answer(self, status: int, body: bytes) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                return  # the client gave up, as a test of timeouts wants it to

    return Handler
