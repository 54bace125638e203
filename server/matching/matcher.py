"""An adapter's library, open for questions."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal, Self

import numpy as np

from server.core.ports import Embedder, Vectors
from server.errors import IndexEmpty
from server.library.model import Library
from server.matching.index.store import TemplateStore
from server.matching.index.template_index import (
    ExampleSearch,
    SyncReport,
    TemplateIndex,
    VectorsLost,
    load_snapshot,
    save_snapshot,
)
from server.matching.masking import mask
from server.matching.model.head_store import head_for
from server.matching.model.training import use_one_thread
from server.matching.model.zero_shot import Scorer
from server.matching.selection import Ranking, TemplateCandidate
from server.text.spelling import Speller

SearchMode = Literal["auto", "resident", "chroma"]

_INLINE_WEIGHTS: Final = 1_000_000
"""Weights that are multiplied in well under a millisecond, which a thread would double."""


class Matcher:
    """Ranks templates by how likely a question means them. Open with `Matcher.open`."""

    def __init__(
        self,
        templates: Sequence[str],
        head: Scorer,
        embedder: Embedder,
        speller: Speller,
        search: ExampleSearch,
        stats: dict[str, Any],
    ) -> None:
        self._templates = tuple(templates)
        self._head = head
        self._is_large = head.size > _INLINE_WEIGHTS
        self._embedder = embedder
        self._speller = speller
        self._search = search
        self._stats = stats

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
    ) -> Self:
        """Bring the index in step with the library, and learn its head where that is due.

        Heads are kept in `state_dir`. An unchanged library embeds and learns nothing.

        Raises:
            IndexEmpty: the library has no templates.
            IndexUnavailable: the vector store cannot be used.
            ProviderError: the templates could not be embedded.
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
        speller = await asyncio.to_thread(
            Speller, (entry.masked for entry in index.entries), library.domain.synonyms
        )
        return cls(
            tuple(library.templates),
            head,
            embedder,
            speller,
            ExampleSearch(index, vectors),
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
        """The texts to embed for a question: without its values, and with its slips put right.

        Empty for a question of blanks; one text where there is no slip.
        """
        masked = mask(text)
        if not masked:
            return ()
        reread = self._speller.reread(masked)
        return (masked,) if reread == masked else (masked, reread)

    async def rank(self, text: str, *, limit: int, vectors: Vectors | None = None) -> Ranking:
        """The `limit` likeliest templates for a question.

        `vectors` are those of `readings(text)`, for a caller that has embedded them
        along with something else.

        Raises:
            ProviderError: the question could not be embedded.
            IndexUnavailable: Chroma is the search, and cannot be used.
        """
        readings = self.readings(text)
        if not readings:
            return Ranking((), out_of_scope=1.0)
        if vectors is None:
            # One by one: each may be known already, and the provider makes one batch of them.
            parts = await asyncio.gather(*(self._embedder.embed([r]) for r in readings))
            vectors = np.vstack(parts)
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

    def stats(self) -> dict[str, Any]:
        """What is indexed and how it is searched, as JSON-ready data."""
        return dict(self._stats)

    async def close(self) -> None:
        """Nothing of its own to give back: store and embedder belong to who opened them."""


async def _synchronized(
    index: TemplateIndex, embedder: Embedder, state_dir: Path, *, resident: bool
) -> tuple[SyncReport, Vectors | None]:
    """The index in step with its library, and its vectors where they are to be resident."""
    if not resident:
        return await index.sync(embedder), None
    path = state_dir / f"{index.name}.vectors.npz"
    kept = await asyncio.to_thread(load_snapshot, path, index.ids, index.generation)
    if kept is not None:
        return SyncReport(embedded=0, reused=len(index.ids), removed=0), kept
    report = await index.sync(embedder)
    try:
        vectors = await index.vectors()
    except VectorsLost:
        report = await index.sync(embedder)
        vectors = await index.vectors()
    await asyncio.to_thread(index.mark_generation)
    await asyncio.to_thread(save_snapshot, path, index.ids, index.generation, vectors)
    return report, vectors
