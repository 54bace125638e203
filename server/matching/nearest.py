"""The example of each candidate that is nearest to a question.

Two ways to the same answer: from a copy of the vectors in memory, or from Chroma, which
is asked for the candidates' vectors alone. Chroma's own neighbour search is approximate
and would now and then name another example; asking by id is exact and takes as long.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

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
        wanted = [self._places[template] for template in templates]
        vectors = self._vectors.take([place for places in wanted for place in places], axis=0)
        return _nearest(readings, vectors, wanted, self._entries)


class StoredSearch:
    """Vectors in Chroma, asked for those of the candidates."""

    def __init__(self, index: TemplateIndex) -> None:
        self._index = index
        self._places = places_of(index.entries)

    async def nearest(self, readings: Vectors, templates: Sequence[str]) -> tuple[Nearest, ...]:
        wanted = [self._places[template] for template in templates]
        ids = [self._index.ids[place] for places in wanted for place in places]
        return _nearest(readings, await self._index.vectors_of(ids), wanted, self._index.entries)


def places_of(entries: Sequence[Entry]) -> Mapping[str, list[int]]:
    """Where the entries of each template stand."""
    places: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        places.setdefault(entry.template_id, []).append(place)
    return places


def _nearest(
    readings: Vectors,
    vectors: Vectors,
    wanted: Sequence[Sequence[int]],
    entries: Sequence[Entry],
) -> tuple[Nearest, ...]:
    """The nearest of each group of `wanted`, whose vectors follow each other in `vectors`."""
    likenesses = vectors @ readings.T
    cosines = (likenesses if len(readings) == 1 else likenesses.max(axis=1)).ravel().tolist()
    found = []
    start = 0
    for places in wanted:
        group = cosines[start : start + len(places)]
        best = max(group)
        near = entries[places[group.index(best)]]
        found.append(Nearest(max(-1.0, min(1.0, best)), near.text))
        start += len(places)
    return tuple(found)
