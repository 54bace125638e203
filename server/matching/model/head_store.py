"""The head that fits an index: read where it was kept, learnt and kept where it was not."""

import asyncio
import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from server.core.ports import Embedder, Vectors
from server.library.model import Library
from server.matching.index.template_index import TemplateIndex
from server.matching.masking import mask
from server.matching.model.head import Head, head_key, learn_head, load_head, save_head
from server.matching.model.scorer import MixedHead, Scorer
from server.matching.model.training_set import Texts, prepare
from server.matching.model.zero_shot import ZeroShotHead
from server.storage.files import written_whole
from server.text.language import everyday_sentences

_log = logging.getLogger(__name__)


async def head_for(
    index: TemplateIndex,
    library: Library,
    vectors: Vectors | None,
    embedder: Embedder,
    state_dir: Path,
) -> tuple[Scorer, bool]:
    """Return the head of an index, and whether it had to be learnt.

    `vectors` are those of the index, where they are at hand. Templates without examples
    are judged by their descriptions; a library of nothing else has nothing to learn.
    """
    shown = [bool(template.nl_examples) for template in library.templates.values()]
    if all(shown):
        return await _learnt_head(index, library, vectors, embedder, state_dir)
    if vectors is None:
        vectors = await index.vectors()
    zero_shot = await _zero_shot_head(index, library, vectors, embedder, state_dir)
    if not any(shown):
        return zero_shot, False
    head, learnt = await _learnt_head(index, library, vectors, embedder, state_dir)
    return MixedHead(head, zero_shot, _examples(index, library, vectors)), learnt


def _examples(index: TemplateIndex, library: Library, vectors: Vectors) -> dict[int, Vectors]:
    """The vectors of each template's examples, by its place in the library."""
    places = {template: place for place, template in enumerate(library.templates)}
    owners = np.array([places[entry.template_id] for entry in index.entries], np.int64)
    shown = np.array([entry.kind == "example" for entry in index.entries])
    return {int(p): vectors[shown & (owners == p)] for p in np.unique(owners[shown])}


async def _zero_shot_head(
    index: TemplateIndex,
    library: Library,
    vectors: Vectors,
    embedder: Embedder,
    state_dir: Path,
) -> ZeroShotHead:
    described = np.array([entry.kind == "description" for entry in index.entries])
    templates = tuple(library.templates.values())
    strangers = _strangers(index, library)
    strange = await _vectors_of(strangers, embedder, state_dir)
    return await asyncio.to_thread(ZeroShotHead, templates, vectors[described], strangers, strange)


async def _learnt_head(
    index: TemplateIndex,
    library: Library,
    vectors: Vectors | None,
    embedder: Embedder,
    state_dir: Path,
) -> tuple[Head, bool]:
    strangers = _strangers(index, library)
    path = state_dir / f"{index.name}.npz"
    key = head_key(index.ids, strangers)
    kept = await asyncio.to_thread(load_head, path, key, len(library.templates))
    if kept is not None:
        return kept, False
    if vectors is None:
        vectors = await index.vectors()
    strange = await _vectors_of(strangers, embedder, state_dir)
    templates = tuple(library.templates)
    head = await asyncio.to_thread(_learn, index, templates, vectors, strangers, strange)
    await asyncio.to_thread(_keep, path, key, head)
    return head, True


def _strangers(index: TemplateIndex, library: Library) -> tuple[str, ...]:
    """What is said to anyone, in the library's languages, and compared as questions are."""
    spoken = library.domain.response
    languages = (spoken.default_language, *spoken.supported_languages)
    found = everyday_sentences(languages, (entry.text for entry in index.entries))
    return tuple(dict.fromkeys(mask(text) for text in found))


def _learn(
    index: TemplateIndex,
    templates: Sequence[str],
    vectors: Vectors,
    strangers: Sequence[str],
    strange: Vectors,
) -> Head:
    places = {template: place for place, template in enumerate(templates)}
    texts = Texts(
        texts=[entry.masked for entry in index.entries],
        vectors=vectors,
        owners=np.array([places[entry.template_id] for entry in index.entries], np.int64),
        examples=np.array([entry.kind == "example" for entry in index.entries]),
    )
    return learn_head(prepare(texts, len(templates), strangers, strange))


def _keep(path: Path, key: str, head: Head) -> None:
    try:
        save_head(path, key, head)
    except OSError as full:
        # The server works without the file; it only has to learn again next time.
        _log.warning("the head cannot be kept in %s: %s", path, full)


async def _vectors_of(texts: Sequence[str], embedder: Embedder, state_dir: Path) -> Vectors:
    """Vectors that libraries share, embedded once and kept in a file."""
    digest = hashlib.blake2b("\n".join((embedder.fingerprint, *texts)).encode(), digest_size=8)
    path = state_dir / f"background-{digest.hexdigest()}.npy"
    kept = await asyncio.to_thread(_load_vectors, path, len(texts))
    if kept is not None:
        return kept
    vectors = await embedder.embed(texts)
    await asyncio.to_thread(_keep_vectors, path, vectors)
    return vectors


def _load_vectors(path: Path, count: int) -> Vectors | None:
    try:
        vectors: Vectors = np.load(path, allow_pickle=False)
    except (OSError, EOFError, ValueError):
        return None
    return vectors if vectors.ndim == 2 and len(vectors) == count else None


def _keep_vectors(path: Path, vectors: Vectors) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as file:
            np.save(file, vectors)
    except OSError as full:
        _log.warning("%s cannot be written: %s", path, full)
