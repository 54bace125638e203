"""Spans as OpenTelemetry has them, sent over OTLP/HTTP. Needs the extra `otel`.

The SDK gathers and sends them in a thread of its own, at most so many at a time: a collector that
is slow or away costs spans, and never an answer.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Self

from server import __version__
from server.core.spans import Attributes, Span, SpanKind
from server.errors import ConfigurationInvalid, Location, Problem
from server.settings.models import TracesSettings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

_log = logging.getLogger(__name__)

EXTRA: Final = "otel"
_SERVICE: Final = "orbit"
_MAX_CHARS: Final = 256
"""Of a traceparent: 55 today, and later versions may be longer."""


class OtelTracer:
    """The tracer of one server; what it sends where is its own, and not the process's."""

    def __init__(self, settings: TracesSettings, exporter: "SpanExporter") -> None:
        """Begin to send; raises ImportError without the extra.

        What the settings leave out, the SDK reads from the environment (`OTEL_…`).
        """
        from opentelemetry import trace
        from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        ratio = settings.sample_ratio
        named = {SERVICE_NAME: settings.service_name} if settings.service_name else {}
        resource = Resource.create({SERVICE_VERSION: __version__, **named})
        if not named and _is_unnamed(resource.attributes.get(SERVICE_NAME)):
            resource = resource.merge(Resource({SERVICE_NAME: _SERVICE}))
        self._exporter = exporter
        self._provider = TracerProvider(
            sampler=None if ratio is None else ParentBased(TraceIdRatioBased(ratio)),
            resource=resource,
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("orbit", __version__)
        self._propagator = TraceContextTextMapPropagator()
        self._trace = trace
        self._kinds = {
            "internal": trace.SpanKind.INTERNAL,
            "server": trace.SpanKind.SERVER,
            "client": trace.SpanKind.CLIENT,
        }
        self._close_within_s = settings.close_within_s

    @classmethod
    def open(cls, settings: TracesSettings) -> Self | None:
        """Return the configured tracer; None where traces are off.

        Raises `ConfigurationInvalid`: the extra is missing, or a variable of its own is wrong.
        """
        if not settings.enabled:
            return None
        try:
            from server.telemetry.exporter import SpanSender

            headers = {name: each.get_secret_value() for name, each in settings.headers.items()}
            exporter = SpanSender(endpoint=settings.endpoint, headers=headers or None)
            return cls(settings, exporter)
        except ImportError as missing:
            what = (
                f"telemetry.traces needs the extra {EXTRA!r} ({missing.name} is not installed); "
                f"run: ./bin/orbit.sh install {EXTRA}"
            )
            raise ConfigurationInvalid([_problem(what)]) from None
        except (ValueError, OSError) as wrong:
            what = f"traces cannot be sent as telemetry.traces or OTEL_… variables say: {wrong}"
            raise ConfigurationInvalid([_problem(what)]) from wrong

    @contextmanager
    def span(
        self, name: str, kind: SpanKind, attributes: Attributes, *, parent: str | None = None
    ) -> Iterator[Span]:
        opened = self._tracer.start_span(
            name,
            context=self._context_of(parent) if kind == "server" else None,
            kind=self._kinds[kind],
            attributes=attributes,
            record_exception=False,  # its message may quote the question
            set_status_on_exception=False,
        )
        span = _OtelSpan(opened, self._trace)
        try:
            if kind == "client":
                yield span
            else:
                with self._trace.use_span(
                    opened, record_exception=False, set_status_on_exception=False
                ):
                    yield span
        except BaseException as failed:
            span.fail(type(failed).__name__)
            raise
        finally:
            opened.end()

    def _context_of(self, parent: str | None) -> Any:
        """The context that a client told of, of which nothing else is taken."""
        from opentelemetry.context import Context

        whole = Context()  # a request is below nothing that runs in this process
        if parent is None or len(parent) > _MAX_CHARS:
            return whole
        return self._propagator.extract({"traceparent": parent}, whole)

    async def close(self) -> None:
        """Send what waits; what is not sent in time is lost, and told."""
        closing = Thread(target=self._provider.shutdown, name="orbit-traces", daemon=True)
        closing.start()
        await asyncio.to_thread(closing.join, self._close_within_s)
        if closing.is_alive():
            _log.warning("spans are lost: they were not sent within %g s", self._close_within_s)
            self._exporter.shutdown()


class _OtelSpan:
    def __init__(self, span: Any, trace: Any) -> None:
        self._span = span
        self._trace = trace

    @property
    def traceparent(self) -> str:
        context = self._span.get_span_context()
        if not context.is_valid:
            return ""
        return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def set(self, attributes: Mapping[str, str | int | float | bool]) -> None:
        self._span.set_attributes(attributes)

    def fail(self, error_type: str) -> None:
        self._span.set_attribute("error.type", error_type)
        self._span.set_status(self._trace.Status(self._trace.StatusCode.ERROR))


def _is_unnamed(service: object) -> bool:
    """Whether a name is the one that the SDK makes up where nobody gave any."""
    return not isinstance(service, str) or service.startswith("unknown_service")


def _problem(what: str) -> Problem:
    return Problem(what, Location("telemetry.traces"), "traces")
