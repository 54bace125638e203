"""The text of a template that is nearest to a question."""

from collections.abc import Sequence
from typing import NamedTuple

from server.core.ports import Vectors


class NearestText(NamedTuple):
    similarity: float
    text: str


def nearest_of(vectors: Vectors, texts: Sequence[str], readings: Vectors) -> NearestText:
    """Return the text whose vector is nearest to any of the readings (n, d)."""
    likeness = vectors @ readings.T
    best = int(likeness.argmax())
    similarity = max(-1.0, min(1.0, likeness.item(best)))
    return NearestText(similarity, texts[best // len(readings)])
