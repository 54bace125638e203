"""The example that is nearest to a question, of templates whose vectors stand in a file."""

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np

from server.core.ports import Vectors
from server.library.model import Template
from server.matching.index.template_index import IndexEntry, told_of
from server.matching.large.index import LargeEntries, LargeIndex, sentence_of
from server.matching.nearest import NearestText, nearest_of


class LargeExampleSearch:
    """As `matcher.ExampleSearch`, which holds everything in memory."""

    def __init__(self, index: LargeIndex, places: Mapping[str, int]) -> None:
        """`places` are those of the templates in the library."""
        self.entries: Sequence[IndexEntry] = LargeEntries(index)
        self._index, self._places = index, places

    def written_for(self, readings: Sequence[str]) -> frozenset[str]:
        """Return the templates of which a question is an example, but for its values."""
        owners = self._index.owners_of(map(sentence_of, readings))
        return frozenset(self._index.templates[place].id for place in owners)

    async def nearest(self, readings: Vectors, templates: Sequence[str]) -> list[NearestText]:
        """Return the text of each template that is nearest to any of the readings (n, d)."""
        return await asyncio.to_thread(self._nearest, readings, templates)

    def _nearest(self, readings: Vectors, templates: Sequence[str]) -> list[NearestText]:
        found = []
        for name in templates:
            texts = _texts(self._template(name))
            found.append(nearest_of(self._vectors(name)[: len(texts)], texts, readings))
        return found

    async def counters(
        self, readings: Sequence[str], vectors: Vectors, templates: Sequence[str]
    ) -> dict[str, NearestText]:
        """Return the counter example of each template that is nearer than any of its examples.

        With it goes how much nearer it is: 1 where the question says the same. `vectors` (n, d)
        are those of the `readings`.
        """
        some = [name for name in templates if self._template(name).counter_examples]
        found = await asyncio.to_thread(
            lambda: {name: self._counter(readings, vectors, name) for name in some}
        )
        return {name: one for name, one in found.items() if one is not None}

    def _counter(self, readings: Sequence[str], vectors: Vectors, name: str) -> NearestText | None:
        template, stored = self._template(name), self._vectors(name)
        own, entries = len(_texts(template)), self._index.entries_of(template)
        counters = entries[own:]
        nearest = nearest_of(stored[own:], [each.text for each in counters], vectors)
        # Its description counts where it has no example.
        examples = stored[: own - 1 if own > 1 else own]
        nearer = nearest.similarity - float((examples @ vectors.T).max())
        written = {each.masked for each in entries if each.kind == "example"}
        for each in counters:
            if each.masked in readings and each.masked not in written:
                return NearestText(1.0, each.text)
        return NearestText(nearer, nearest.text) if nearer > 0 else None

    async def vectors_at(self, places: Sequence[int]) -> Vectors:
        """Return the vectors of some of the `entries`, (n, d), in the order of their places."""
        return await asyncio.to_thread(self._index.vectors_at, np.asarray(places, np.intp))

    async def similarities(self, readings: Vectors, template: str) -> Vectors:
        """Return how near each of the readings (n, d) is to the nearest text of a template."""
        texts = len(_texts(self._template(template)))
        vectors = await asyncio.to_thread(self._vectors, template)
        nearest: Vectors = (readings @ vectors[:texts].T).max(axis=1)
        return nearest

    def _template(self, name: str) -> Template:
        return self._index.templates[self._places[name]]

    def _vectors(self, name: str) -> Vectors:
        return self._index.vectors_at(self._index.rows_of(self._places[name]))


def _texts(template: Template) -> list[str]:
    """Its examples and what it says of itself, in the order of their vectors."""
    return [*dict.fromkeys(template.nl_examples), told_of(template)]
