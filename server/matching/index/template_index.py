"""One adapter's vectors in Chroma, kept in step with its library.

The id of a vector is a hash of all that decides it: keeping in step compares two sets of ids.
"""

import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeVar

import numpy as np

from server.core.ports import Embedder, Vectors
from server.errors import IndexUnavailable
from server.library.model import Library, Template
from server.matching.index.store import OWNER, TemplateStore, collection_name, open_collection
from server.matching.masking import ValueMask
from server.storage.arrays import read_arrays, write_arrays

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

T = TypeVar("T")

_log = logging.getLogger(__name__)
_EMBEDDED_AT_ONCE: Final = 256
_READ_AT_ONCE: Final = 2000


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One text of a template: what the author wrote, and what is embedded in its stead."""

    template_id: str
    kind: Literal["example", "description", "counter"]
    text: str
    masked: str

    def key(self, fingerprint: str) -> str:
        """Return the id of the vector; another text, template, mask or encoder has another."""
        return digest_of((self.template_id, self.kind, self.text, self.masked, fingerprint))


def template_entries(template: Template, masked: ValueMask) -> Iterator[IndexEntry]:
    for example in template.nl_examples:
        yield IndexEntry(template.id, "example", example, masked(example))
    described = about = told_of(template)
    if not template.nl_examples:
        arguments = ", ".join(_in_words(parameter.name) for parameter in template.parameters)
        name = _in_words(template.function_name or template.id)
        said = " ".join(part for part in (template.description, arguments) if part)
        described = f"{name}: {said}" if said else name
    yield IndexEntry(template.id, "description", about, masked(described))
    for counter in template.counter_examples:
        yield IndexEntry(template.id, "counter", counter, masked(counter))


def told_of(template: Template) -> str:
    """What a template says of itself; one that says nothing still has a name."""
    return template.description or _in_words(template.id)


def _in_words(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").replace(".", " ")


@dataclass(frozen=True, slots=True)
class SyncReport:
    embedded: int
    reused: int
    removed: int


class VectorsLost(IndexUnavailable):
    """A vector is gone or is none: another process may have changed the same collection."""


class TemplateIndex:
    """The vectors of one adapter's library by one encoder; `ids` and `entries` go together."""

    def __init__(
        self, adapter: str, library: Library, fingerprint: str, store: TemplateStore
    ) -> None:
        self.name = collection_name(adapter, library.domain.name, fingerprint)
        self.mask = ValueMask(library)
        entries = (e for t in library.templates.values() for e in template_entries(t, self.mask))
        self.entries = tuple(dict.fromkeys(entries))
        self.ids = tuple(entry.key(fingerprint) for entry in self.entries)
        self.store = store
        self._collection: tuple[ClientAPI, Collection] | None = None
        self._about = {
            OWNER: adapter,
            "orbit_domain": library.domain.name,
            "orbit_encoder": fingerprint,
        }

    async def sync(self, embedder: Embedder) -> SyncReport:
        """Embed what is missing, take out what the library no longer has.

        Batches are written as they are made, so that a crash loses none of them. Raises
        `IndexUnavailable` or `ProviderError`.
        """
        there = await self.store.run(self._stored_ids)
        pairs = zip(self.ids, self.entries, strict=True)
        missing = [(key, entry) for key, entry in pairs if key not in there]
        for batch in _batches(missing, _EMBEDDED_AT_ONCE):
            vectors = await embedder.embed([entry.masked for _, entry in batch])
            await self.store.run(partial(self._write, batch=batch, vectors=vectors))
        stale = there - set(self.ids)
        if stale:
            await self.store.run(partial(self._remove, ids=stale))
        return SyncReport(len(missing), len(self.ids) - len(missing), len(stale))

    @property
    def generation(self) -> str | None:
        """What changes whenever the vectors do; None where others may change them."""
        return self.store.generation(self.name)

    def mark_generation(self) -> None:
        """Name the state the vectors are in, when it has no name yet and can get one. Blocks."""
        if self.generation is not None:
            return
        try:
            self.store.renew_generation(self.name)
        except OSError as full:
            _log.warning("the next start reads all vectors again: %s", full)

    async def vectors(self, ids: Sequence[str] | None = None) -> Vectors:
        """Return vectors of some ids or all entries, (n, d), in order, or raise `VectorsLost`."""
        parts = [
            await self.store.run(partial(self._read, ids=part))
            for part in _batches(self.ids if ids is None else ids, _READ_AT_ONCE)
        ]
        return np.vstack(parts)

    def _open(self, client: "ClientAPI") -> "Collection":
        if self._collection is None or self._collection[0] is not client:
            self._collection = client, open_collection(client, self.name, self._about)
        return self._collection[1]

    def _stored_ids(self, client: "ClientAPI") -> set[str]:
        return set(self._open(client).get(include=[])["ids"])

    def _write(
        self, client: "ClientAPI", batch: Sequence[tuple[str, IndexEntry]], vectors: Vectors
    ) -> None:
        self.store.renew_generation(self.name)
        self._open(client).upsert(
            ids=[key for key, _ in batch],
            embeddings=vectors,
            metadatas=[
                {"template": entry.template_id, "kind": entry.kind, "text": entry.text}
                for _, entry in batch
            ],
        )

    def _remove(self, client: "ClientAPI", ids: Iterable[str]) -> None:
        self.store.renew_generation(self.name)
        for batch in _batches(sorted(ids), _READ_AT_ONCE):
            self._open(client).delete(ids=list(batch))

    def _read(self, client: "ClientAPI", ids: Sequence[str]) -> Vectors:
        found = self._open(client).get(ids=list(ids), include=["embeddings"])
        vectors = np.asarray(found["embeddings"], np.float32)
        if len(found["ids"]) != len(ids) or not np.isfinite(vectors).all():
            raise VectorsLost(
                f"ChromaDB at {self.store.place} lost vectors of {self.name!r}; "
                "start again to rebuild them"
            )
        places = {key: place for place, key in enumerate(found["ids"])}
        return vectors[[places[key] for key in ids]]


def _batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def digest_of(parts: Iterable[str]) -> str:
    """Return a hash of some texts in their order, 32 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()


def load_snapshot(path: Path, ids: Sequence[str], generation: str | None) -> Vectors | None:
    """Return the vectors of `ids`, in order, as of `generation`; None when they are not there."""
    if generation is None:
        return None
    stored = read_arrays(path, digest_of([generation, *ids]))
    vectors: Vectors | None = (stored or {}).get("vectors")
    if vectors is None:
        return None
    fits = vectors.ndim == 2 and len(vectors) == len(ids) and vectors.dtype == np.float32
    return vectors if fits and bool(np.isfinite(vectors).all()) else None


def save_snapshot(path: Path, ids: Sequence[str], generation: str | None, vectors: Vectors) -> None:
    """Write the vectors of `ids`, unless others may change them in the meantime."""
    if generation is not None:
        write_arrays(path, digest_of([generation, *ids]), vectors=vectors)
