"""What sends spans over OTLP/HTTP. Imported only where traces are on: it needs the extra `otel`."""

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter


class SpanSender(OTLPSpanExporter):
    """Ends once: by the SDK when all is sent, or by whoever does not wait for that any longer."""

    _ended = False

    def shutdown(self) -> None:
        if not self._ended:
            self._ended = True
            super().shutdown()  # type: ignore[no-untyped-call]
