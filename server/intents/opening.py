"""From a pack to what an open adapter reads its questions with."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from server.core.ports import Embedder
from server.intents.detector import Detector
from server.intents.pack import Pack
from server.intents.result import Detection
from server.intents.semantic import SemanticDetector

Detect = Callable[[str, datetime], Awaitable[Detection]]
"""A question, and when it was asked, to what it asks for. Days are those of the pack's zone."""


def detection_by(pack: Pack, embedder: Embedder | None = None) -> Detect:
    """Detection by the rules of `pack`; by the meaning of its examples too with `embedder`."""
    detector = Detector(pack)
    if embedder is not None:
        return SemanticDetector(detector, embedder).detect

    async def by_rules(text: str, now: datetime) -> Detection:
        return detector.detect(text, now)

    return by_rules
