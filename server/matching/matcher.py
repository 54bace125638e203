"""An adapter's library, open for questions."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np

from server.core.ports import Embedder, Vectors
from server.errors import IndexEmpty
from server.library.model import Library
from server.matching.index.store import TemplateStore
from server.matching.index.template_index import (
    SyncReport,
    TemplateIndex,
    VectorsLost,
    load_snapshot,
    save_snapshot,
)
from server.matching.masking import ValueMask, mask
from server.matching.model.head_store import head_for
from server.matching.model.training import use_one_thread
from server.matching.model.zero_shot import Scorer
from server.matching.nearness import LibraryVectors, Nearness
from server.matching.selection import Ranking, TemplateCandidate
from server.text.spelling import Speller

SearchMode = Literal["auto", "resident", "chroma"]

_INLINE_WEIGHTS: Final = 1_000_000
"""Weights that are multiplied in well under a millisecond, which a thread would double."""


class NearestText(NamedTuple):
    similarity: float
    text: str


class ExampleSearch:
    """Finds the example of each candidate that is nearest to a question.

    Vectors come from memory, or from Chroma by id: its own neighbour search is approximate and
    would now and then name another example.
    """

    def __init__(self, index: TemplateIndex, vectors: Vectors | None) -> None:
        """`vectors` are those of the index, where they are to be kept in memory."""
        self._source = index if vectors is None else vectors
        self._groups: dict[str, tuple[slice, Sequence[str]]] = {}
        start = 0
        for template, members in groupby(index.entries, key=attrgetter("template_id")):
            # Of texts that are compared as the same one, the first is shown for all.
            first: dict[str, str] = {}
            texts = [first.setdefault(entry.masked, entry.text) for entry in members]
            self._groups[template] = slice(start, start + len(texts)), texts
            start += len(texts)

    async def nearest(self, readings: Vectors, templates: Sequence[str]) -> list[NearestText]:
        """Return the text of each template that is nearest to any of the readings (n, d)."""
        groups = [self._groups[template] for template in templates]
        if isinstance(self._source, TemplateIndex):
            ids = [one for places, _ in groups for one in self._source.ids[places]]
            ends = np.cumsum([len(texts) for _, texts in groups])
            parts = np.split(await self._source.vectors(ids), ends[:-1])
        else:
            parts = [self._source[places] for places, _ in groups]
        found = []
        for (_, texts), vectors in zip(groups, parts, strict=True):
            likeness = vectors @ readings.T
            best = int(likeness.argmax())
            similarity = max(-1.0, min(1.0, likeness.item(best)))
            found.append(NearestText(similarity, texts[best // len(readings)]))
        return found


    async def similarities(self, readings: Vectors, template: str) -> Vectors:
        """Return how near each of the readings (n, d) is to the nearest text of a template."""
        places, _ = self._groups[template]
        if isinstance(self._source, TemplateIndex):
            vectors = await self._source.vectors(self._source.ids[places])
        else:
            vectors = self._source[places]
        nearest: Vectors = (readings @ vectors.T).max(axis=1)
        return nearest


def _without(text: str, word: str) -> str:
    return re.sub(rf"\b{re.escape(word)}\b", " ", text, flags=re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Matcher:
    """Ranks templates by how likely a question means them. Open with `Matcher.open`."""

    _templates: Sequence[str]
    _head: Scorer
    _is_large: bool
    _embedder: Embedder
    _speller: Speller
    _search: ExampleSearch
    _mask: ValueMask
    _words: LibraryVectors
    _stats: Mapping[str, Any]

    @classmethod
    async def open(
        cls,
        adapter: str,
        library: Library,
        embedder: Embedder,
        store: TemplateStore,
        *,
        search: SearchMode = "auto",
        resident_max_vectors: int = 200_000,
        state_dir: Path,
        telling: Mapping[str, Sequence[str]] | None = None,
    ) -> Self:
        """Bring the index in step with the library, and learn its head where that is due.

        Heads are kept in `state_dir`. `telling` are the words that say what each template is
        about, to which others can be compared. An unchanged library embeds and learns nothing. Raises
        `IndexEmpty`, `IndexUnavailable` or `ProviderError`.
        """
        if not library.templates:
            raise IndexEmpty(f"adapter {adapter!r} has no templates to match questions with")
        use_one_thread()
        first = not await asyncio.to_thread(state_dir.exists)
        await asyncio.gather(embedder.warm(), *([store.warm()] if first else []))
        index = TemplateIndex(adapter, library, embedder.fingerprint, store)
        resident = search == "resident" or (
            search == "auto" and len(index.entries) <= resident_max_vectors
        )
        report, vectors = await _synchronized(index, embedder, state_dir, resident=resident)
        head, learnt = await head_for(index, library, vectors, embedder, state_dir)
        texts = (entry.text.lower() for entry in index.entries)
        words = await LibraryVectors.learn(telling or {}, embedder, state_dir, index.name)
        speller = await asyncio.to_thread(Speller, texts, library.domain.synonyms)
        return cls(
            tuple(library.templates),
            head,
            head.size > _INLINE_WEIGHTS,
            embedder,
            speller,
            ExampleSearch(index, vectors),
            index.mask,
            words,
            {
                "vectors": len(index.entries),
                "search": "resident" if resident else "chroma",
                "embedded": report.embedded,
                "reused": report.reused,
                "removed": report.removed,
                "head": "learnt" if learnt else "read",
            },
        )

    def readings(self, text: str) -> tuple[str, ...]:
        """Return the texts to embed for a question: without its values, and with slips put right.

        Empty for a question of blanks; one text where there is no slip.
        """
        return self._read(text, mask)

    def _read(self, text: str, masked: Callable[[str], str]) -> tuple[str, ...]:
        plain = masked(text)
        if not plain:
            return ()
        corrected = self._speller.reread(text.lower())
        # What stands in a list of values is put right there.
        again = plain if corrected == text.lower() else masked(corrected)
        return tuple(dict.fromkeys((plain, again)))

    async def rank(self, text: str, *, limit: int) -> Ranking:
        """Return the `limit` likeliest; raise `ProviderError` or `IndexUnavailable`."""
        readings = self._read(text, self._mask)
        if not readings:
            return Ranking((), out_of_scope=1.0)
        # One by one: each may be known already, and the provider makes one batch of them.
        vectors = np.vstack(await asyncio.gather(*(self._embedder.embed([r]) for r in readings)))
        if self._is_large:
            shares = await asyncio.to_thread(self._head.probabilities, vectors, readings)
        else:
            shares = self._head.probabilities(vectors, readings)
        # The earlier of two equals first.
        best = np.argsort(-shares[:-1], kind="stable")[:limit].tolist()
        templates = [self._templates[place] for place in best]
        nearest = await self._search.nearest(vectors, templates)
        candidates = tuple(
            TemplateCandidate(template, shares.item(place), similarity, text)
            for template, place, (similarity, text) in zip(templates, best, nearest, strict=True)
        )
        return Ranking(candidates, out_of_scope=shares.item(-1), readings=readings)

    async def nearness(
        self, text: str, words: Sequence[str], templates: Sequence[str]
    ) -> dict[str, dict[str, Nearness]]:
        """How near words of a question are to each template's; raises as `rank`."""
        readings = [self._mask(text)]
        readings += [self._mask(_without(text, word)) or readings[0] for word in words]
        texts = [*words, *readings]
        vectors = np.vstack(await asyncio.gather(*(self._embedder.embed([t]) for t in texts)))
        singles, wholes = vectors[: len(words)], vectors[len(words) :]
        found: dict[str, dict[str, Nearness]] = {}
        for template in templates:
            near = self._words.near(singles, template)
            likeness = await self._search.similarities(wholes, template)
            gains = likeness[1:] - likeness[0]
            found[template] = {
                word: one._replace(without=float(gain))
                for word, one, gain in zip(words, near, gains, strict=True)
            }
        return found

    def stats(self) -> dict[str, Any]:
        """What is indexed and how it is searched, as JSON-ready data."""
        return dict(self._stats)


async def _synchronized(
    index: TemplateIndex, embedder: Embedder, state_dir: Path, *, resident: bool
) -> tuple[SyncReport, Vectors | None]:
    if not resident:
        return await index.sync(embedder), None
    path = state_dir / f"{index.name}.vectors.npz"
    kept = await asyncio.to_thread(load_snapshot, path, index.ids, index.generation)
    if kept is not None:
        return SyncReport(0, len(index.ids), 0), kept
    report = await index.sync(embedder)
    try:
        vectors = await index.vectors()
    except VectorsLost:
        report = await index.sync(embedder)
        vectors = await index.vectors()
    await asyncio.to_thread(index.mark_generation)
    await asyncio.to_thread(save_snapshot, path, index.ids, index.generation, vectors)
    return report, vectors
