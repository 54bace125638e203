"""The texts of a large library, and their vectors in a file.

What other libraries hold in memory for each text (its id, its masked form, its vector) is made
again for the few templates that a question is about.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Any, Final, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Embedder, Vectors
from server.errors import IndexUnavailable
from server.library.model import Library, Template
from server.matching.index.store import collection_name
from server.matching.index.template_index import (
    IndexEntry,
    SyncReport,
    digest_of,
    template_entries,
)
from server.matching.large.vector_file import Ids, VectorFile
from server.matching.masking import ValueMask
from server.matching.model.head import BUCKETS, Rarity, count_words, rarity_of
from server.storage.arrays import read_arrays, write_arrays
from server.text.tokens import tokens

_log = logging.getLogger(__name__)

_VERSION: Final = "1"
"""Changes with what is kept of an index, so that older files are made anew."""
AT_ONCE: Final = 500
"""Templates that are worked on together: some twenty megabytes of what a head learns from."""
_EMBEDDED_AT_ONCE: Final = 1024
_SAID_EVERY_S: Final = 30.0
_MOST_STALE: Final = 2
"""A file with so many times the rows that are needed is written anew."""
_OWNER: Final = "adapter"
"""The ending of a file that says whose an index is."""
_PARTS: Final = ("rows", "bounds", "written", "owners", "words", "said", "counts")


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is kept of an index; all arrays but those of the vectors themselves.

    `rows` are the places of all texts in the file of vectors, and `bounds` (templates + 1,) where
    those of each template begin. `written` are hashes of examples, sorted, and `owners` the
    templates of these. `words`, `said` and `counts`: see `vocabulary` and `rarity`.
    """

    rows: NDArray[np.int32]
    bounds: NDArray[np.int32]
    written: NDArray[np.uint64]
    owners: NDArray[np.int32]
    words: NDArray[np.uint8]
    said: NDArray[np.int32]
    counts: NDArray[np.float32]


class Chunk(NamedTuple):
    """Some templates that follow each other, with their texts as they are compared.

    `owners` are places in the library, and `kinds` those of `IndexEntry`.
    """

    first: int
    texts: list[str]
    owners: NDArray[np.int64]
    kinds: NDArray[np.str_]
    rows: slice


class LargeIndex:
    """The texts and vectors of one adapter's library. Open with `LargeIndex.open`."""

    def __init__(self, name: str, library: Library, mask: ValueMask, file: VectorFile) -> None:
        self.name, self.mask, self.templates = name, mask, tuple(library.templates.values())
        self._file = file
        self._kept: _Kept | None = None

    @classmethod
    async def open(
        cls, adapter: str, library: Library, embedder: Embedder, state_dir: Path
    ) -> "tuple[LargeIndex, SyncReport]":
        """Bring the files in step with the library, and embed what they lack.

        Raises:
            IndexUnavailable: the files cannot be read or written.
            ProviderError: a text could not be embedded.
        """
        name = collection_name(adapter, library.domain.name, embedder.fingerprint)
        mask = await asyncio.to_thread(ValueMask, library)
        try:
            file = await asyncio.to_thread(VectorFile, state_dir / name)
            (state_dir / f"{name}.{_OWNER}").write_text(adapter, "utf-8")
            index = cls(name, library, mask, file)
            return index, await index._synchronise(library, embedder, state_dir)
        except OSError as failed:
            raise IndexUnavailable(f"{state_dir / name} cannot be used: {failed}") from failed

    async def _synchronise(
        self, library: Library, embedder: Embedder, state_dir: Path
    ) -> SyncReport:
        path = state_dir / f"{self.name}.index.npz"
        key = await asyncio.to_thread(_key_of, library, embedder.fingerprint)
        stored = await asyncio.to_thread(read_arrays, path, key)
        if stored is not None and stored.keys() >= {*_PARTS}:
            kept = _Kept(**{part: stored[part] for part in _PARTS})
            if int(kept.rows.max(initial=-1)) < len(self._file):
                self._kept = kept
                return SyncReport(0, len(kept.rows), 0)
        before = len(self._file)
        self._kept = await self._made(embedder)
        if len(self._file) > _MOST_STALE * len(self._kept.rows):
            self._file.clear()
            self._kept = await self._made(embedder)
        arrays = {part: getattr(self._kept, part) for part in _PARTS}
        await asyncio.to_thread(partial(write_arrays, path, key, **arrays))
        added = len(self._file) - before
        return SyncReport(added, len(self._kept.rows) - added, 0)

    async def _made(self, embedder: Embedder) -> _Kept:
        """Read all texts once, and embed those that the file has no vector of."""
        known = np.sort(self._file.ids())
        ids, bounds = list[Ids](), [0]
        written, owners = list[int](), list[int]()
        words, counts, texts = Counter[str](), np.zeros(BUCKETS, np.float32), 0
        began = said = monotonic()
        for first in range(0, len(self.templates), AT_ONCE):
            read = await asyncio.to_thread(self._read, first)
            own, at = np.unique(read.ids, return_index=True)
            new = ~np.isin(own, known)
            missing = at[new].tolist()
            for start in range(0, len(missing), _EMBEDDED_AT_ONCE):
                some = missing[start : start + _EMBEDDED_AT_ONCE]
                vectors = await embedder.embed([read.masked[place] for place in some])
                await asyncio.to_thread(self._file.append, read.ids[some], vectors)
                if monotonic() - said > _SAID_EVERY_S:
                    said = monotonic()
                    share = (first + AT_ONCE * start / len(missing)) / len(self.templates)
                    _log.info(
                        "%s: %.0f%% is embedded, after %.0f s", self.name, 100 * share, said - began
                    )
            known = np.sort(np.concatenate([known, own[new]]))
            ids.append(read.ids)
            bounds += (bounds[-1] + np.cumsum(read.sizes)).tolist()
            written += read.written
            owners += read.owners
            words.update(read.words)
            counts += read.counts
            texts += len(read.masked)
        every, of_file = np.concatenate(ids), self._file.ids()
        order = np.argsort(of_file, kind="stable")
        rows = order[np.searchsorted(of_file, every, sorter=order)]
        hashes = np.array(written, np.uint64)
        sorted_by = np.argsort(hashes, kind="stable")
        common = words.most_common()
        return _Kept(
            rows=rows.astype(np.int32),
            bounds=np.array(bounds, np.int32),
            written=hashes[sorted_by],
            owners=np.array(owners, np.int32)[sorted_by],
            words=np.frombuffer("\n".join(word for word, _ in common).encode(), np.uint8),
            said=np.array([count for _, count in common], np.int32),
            counts=counts,
        )

    def _read(self, first: int) -> "_Read":
        masked, sizes, written, owners = list[str](), list[int](), list[int](), list[int]()
        words = Counter[str]()
        for place, template in enumerate(self.templates[first : first + AT_ONCE], first):
            entries = self.entries_of(template)
            sizes.append(len(entries))
            for entry in entries:
                masked.append(entry.masked)
                words.update(tokens(entry.text.lower()))
                if entry.kind == "example":
                    written.append(_hash(sentence_of(entry.masked)))
                    owners.append(place)
        ids = np.array([_hash(text) for text in masked], np.uint64)
        return _Read(masked, ids, sizes, written, owners, words, count_words(masked))

    @property
    def kept(self) -> _Kept:
        if self._kept is None:
            raise IndexUnavailable(f"{self.name} is not open")
        return self._kept

    def __len__(self) -> int:
        return len(self.kept.rows)

    @property
    def dimensions(self) -> int:
        return self._file.dimensions

    @property
    def key(self) -> str:
        """What changes with any of the texts, or with their order."""
        ids = self._file.ids()[self.kept.rows]
        return digest_of(
            (_VERSION, blake2b(ids.tobytes() + self.kept.bounds.tobytes()).hexdigest())
        )

    @property
    def rarity(self) -> Rarity:
        """How rare words are in its texts."""
        return rarity_of(self.kept.counts, len(self))

    @property
    def vocabulary(self) -> dict[str, int]:
        """Every word of its texts with how often it is said, the commonest first."""
        words = self.kept.words.tobytes().decode()
        return dict(zip(words.split("\n"), self.kept.said.tolist(), strict=True)) if words else {}

    def entries_of(self, template: Template) -> list[IndexEntry]:
        """The texts of a template, in the order of their vectors."""
        return list(dict.fromkeys(template_entries(template, self.mask)))

    def rows_of(self, place: int) -> slice:
        """Where the texts of a template stand among all."""
        return slice(int(self.kept.bounds[place]), int(self.kept.bounds[place + 1]))

    def spread(self, most: int) -> NDArray[np.intp]:
        """The places of so many texts at the most, taken from all over the library."""
        count = len(self)
        return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.intp))

    def vectors_at(self, places: slice | Sequence[int] | NDArray[np.intp]) -> Vectors:
        """Vectors of some of all texts, (n, d); raises `IndexUnavailable`. Blocks."""
        try:
            return self._file.read(self.kept.rows[places].astype(np.intp))
        except (OSError, ValueError) as failed:
            raise IndexUnavailable(f"vectors of {self.name} cannot be read: {failed}") from failed

    def owners_of(self, sentences: Iterable[str]) -> list[int]:
        """The templates that have one of these sentences as an example."""
        kept, found = self.kept, dict[int, None]()
        for sentence in sentences:
            hashed = np.uint64(_hash(sentence))
            first, last = (int(np.searchsorted(kept.written, hashed, s)) for s in ("left", "right"))
            found |= dict.fromkeys(kept.owners[first:last].tolist())
        return list(found)

    def chunks(self) -> Iterator[Chunk]:
        """All texts as they are compared, some templates at a time. Blocks."""
        for first in range(0, len(self.templates), AT_ONCE):
            texts, owners, kinds = list[str](), list[int](), list[str]()
            some = self.templates[first : first + AT_ONCE]
            for place, template in enumerate(some, first):
                entries = self.entries_of(template)
                texts += [entry.masked for entry in entries]
                kinds += [entry.kind for entry in entries]
                owners += [place] * len(entries)
            start, end = self.rows_of(first).start, self.rows_of(first + len(some) - 1).stop
            yield Chunk(
                first, texts, np.array(owners, np.int64), np.array(kinds), slice(start, end)
            )


class _Read(NamedTuple):
    masked: list[str]
    ids: Ids
    sizes: list[int]
    written: list[int]
    owners: list[int]
    words: Mapping[str, int]
    counts: NDArray[np.float32]


class LargeEntries(Sequence[IndexEntry]):
    """The texts of an index in their order, each made when it is asked for."""

    def __init__(self, index: LargeIndex) -> None:
        self._index = index

    def __len__(self) -> int:
        return len(self._index)

    @overload
    def __getitem__(self, at: int) -> IndexEntry: ...
    @overload
    def __getitem__(self, at: slice) -> list[IndexEntry]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        bounds = self._index.kept.bounds
        place = int(np.searchsorted(bounds, at, "right")) - 1
        return self._index.entries_of(self._index.templates[place])[at - int(bounds[place])]

    def __iter__(self) -> Iterator[IndexEntry]:
        for template in self._index.templates:
            yield from self._index.entries_of(template)


def drop_unused_files(state_dir: Path, adapter: str, used: Collection[str]) -> None:
    """Delete the files of an adapter's large libraries that are not `used`. Blocks."""
    for owner in state_dir.glob(f"*.{_OWNER}"):
        if owner.stem not in used and owner.read_text("utf-8") == adapter:
            for path in state_dir.glob(f"{owner.stem}.*"):
                path.unlink(missing_ok=True)


def _key_of(library: Library, fingerprint: str) -> str:
    """What the texts of a library and their masks are made of."""
    digest = blake2b(f"{_VERSION} {fingerprint}".encode(), digest_size=16)
    for entity in library.domain.entities.values():
        digest.update(repr((entity.name, dict(entity.values))).encode("utf-8", "replace"))
    for one in library.templates.values():
        parts: list[object] = [
            one.id,
            one.function_name,
            one.description,
            one.nl_examples,
            one.counter_examples,
        ]
        for each in one.parameters:
            parts += [each.name, each.type, each.enum, each.example, each.format]
            parts += each.choices
        digest.update(repr(parts).encode("utf-8", "replace"))
    return digest.hexdigest()


def sentence_of(masked: str) -> str:
    """A text by which sentences are compared that end in other signs or in none."""
    return masked.rstrip(" ?!.")


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")
