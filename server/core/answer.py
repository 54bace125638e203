"""What goes back to the person who asked."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from server.core.decision import Ending
from server.core.trace import Trace
from server.core.values import value


@value
class Answer:
    """An answer in the shape users see: text, metadata, and a confidence of 0 to 1."""

    content: str
    confidence: float
    metadata: Mapping[str, Any]
    decision: Ending
    trace: Trace = field(default_factory=Trace)

    def to_dict(self, session_id: str) -> dict[str, Any]:
        """The answer as it goes over the wire; the trace stays here."""
        return {
            "content": self.content,
            "metadata": self.metadata,
            "confidence": round(self.confidence, 4),
            "session_id": session_id,
        }
