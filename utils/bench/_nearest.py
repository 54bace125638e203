"""What many routers do: the template of the nearest example, over a fixed similarity."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

import numpy as np

from server.core.ports import Embedder, Vectors
from server.library.model import Library

USUAL_THRESHOLD: Final = 0.75
"""The cosine over which a question is taken for one like the example."""


class Nearest(NamedTuple):
    """The template of the example that is nearest to a question, and its cosine."""

    template_id: str
    similarity: float


@dataclass(frozen=True, slots=True)
class NearestExampleRouter:
    """Compares each question with every example as it is written, by the same encoder."""

    embedder: Embedder
    templates: Sequence[str]
    vectors: Vectors

    @classmethod
    async def open(cls, library: Library, embedder: Embedder) -> Self:
        """Embed every example of a library."""
        shown = [(t.id, text) for t in library.templates.values() for text in t.nl_examples]
        vectors = await embedder.embed([text for _, text in shown])
        return cls(embedder, [template for template, _ in shown], vectors)

    async def nearest(self, text: str) -> Nearest:
        [vector] = await self.embedder.embed([text])
        likeness: Any = self.vectors @ vector
        best = int(np.argmax(likeness))
        return Nearest(self.templates[best], float(likeness[best]))


def best_threshold(similarities: Sequence[float], if_routed: Sequence[bool],
                   if_silent: Sequence[bool]) -> float:  # fmt: skip
    """Return the threshold that is right of most questions, known after they were asked.

    Each question is right if it is routed at or over the threshold, or if it is not.
    """
    order = sorted(range(len(similarities)), key=lambda at: -similarities[at])
    right = best = sum(if_silent)
    threshold = 1.01  # nothing is routed
    for place, at in enumerate(order):
        right += if_routed[at] - if_silent[at]
        last = place + 1 == len(order) or similarities[order[place + 1]] < similarities[at]
        if last and right > best:
            best, threshold = right, similarities[at]
    return threshold
