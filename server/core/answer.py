"""The answer to a question, and the trace of how it was found."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from server.core.decision import Ending


@dataclass(slots=True)
class Stage:
    """One stage: how long it took, and what it found, as JSON-ready data."""

    name: str
    ms: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Trace:
    """The stages of one turn, in order."""

    stages: list[Stage] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[dict[str, Any]]:
        """Time a stage; what the caller puts into the yielded dict is kept with it."""
        stage = Stage(name)
        self.stages.append(stage)
        start = perf_counter()
        try:
            yield stage.details
        finally:
            stage.ms = (perf_counter() - start) * 1000

    def note(self, name: str, details: dict[str, Any]) -> None:
        """Add a stage that took no time worth measuring."""
        self.stages.append(Stage(name, 0.0, details))

    def to_list(self) -> list[dict[str, Any]]:
        return [{"stage": s.name, "ms": round(s.ms, 3), **s.details} for s in self.stages]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in the shape users see: text, metadata, and a confidence of 0 to 1."""

    content: str
    confidence: float
    metadata: Mapping[str, Any]
    decision: Ending
    trace: Trace = field(default_factory=Trace)

    def to_dict(self, session_id: str) -> dict[str, Any]:
        """Return the answer as HTTP sends it, without the trace."""
        return {
            "content": self.content,
            "metadata": self.metadata,
            "confidence": round(self.confidence, 4),
            "session_id": session_id,
        }
