"""The head that fits an index: read where it was kept, learnt and kept where it was not."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from server.core.ports import Embedder, Vectors
from server.library.model import Library
from server.matching.index.template_index import (
    IndexEntry,
    TemplateIndex,
    digest_of,
    read_arrays,
    write_arrays,
)
from server.matching.masking import mask
from server.matching.model.head import BUCKETS, DIMENSIONS, Head
from server.matching.model.training import Texts, learn_head, prepare
from server.matching.model.zero_shot import MixedHead, Scorer, ZeroShotHead
from server.text.language import everyday_sentences

_VERSION: Final = "8"
"""Changes with what training would give, so that older files are learnt anew."""

_PARTS: Final = ("meaning", "words", "bias", "rarity")


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
    spoken = library.domain.response
    languages = (spoken.default_language, *spoken.supported_languages)
    everyday = everyday_sentences(languages, (entry.text for entry in index.entries))
    negatives = tuple(dict.fromkeys(mask(text) for text in everyday))
    has_examples = [bool(template.nl_examples) for template in library.templates.values()]
    path = state_dir / f"{index.name}.npz"
    key = digest_of((_VERSION, str(DIMENSIONS), *index.ids, *negatives))
    head = None
    if any(has_examples):
        head = await asyncio.to_thread(_load_head, path, key, len(library.templates))
    if head is not None and all(has_examples):
        return head, False
    learnt = head is None and any(has_examples)
    if vectors is None:
        vectors = await index.vectors()
    negative_vectors = await _vectors_of(negatives, embedder, state_dir)
    places = {template: place for place, template in enumerate(library.templates)}
    texts = _texts_of(index.entries, places, vectors)
    if learnt:
        head = await asyncio.to_thread(
            lambda: learn_head(prepare(texts, len(places), negatives, negative_vectors))
        )
        parts = {name: getattr(head, name) for name in _PARTS}
        await asyncio.to_thread(partial(write_arrays, path, key, **parts))
    if head is not None and all(has_examples):
        return head, learnt
    templates = tuple(library.templates.values())
    descriptions = texts.vectors[~texts.examples]
    zero_shot = await asyncio.to_thread(
        ZeroShotHead, templates, descriptions, negatives, negative_vectors
    )
    if head is None:
        return zero_shot, False
    of_templates = texts.examples & (texts.owners < len(places))
    examples = {
        int(place): texts.vectors[of_templates & (texts.owners == place)]
        for place in np.unique(texts.owners[of_templates])
    }
    return MixedHead(head, zero_shot, examples), learnt


def _texts_of(entries: Sequence[IndexEntry], places: Mapping[str, int], vectors: Vectors) -> Texts:
    """What a head learns from: a counter example is one of no template, if none has it."""
    none = len(places)
    known = {entry.masked for entry in entries if entry.kind == "example"}
    texts = Texts(
        texts=[entry.masked for entry in entries],
        vectors=vectors,
        owners=np.array(
            [none if e.kind == "counter" else places[e.template_id] for e in entries], np.int64
        ),
        examples=np.array([entry.kind != "description" for entry in entries]),
    )
    kept = [entry.kind != "counter" or entry.masked not in known for entry in entries]
    return texts if all(kept) else texts.where(np.array(kept))


def _load_head(path: Path, key: str, templates: int) -> Head | None:
    stored = read_arrays(path, key)
    if stored is None or not stored.keys() >= {*_PARTS}:
        return None
    head = Head(**{name: stored[name] for name in _PARTS})
    answers = templates + 1
    fits = (
        head.meaning.shape[1:] == head.bias.shape == (answers,)
        and head.words.shape == (DIMENSIONS, answers)
        and head.rarity.shape == (BUCKETS,)
        and all(bool(np.isfinite(getattr(head, name)).all()) for name in _PARTS)
    )
    return head if fits else None


async def _vectors_of(texts: Sequence[str], embedder: Embedder, state_dir: Path) -> Vectors:
    key = digest_of((embedder.fingerprint, *texts))
    path = state_dir / f"background-{key[:16]}.npz"
    stored = await asyncio.to_thread(read_arrays, path, key)
    kept: Vectors | None = (stored or {}).get("vectors")
    if kept is not None and kept.ndim == 2 and len(kept) == len(texts):
        return kept
    vectors = await embedder.embed(texts)
    await asyncio.to_thread(partial(write_arrays, path, key, vectors=vectors))
    return vectors
