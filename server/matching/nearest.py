"""The example of each candidate that is nearest to a question.

Two ways to the same answer: from a copy of the vectors in memory, or from Chroma, which
is asked for the candidates' vectors alone. Chroma's own neighbour search is approximate
and would now and then name another example; asking by id is exact and takes as long.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from server.core.ports import Vectors
from server.matching.entries import Entry
from server.matching.index import TemplateIndex


@dataclass(frozen=True, slots=True)
class Nearest:
    """A text of a template and its cosine to the question."""

    similarity: float
    text: str


class Search(Protocol):
    """How the vectors of candidates are come by."""

    async def nearest(self, readings: Vectors, templates: Sequence[str]) -> tuple[Nearest, ...]:
        """The nearest text of each template, in the order of `templates`.

        `readings` are the unit vectors of one question's readings; the nearest to any counts.
        """


class ResidentSearch:
    """Vectors in memory, read from Chroma once."""

    def __init__(self, entries: Sequence[Entry], vectors: Vectors) -> None:
        self._entries = entries
        self._vectors = vectors
        self._places = places_of(entries)

    async def nearest(self, readings: Vectors, templates: Sequence[str]) -> tuple[Nearest, ...]:
        return tuple(
            _nearest(readings, self._vectors[places], places, self._entries)
            for places in (self._places[template] for template in templates)
        )


class StoredSearch:
    """Vectors in Chroma, asked for those of the candidates."""

    def __init__(self, index: TemplateIndex) -> None:
        self._index = index
        self._places = places_of(index.entries)

    async def nearest(self, readings: Vectors, templates: Sequence[str]) -> tuple[Nearest, ...]:
        wanted = [self._places[template] for template in templates]
        if not wanted:
            return ()
        ids = [self._index.ids[place] for places in wanted for place in places]
        vectors = await self._index.vectors_of(ids)
        ends = np.cumsum([len(places) for places in wanted])
        return tuple(
            _nearest(readings, part, places, self._index.entries)
            for part, places in zip(np.split(vectors, ends[:-1]), wanted, strict=True)
        )


def places_of(entries: Sequence[Entry]) -> Mapping[str, list[int]]:
    """Where the entries of each template stand."""
    places: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        places.setdefault(entry.template_id, []).append(place)
    return places


def _nearest(
    readings: Vectors, vectors: Vectors, places: Sequence[int], entries: Sequence[Entry]
) -> Nearest:
    cosines = (vectors @ readings.T).max(axis=1)
    best = int(cosines.argmax())
    return Nearest(max(-1.0, min(1.0, float(cosines[best]))), entries[places[best]].text)
