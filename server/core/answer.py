"""What goes back to the person who asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from server.core.trace import Trace


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in the shape users see: text, metadata, and a confidence of 0 to 1."""

    content: str
    confidence: float
    metadata: Mapping[str, Any]
    trace: Trace = field(default_factory=Trace)
