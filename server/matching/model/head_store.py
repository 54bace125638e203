"""The head that fits an index: read where it was kept, learnt and kept where it was not."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from server.core.ports import Embedder, Vectors
from server.library.model import Library
from server.matching.index.template_index import IndexEntry, TemplateIndex, digest_of
from server.matching.masking import mask
from server.matching.model.head import BUCKETS, DIMENSIONS, Head
from server.matching.model.training import Texts, learn_head, prepare
from server.matching.model.zero_shot import MixedHead, Scorer, ZeroShotHead
from server.storage.arrays import Arrays, ArrayStore
from server.text.language import everyday_sentences

_VERSION: Final = "8"
"""Changes with what training would give, so that older files are learnt anew."""

_PARTS: Final = ("meaning", "words", "bias", "rarity")


async def head_for(
    index: TemplateIndex,
    library: Library,
    vectors: Vectors | None,
    embedder: Embedder,
    kept: ArrayStore,
) -> tuple[Scorer, bool]:
    """Return the head of an index, and whether it had to be learnt; or raise `NotKept`.

    `vectors` are those of the index, where they are at hand. Templates without examples
    are judged by their descriptions; a library of nothing else has nothing to learn.
    """
    negatives = _negatives_of(library, (entry.text for entry in index.entries))
    has_examples = [bool(template.nl_examples) for template in library.templates.values()]
    key = digest_of((_VERSION, str(DIMENSIONS), *index.ids, *negatives))
    head = None
    if any(has_examples):
        head = _head_in(await kept.read(index.name, key), len(library.templates))
    if head is not None and all(has_examples):
        return head, False
    learnt = head is None and any(has_examples)
    if learnt:
        kept.check_may_make()
    if vectors is None:
        vectors = await index.vectors()
    negative_vectors = await _vectors_of(negatives, embedder, kept)
    places = {template: place for place, template in enumerate(library.templates)}
    texts = _texts_of(index.entries, places, vectors)
    if learnt:
        head = await asyncio.to_thread(
            lambda: learn_head(prepare(texts, len(places), negatives, negative_vectors))
        )
        parts = {name: getattr(head, name) for name in _PARTS}
        await kept.write(index.name, key, **parts)
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


def _negatives_of(library: Library, texts: Iterable[str]) -> tuple[str, ...]:
    spoken = library.domain.response
    languages = (spoken.default_language, *spoken.supported_languages)
    return tuple(dict.fromkeys(mask(text) for text in everyday_sentences(languages, texts)))


async def everyday_negatives(
    library: Library, embedder: Embedder, kept: ArrayStore
) -> tuple[tuple[str, ...], Vectors]:
    """What people say to any assistant in a library's languages, masked, with its vectors.

    Raises:
        ProviderError: it could not be embedded.
    """
    texts = (text for each in library.templates.values() for text in each.nl_examples)
    negatives = _negatives_of(library, texts)
    return negatives, await _vectors_of(negatives, embedder, kept)


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


def _head_in(stored: Arrays | None, templates: int) -> Head | None:
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


async def _vectors_of(texts: Sequence[str], embedder: Embedder, kept: ArrayStore) -> Vectors:
    key = digest_of((embedder.fingerprint, *texts))
    name = f"background-{key[:16]}"
    found: Vectors | None = (await kept.read(name, key) or {}).get("vectors")
    if found is not None and found.ndim == 2 and len(found) == len(texts):
        return found
    kept.check_may_make()
    vectors = await embedder.embed(texts)
    await kept.write(name, key, vectors=vectors)
    return vectors
