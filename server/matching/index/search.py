"""The example of each candidate that is nearest to a question.

Two ways to the same answer: from a copy of the vectors in memory, or from Chroma, which
is asked for the candidates' vectors alone. Chroma's own neighbour search is approximate
and would now and then name another example; asking by id is exact and takes as long.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, Protocol

from server.core.ports import Vectors
from server.matching.index.template_index import IndexEntry, TemplateIndex

Nearest = tuple[float, str]
"""The cosine of a template's text to the question, and the text."""


class Search(Protocol):
    """How the vectors of candidates are come by."""

    async def nearest(self, readings: Vectors, templates: Sequence[str]) -> tuple[Nearest, ...]:
        """The nearest text of each template, in the order of `templates`.

        `readings` are the unit vectors of one question's readings; the nearest to any counts.
        """


class ResidentSearch:
    """Vectors in memory, read from Chroma once."""

    def __init__(self, entries: Sequence[IndexEntry], vectors: Vectors) -> None:
        self._known = {
            template: (vectors[places], texts)
            for template, (places, texts) in grouped(entries).items()
        }

    async def nearest(self, readings: Vectors, templates: Sequence[str]) -> tuple[Nearest, ...]:
        return tuple([_nearest(readings, *self._known[template]) for template in templates])


class StoredSearch:
    """Vectors in Chroma, asked for those of the candidates."""

    def __init__(self, index: TemplateIndex) -> None:
        self._index = index
        self._groups = grouped(index.entries)

    async def nearest(self, readings: Vectors, templates: Sequence[str]) -> tuple[Nearest, ...]:
        wanted = [self._groups[template] for template in templates]
        ids = [one for group in wanted for one in self._index.ids[group.places]]
        vectors = await self._index.vectors_of(ids)
        found = []
        for _, texts in wanted:
            found.append(_nearest(readings, vectors[: len(texts)], texts))
            vectors = vectors[len(texts) :]
        return tuple(found)


class Group(NamedTuple):
    """Where the entries of a template stand, and what to show of each.

    Of those that are compared as the same text, the first is shown for all.
    """

    places: slice
    texts: Sequence[str]


def grouped(entries: Sequence[IndexEntry]) -> Mapping[str, Group]:
    """The entries of each template, which follow each other."""
    groups: dict[str, Group] = {}
    start = 0
    for template, members in groupby(entries, key=attrgetter("template_id")):
        first: dict[str, str] = {}
        texts = [first.setdefault(entry.masked, entry.text) for entry in members]
        groups[template] = Group(slice(start, start + len(texts)), texts)
        start += len(texts)
    return groups


def _nearest(readings: Vectors, vectors: Vectors, texts: Sequence[str]) -> Nearest:
    """The nearest of a template's texts, whose vectors are (texts, d)."""
    likeness = vectors.dot(readings[0]) if len(readings) == 1 else vectors @ readings.T
    best = int(likeness.argmax())
    return max(-1.0, min(1.0, likeness.item(best))), texts[best // len(readings)]
