"""A loopback server that speaks Ollama's API, faults included."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.loopback import QuietServer

DIMENSIONS = 8

Said = Iterator[str | dict[str, Any]]
"""What a model says: pieces of text, and calls of functions as {"name", "arguments"}."""

Think = Callable[[Mapping[str, Any]], Said]
"""From the body of a chat request to what is said."""


def words(*texts: str | dict[str, Any]) -> Think:
    """Says the same whatever is asked."""
    return lambda asked: iter(texts)


@dataclass
class OllamaStandIn:
    """What it serves and how it misbehaves; `requests` keeps the texts of each embedding.

    `statuses` are answered first, one a call; then `raw` when it is set, then vectors (those
    of `embed`, else made-up ones), or what `think` says, cut at the limit of tokens that was
    asked for. Models that are not `pulled` are missing. A stream ends without a word after
    `dies_after` pieces, or with an error after `fails_after`.
    """

    base_url: str = ""
    model: str = "nomic-embed-text:latest"
    digest: str = "0a109f422b47"
    pulled: set[str] = field(default_factory=lambda: {"llama3.2", "gemma3:270m", "functiongemma"})
    statuses: list[int] = field(default_factory=list)
    retry_after: str | None = None
    raw: bytes | None = None
    delay_s: float = 0.0
    pause_s: float = 0.0
    dies_after: int | None = None
    fails_after: int | None = None
    embed: Callable[[list[str]], list[list[float]]] | None = None
    think: Think = field(default_factory=lambda: words("Hello", " there", "."))
    requests: list[list[str]] = field(default_factory=list)
    chats: list[dict[str, Any]] = field(default_factory=list)
    left: threading.Event = field(default_factory=threading.Event)
    """Set when a client went away before the end of a stream."""

    def has(self, model: str) -> bool:
        return model.removesuffix(":latest") in {
            *self.pulled,
            self.model.removesuffix(":latest"),
        }


@contextmanager
def ollama_stand_in() -> Iterator[OllamaStandIn]:
    """Run it on a free port of loopback until the block ends."""
    stand_in = OllamaStandIn()
    server = QuietServer(("127.0.0.1", 0), _handler(stand_in))
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
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            return None

        def do_GET(self) -> None:
            if self.path == "/api/version":
                return self._answer(200, b'{"version": "0.12.0"}')
            assert self.path == "/api/tags"
            named = sorted(stand_in.pulled)
            models = [
                {"model": stand_in.model, "name": stand_in.model, "digest": stand_in.digest},
                *({"model": name, "name": name, "digest": name} for name in named),
            ]
            return self._answer(200, json.dumps({"models": models}).encode())

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/api/embed":
                stand_in.requests.append(asked["input"])
            elif self.path == "/api/chat":
                stand_in.chats.append(asked)
            time.sleep(stand_in.delay_s)
            if stand_in.statuses:
                status = stand_in.statuses.pop(0)
                self._answer(status, b'{"error": "model failure, key sk-secret"}')
            elif not stand_in.has(asked["model"]):
                self._answer(404, b'{"error": "model not found, try pulling it first"}')
            elif stand_in.raw is not None:
                self._answer(200, stand_in.raw)
            elif self.path == "/api/embed" and stand_in.embed is not None:
                body = {"model": asked["model"], "embeddings": stand_in.embed(asked["input"])}
                self._answer(200, json.dumps(body).encode())
            elif self.path == "/api/embed":
                rows = [
                    [float(len(text) + n) for n in range(DIMENSIONS)] for text in asked["input"]
                ]
                body = {"model": asked["model"], "embeddings": rows}
                self._answer(200, json.dumps(body).encode())
            elif self.path == "/api/show":
                shown = {"capabilities": ["completion", "tools"], "details": {"format": "gguf"}}
                self._answer(200, json.dumps(shown).encode())
            else:
                assert self.path == "/api/chat"
                self._chat(asked)

        def _chat(self, asked: dict[str, Any]) -> None:
            if not asked["messages"]:
                last = _last(asked, 0, "load") | {"message": {"role": "assistant", "content": ""}}
                self._answer(200, json.dumps(last).encode())
                return
            limit = asked.get("options", {}).get("num_predict", -1)
            pieces = list(stand_in.think(asked)) if not asked.get("stream") else None
            if pieces is None:
                self._stream(asked, limit)
                return
            cut = 0 <= limit < len(pieces)
            kept = pieces[:limit] if cut else pieces
            message: dict[str, Any] = {
                "role": "assistant",
                "content": "".join(piece for piece in kept if isinstance(piece, str)),
            }
            if calls := [{"function": piece} for piece in kept if isinstance(piece, dict)]:
                message["tool_calls"] = calls
            last = _last(asked, len(kept), "length" if cut else "stop")
            self._answer(200, json.dumps(last | {"message": message}).encode())

        def _stream(self, asked: dict[str, Any], limit: int) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            said, reason = 0, "stop"
            try:
                for piece in stand_in.think(asked):
                    if said == limit:
                        reason = "length"
                        break
                    if said == stand_in.dies_after:
                        self.close_connection = True
                        return
                    if said == stand_in.fails_after:
                        self._line({"error": "the runner has died, key sk-secret"})
                        self._chunk(b"")
                        return
                    message = {"role": "assistant", "content": piece}
                    self._line({"model": asked["model"], "message": message, "done": False})
                    said += 1
                    time.sleep(stand_in.pause_s)
                self._line(
                    _last(asked, said, reason) | {"message": {"role": "assistant", "content": ""}}
                )
                self._chunk(b"")
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
                stand_in.left.set()

        def _line(self, body: dict[str, Any]) -> None:
            self._chunk(json.dumps(body).encode() + b"\n")

        def _chunk(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

        def _answer(self, status: int, body: bytes) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                if status == 429 and stand_in.retry_after is not None:
                    self.send_header("Retry-After", stand_in.retry_after)
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                return  # the client gave up, as a test of timeouts wants it to

    return Handler


def _last(asked: Mapping[str, Any], said: int, reason: str) -> dict[str, Any]:
    prompt = sum(len(message["content"].split()) for message in asked["messages"])
    return {
        "model": asked["model"],
        "created_at": "2026-01-01T00:00:00Z",
        "done": True,
        "done_reason": reason,
        "prompt_eval_count": prompt,
        "eval_count": said,
    }
