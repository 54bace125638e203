"""An adapter's library, open for questions."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np

from server.core.ports import Embedder, Vectors
from server.errors import IndexEmpty, IndexUnavailable
from server.library.model import Library
from server.matching.coordination import ALONE, Coordination
from server.matching.index.store import TemplateStore, learning_lock
from server.matching.index.template_index import (
    IndexEntry,
    SyncReport,
    TemplateIndex,
    VectorsLost,
    digest_of,
    load_snapshot,
    save_snapshot,
)
from server.matching.large.background_head import BackgroundHead
from server.matching.large.index import LargeIndex, sentence_of
from server.matching.large.search import LargeExampleSearch
from server.matching.masking import ValueMask, mask
from server.matching.model.head_store import everyday_negatives, head_for
from server.matching.model.training import use_one_thread
from server.matching.model.zero_shot import Scorer
from server.matching.nearest import NearestText, nearest_of
from server.matching.nearness import LibraryVectors, Nearness
from server.matching.selection import Ranking, TemplateCandidate
from server.storage.arrays import Arrays, ArrayStore, NotKept
from server.text.spelling import Speller

SearchMode = Literal["auto", "resident", "chroma"]

_INLINE_WEIGHTS: Final = 1_000_000
"""Weights that are multiplied in well under a millisecond, which a thread would double."""


_KEPT_READINGS: Final = 64
"""Questions whose readings are kept: one is read several times while it is decided."""
_NO_COUNTER: Final = NearestText(0.0, "")
_WRITTEN: Final = 0.97
"""How likely a question means a template, at the least, that has it as an example."""


class ExampleSearch:
    """Finds the example of each candidate that is nearest to a question.

    Vectors come from memory, or from Chroma by id: its own neighbour search is approximate and
    would now and then name another example.
    """

    def __init__(self, index: TemplateIndex, vectors: Vectors | None) -> None:
        """`vectors` are those of the index, where they are to be kept in memory."""
        self.entries = index.entries
        self._source = index if vectors is None else vectors
        self._groups: dict[str, tuple[slice, Sequence[str]]] = {}
        self._counters: dict[str, _Counters] = {}
        self._written: dict[str, tuple[str, ...]] = {}
        for entry in index.entries:
            if entry.kind == "example":
                sentence = sentence_of(entry.masked)
                owners = self._written.get(sentence, ())
                self._written[sentence] = tuple(dict.fromkeys((*owners, entry.template_id)))
        start = 0
        for (template, counter), group in groupby(index.entries, key=_owner):
            # Of texts that are compared as the same one, the first is shown for all.
            first: dict[str, str] = {}
            members = list(group)
            texts = [first.setdefault(entry.masked, entry.text) for entry in members]
            places = slice(start, start + len(texts))
            start += len(texts)
            if not counter:
                self._groups[template] = places, texts
                own = {e.masked: place for place, e in enumerate(members) if e.kind == "example"}
                continue
            of_examples = self._groups[template][0]
            if own:
                of_examples = slice(of_examples.start, of_examples.start + max(own.values()) + 1)
            refused = {e.masked: e.text for e in members if e.masked not in own}
            self._counters[template] = _Counters(of_examples, places, texts, refused)

    def written_for(self, readings: Sequence[str]) -> frozenset[str]:
        """Return the templates of which a question is an example, but for its values."""
        found = (self._written.get(sentence_of(reading), ()) for reading in readings)
        return frozenset(owner for owners in found for owner in owners)

    async def nearest(self, readings: Vectors, templates: Sequence[str]) -> list[NearestText]:
        """Return the text of each template that is nearest to any of the readings (n, d)."""
        groups = [self._groups[template] for template in templates]
        parts = await self._vectors_at([places for places, _ in groups])
        return [
            nearest_of(vectors, texts, readings)
            for (_, texts), vectors in zip(groups, parts, strict=True)
        ]

    async def counters(
        self, readings: Sequence[str], vectors: Vectors, templates: Sequence[str]
    ) -> dict[str, NearestText]:
        """Return the counter example of each template that is nearer than any of its examples.

        With it goes how much nearer it is: 1 where the question says the same. `vectors` (n, d)
        are those of the `readings`.
        """
        found: dict[str, NearestText] = {}
        some = [(name, self._counters[name]) for name in templates if name in self._counters]
        if not some:
            return found
        parts = await self._vectors_at([p for _, one in some for p in (one.examples, one.places)])
        for (name, one), own, counters in zip(some, parts[::2], parts[1::2], strict=True):
            nearest = nearest_of(counters, one.texts, vectors)
            nearer = nearest.similarity - float((own @ vectors.T).max())
            same = next((text for text in readings if text in one.refused), None)
            if same is not None:
                found[name] = NearestText(1.0, one.refused[same])
            elif nearer > 0:
                found[name] = NearestText(nearer, nearest.text)
        return found

    async def _vectors_at(self, places: Sequence[slice]) -> list[Vectors]:
        if not isinstance(self._source, TemplateIndex):
            return [self._source[part] for part in places]
        ids = [self._source.ids[part] for part in places]
        # One that stands in two parts is read once.
        every = list(dict.fromkeys(one for part in ids for one in part))
        vectors, at = await self._source.vectors(every), {key: n for n, key in enumerate(every)}
        return [vectors[[at[one] for one in part]] for part in ids]

    async def vectors_at(self, places: Sequence[int]) -> Vectors:
        """Return the vectors of some of the `entries`, (n, d), in the order of their places."""
        if isinstance(self._source, TemplateIndex):
            return await self._source.vectors([self._source.ids[place] for place in places])
        return self._source[np.asarray(places, np.intp)]

    async def similarities(self, readings: Vectors, template: str) -> Vectors:
        """Return how near each of the readings (n, d) is to the nearest text of a template."""
        places, _ = self._groups[template]
        if isinstance(self._source, TemplateIndex):
            vectors = await self._source.vectors(self._source.ids[places])
        else:
            vectors = self._source[places]
        nearest: Vectors = (readings @ vectors.T).max(axis=1)
        return nearest


class _Counters(NamedTuple):
    """Where a template's examples and its counter examples stand in the index.

    `refused` are the counter examples, masked, that are not also examples when masked.
    """

    examples: slice
    places: slice
    texts: Sequence[str]
    refused: Mapping[str, str]


def _owner(entry: IndexEntry) -> tuple[str, bool]:
    return entry.template_id, entry.kind == "counter"


def _in_order(library: Library) -> tuple[Sequence[str], Mapping[str, int]]:
    """The ids of templates, and the place of each."""
    names = tuple(library.templates)
    return names, {name: place for place, name in enumerate(names)}


def _likeliest(shares: Vectors, limit: int) -> list[int]:
    """The places of the highest shares; of two equals the earlier is first."""
    # A large library gives shares to few of its templates.
    likely = np.flatnonzero(shares)
    if len(likely) < limit:
        likely = np.arange(len(shares))
    best: list[int] = likely[np.argsort(-shares[likely], kind="stable")[:limit]].tolist()
    return best


def _with_owners(shares: Vectors, places: Sequence[int]) -> Vectors:
    """The probabilities of a question that is an example of the templates at `places`."""
    own = shares[places].sum()
    if own >= _WRITTEN:
        return shares
    raised: Vectors = shares * ((1 - _WRITTEN) / (1 - own))
    raised[places] = shares[places] * (_WRITTEN / own) if own > 0 else _WRITTEN / len(places)
    return raised


def _read(text: str, masked: Callable[[str], str], speller: Speller) -> tuple[str, ...]:
    plain = masked(text)
    if not plain:
        return ()
    corrected = speller.reread(text.lower())
    # What stands in a list of values is put right there.
    again = plain if corrected == text.lower() else masked(corrected)
    return tuple(dict.fromkeys((plain, again)))


def _without(text: str, word: str) -> str:
    return re.sub(rf"\b{re.escape(word)}\b", " ", text, flags=re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Matcher:
    """Ranks templates by how likely a question means them. Open with `Matcher.open`.

    `index_name` names its collection, and its files in the folder of heads.
    """

    index_name: str
    _templates: Sequence[str]
    _places: Mapping[str, int]
    _head: Scorer
    _embedder: Embedder
    _speller: Speller
    _search: ExampleSearch | LargeExampleSearch
    _mask: ValueMask
    _words: LibraryVectors
    _stats: Mapping[str, Any]
    _own_readings: Callable[[str], tuple[str, ...]] = field(init=False)
    """The readings of a question, with what the library lists masked too."""

    def __post_init__(self) -> None:
        read = lru_cache(_KEPT_READINGS)(partial(_read, masked=self._mask, speller=self._speller))
        object.__setattr__(self, "_own_readings", read)

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
        coordination: Coordination = ALONE,
    ) -> Self:
        """Bring the index in step with the library, and learn its head where that is due.

        Heads are kept in `state_dir`. `telling` are the words that say what each template is
        about, to which others can be compared. An unchanged library embeds and learns nothing;
        of processes in `coordination`, one does that while the others wait.
        Raises `IndexEmpty`, `IndexUnavailable` or `ProviderError`.
        """
        if not library.templates:
            raise IndexEmpty(f"adapter {adapter!r} has no templates to match questions with")
        use_one_thread()
        first = coordination.artefacts is None and not await asyncio.to_thread(state_dir.exists)
        await asyncio.gather(embedder.warm(), *([store.warm()] if first else []))
        named = adapter, library, embedder.fingerprint, store
        index = await asyncio.to_thread(TemplateIndex, *named)
        resident = search == "resident" or (
            search == "auto" and len(index.entries) <= resident_max_vectors
        )
        if not resident and store.is_for_sessions:
            raise IndexUnavailable(
                f"adapter {adapter!r} looks its candidates up in an embedded ChromaDB, which is "
                "for one process: set vector_store.mode: server or matching.search: resident, or "
                "serve with one worker"
            )
        given = index, library, embedder, telling or {}
        kept = ArrayStore(state_dir, coordination.artefacts)
        try:
            state = await _read_or_learn(*given, kept.reading(), resident=resident)
        except NotKept:
            async with coordination.alone(learning_lock(adapter)):
                state = await _read_or_learn(*given, kept, resident=resident)
        report, vectors, head, learnt, words = state
        texts = (entry.text.lower() for entry in index.entries)
        speller = await asyncio.to_thread(Speller, texts, library.domain.synonyms)
        return cls(
            index.name,
            *_in_order(library),
            head,
            embedder,
            speller,
            await asyncio.to_thread(ExampleSearch, index, vectors),
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

    @classmethod
    async def open_large(
        cls,
        adapter: str,
        library: Library,
        embedder: Embedder,
        *,
        state_dir: Path,
        telling: Callable[[str], Sequence[str]],
        coordination: Coordination = ALONE,
    ) -> Self:
        """Open a library of many thousand templates, whose texts stand in files of `state_dir`.

        Where no head was kept, one is learnt in the background; `close` ends that. `telling` gives
        the words that say what a template is about. Of the processes of a machine in
        `coordination`, one embeds and learns while the others wait. Raises as `open`.
        """
        use_one_thread()
        await embedder.warm()
        kept = ArrayStore(state_dir)
        async with coordination.alone(learning_lock(adapter), here=True):
            index, report = await LargeIndex.open(adapter, library, embedder, state_dir)
            negatives = await everyday_negatives(library, embedder, kept)
            words = index.vocabulary
            near = await LibraryVectors.learn_words(words, telling, embedder, kept, index.name)
        head = BackgroundHead(
            index, *negatives, partial(coordination.alone, learning_lock(adapter), here=True)
        )
        await head.open(state_dir)
        names, places = _in_order(library)
        return cls(
            index.name,
            names,
            places,
            head,
            embedder,
            await asyncio.to_thread(Speller.of_counts, words, library.domain.synonyms),
            LargeExampleSearch(index, places),
            index.mask,
            near,
            {
                "vectors": len(index),
                "search": "files",
                "embedded": report.embedded,
                "reused": report.reused,
                "removed": report.removed,
            },
        )

    def readings(self, text: str) -> tuple[str, ...]:
        """Return the texts to embed for a question: without its values, and with slips put right.

        Empty for a question of blanks; one text where there is no slip.
        """
        return _read(text, mask, self._speller)

    def is_example(self, text: str) -> bool:
        """Return whether a template has the question among its examples, but for its values."""
        return bool(self._search.written_for(self._own_readings(text)))

    async def rank(self, text: str, *, limit: int) -> Ranking:
        """Return the `limit` likeliest; raise `ProviderError` or `IndexUnavailable`."""
        readings = self._own_readings(text)
        if not readings:
            return Ranking((), out_of_scope=1.0)
        # One by one: each may be known already, and the provider makes one batch of them.
        vectors = np.vstack(await asyncio.gather(*(self._embedder.embed([r]) for r in readings)))
        if self._head.size > _INLINE_WEIGHTS:
            shares = await asyncio.to_thread(self._head.probabilities, vectors, readings)
        else:
            shares = self._head.probabilities(vectors, readings)
        if owners := self._search.written_for(readings):
            shares = _with_owners(shares, sorted(self._places[name] for name in owners))
        best = _likeliest(shares[:-1], limit)
        templates = [self._templates[place] for place in best]
        nearest = await self._search.nearest(vectors, templates)
        counters = await self._search.counters(readings, vectors, templates)
        candidates = tuple(
            TemplateCandidate(
                template, shares.item(place), *near, *counters.get(template, _NO_COUNTER)
            )
            for template, place, near in zip(templates, best, nearest, strict=True)
        )
        return Ranking(candidates, out_of_scope=shares.item(-1), readings=readings)

    @property
    def vocabulary(self) -> Sequence[str]:
        """The words of its texts, the commonest first."""
        return self._speller.words

    @property
    def is_learning(self) -> bool:
        """Whether the nearest examples answer, while the head is being learnt."""
        return isinstance(self._head, BackgroundHead) and self._head.state == "learning"

    def when_learnt(self, told: Callable[[], None]) -> None:
        """Call `told` when a head that is being learnt has come to serve."""
        if isinstance(self._head, BackgroundHead):
            self._head.when_learnt(told)

    async def learnt(self) -> None:
        """Wait for a head that is being learnt."""
        if isinstance(self._head, BackgroundHead):
            await self._head.learnt()

    async def close(self) -> None:
        """Stop learning."""
        if isinstance(self._head, BackgroundHead):
            await self._head.close()

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

    @property
    def entries(self) -> Sequence[IndexEntry]:
        """The texts of the index: of each template, its examples, description and counters."""
        return self._search.entries

    @property
    def encoder(self) -> str:
        """The fingerprint of what makes the vectors."""
        return self._embedder.fingerprint

    async def vectors_at(self, places: Sequence[int]) -> Vectors:
        """Return the vectors of some of the `entries`, (n, d); raise `IndexUnavailable`."""
        return await self._search.vectors_at(places)

    async def embed(self, text: str) -> Vectors:
        """Return a vector for each reading of a question, (n, d), n being 0 for blanks.

        Raises `ProviderError`.
        """
        readings = self._own_readings(text)
        if not readings:
            return np.zeros((0, 0), np.float32)
        return np.vstack(await asyncio.gather(*(self._embedder.embed([r]) for r in readings)))

    def stats(self) -> dict[str, Any]:
        """What is indexed and how it is searched, as JSON-ready data."""
        head = self._head
        return {**self._stats, **(head.stats() if isinstance(head, BackgroundHead) else {})}


async def _read_or_learn(
    index: TemplateIndex,
    library: Library,
    embedder: Embedder,
    telling: Mapping[str, Sequence[str]],
    kept: ArrayStore,
    *,
    resident: bool,
) -> tuple[SyncReport, Vectors | None, Scorer, bool, LibraryVectors]:
    """What there is of an index, its head and its words; made where it is not there, or raises
    `NotKept`.
    """
    async with index.store.session() if kept.may_make else nullcontext():
        report, vectors = await _synchronized(index, embedder, kept, resident=resident)
        head, learnt = await head_for(index, library, vectors, embedder, kept)
    words = await LibraryVectors.learn(telling, embedder, kept, index.name)
    return report, vectors, head, learnt, words


async def _synchronized(
    index: TemplateIndex, embedder: Embedder, kept: ArrayStore, *, resident: bool
) -> tuple[SyncReport, Vectors | None]:
    if not resident:
        kept.check_may_make()
        return await index.sync(embedder), None
    name = f"{index.name}.vectors"
    path = kept.folder / f"{name}.npz"
    found = await asyncio.to_thread(load_snapshot, path, index.ids, index.generation)
    if found is None:
        found = _fitting(await kept.read_shared(name, digest_of(index.ids)), len(index.ids))
    if found is not None:
        return SyncReport(0, len(index.ids), 0), found
    kept.check_may_make()
    report = await index.sync(embedder)
    try:
        vectors = await index.vectors()
    except VectorsLost:
        report = await index.sync(embedder)
        vectors = await index.vectors()
    await asyncio.to_thread(index.mark_generation)
    await asyncio.to_thread(save_snapshot, path, index.ids, index.generation, vectors)
    await kept.share(name, digest_of(index.ids), vectors=vectors)
    return report, vectors


def _fitting(stored: Arrays | None, count: int) -> Vectors | None:
    vectors: Vectors | None = (stored or {}).get("vectors")
    if vectors is None or vectors.ndim != 2 or len(vectors) != count:
        return None
    return vectors if bool(np.isfinite(vectors).all()) else None
