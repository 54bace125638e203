"""Spans: parts of the work that a tracer times, and the context that called services get.

Nothing is traced unless a tracer watches what runs inside `traced_request`. No attribute may hold a
question's words, a value of an argument, or a secret.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Final, Literal, Protocol

Attributes = Mapping[str, str | int | float | bool]
SpanKind = Literal["internal", "server", "client"]


class Span(Protocol):
    """One part of the work, while it goes on."""

    @property
    def traceparent(self) -> str:
        """What tells a called service of the span (W3C Trace Context); empty without a trace."""

    def rename(self, name: str) -> None: ...

    def set(self, attributes: Attributes) -> None: ...

    def fail(self, error_type: str) -> None:
        """Say that it failed, by a name of a short list: never by a message."""


class Tracer(Protocol):
    def span(
        self, name: str, kind: SpanKind, attributes: Attributes, *, parent: str | None = None
    ) -> AbstractContextManager[Span]:
        """Time what happens inside, below the span around it; that of a `server` below `parent`.

        What runs inside is below it, unless it is of a `client`: that calls another service, and
        nothing here runs below it. What is raised inside makes it fail, by the name of its class.
        """


class _NoSpan:
    """A span that nobody watches."""

    traceparent: Final = ""

    def rename(self, name: str) -> None: ...

    def set(self, attributes: Attributes) -> None: ...

    def fail(self, error_type: str) -> None: ...


NO_SPAN: Final[Span] = _NoSpan()

_TRACER: Final = ContextVar[Tracer | None]("tracer", default=None)


def is_traced() -> bool:
    return _TRACER.get() is not None


@contextmanager
def traced_request(tracer: Tracer, name: str, parent: str | None) -> Iterator[Span]:
    """Trace a request and all that runs for it, as a part of the trace of `parent` if there is one.

    `parent` is a traceparent as a client sent it, which may be any text.
    """
    token = _TRACER.set(tracer)
    try:
        with tracer.span(name, "server", {}, parent=parent) as span:
            yield span
    finally:
        _TRACER.reset(token)


@contextmanager
def traced_span(name: str, attributes: Attributes | None = None) -> Iterator[Span]:
    """A span around a part of the work, if it is traced."""
    tracer = _TRACER.get()
    if tracer is None:
        yield NO_SPAN
        return
    with tracer.span(name, "internal", attributes or {}) as span:
        yield span


@contextmanager
def traced_call(name: str, attributes: Attributes) -> Iterator[Span]:
    """A span around a call of another service, if it is traced."""
    tracer = _TRACER.get()
    if tracer is None:
        yield NO_SPAN
        return
    with tracer.span(name, "client", attributes) as span:
        yield span
