"""A collector of OpenTelemetry on loopback: the spans that it was sent over OTLP/HTTP."""

import gzip
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.loopback import QuietServer


@dataclass(frozen=True, slots=True)
class SentSpan:
    """A span as it came; ids in hexadecimal, `parent` empty at the root."""

    name: str
    kind: int
    trace_id: str
    span_id: str
    parent: str
    attributes: Mapping[str, Any]
    failed: bool
    resource: Mapping[str, Any]


@dataclass
class Collector:
    endpoint: str = ""
    spans: list[SentSpan] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    status: int = 200
    delay_s: float = 0.0
    bodies: list[bytes] = field(default_factory=list)

    def named(self, name: str) -> list[SentSpan]:
        return [span for span in self.spans if span.name == name]


@contextmanager
def collecting() -> Iterator[Collector]:
    """Run a collector on a free port until the block ends."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            return None

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            collector.headers.append({k.lower(): v for k, v in self.headers.items()})
            collector.bodies.append(body)
            time.sleep(collector.delay_s)
            if collector.status == 200:
                collector.spans += _spans_of(body)
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = QuietServer(("127.0.0.1", 0), Handler)
    collector.endpoint = f"http://127.0.0.1:{server.server_address[1]}/v1/traces"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _spans_of(body: bytes) -> Iterator[SentSpan]:
    for group in ExportTraceServiceRequest.FromString(body).resource_spans:
        resource = _values(group.resource.attributes)
        for scope in group.scope_spans:
            for span in scope.spans:
                yield SentSpan(
                    span.name,
                    span.kind,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    _values(span.attributes),
                    span.status.code == span.status.STATUS_CODE_ERROR,
                    resource,
                )


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}
