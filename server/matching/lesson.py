"""What a head learns from: a library's examples and descriptions, and the background."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Vectors
from server.matching.sketch import DIMENSIONS, Rarity, rarity, sketch
from server.matching.softmax import Labels

SKETCH_SHARE: Final = np.float32(0.6)
"""Length of the words beside the meaning. From 0.4 to 0.8 nothing much changes."""

_NEAR_QUANTILE: Final = 0.25
_NEAR_WITHOUT_NEIGHBOURS: Final = 0.6


@dataclass(frozen=True, slots=True)
class Texts:
    """Masked texts with their vectors, and the template each belongs to.

    `owners` is the index of the template; `examples` is False for a description, which
    always stays in: nobody asks a question by reciting one.
    """

    texts: Sequence[str]
    vectors: Vectors
    owners: Labels
    examples: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Lesson:
    """Rows (n, d + sketch) and their labels; the label `templates` stands for none of them."""

    rows: Vectors
    labels: Labels
    examples: NDArray[np.bool_]
    templates: int
    weights: Rarity


def features(vectors: Vectors, texts: Sequence[str], weights: Rarity) -> Vectors:
    """Meaning and words side by side, as a head sees a text."""
    rows = np.empty((len(vectors), vectors.shape[1] + DIMENSIONS), np.float32)
    rows[:, : vectors.shape[1]] = vectors
    np.multiply(sketch(texts, weights), SKETCH_SHARE, out=rows[:, vectors.shape[1] :])
    return rows


def prepare(
    library: Texts, templates: int, background: Sequence[str], background_vectors: Vectors
) -> Lesson:
    """Put the rows together, less the background that the library itself is about."""
    weights = rarity(library.texts)
    foreign = _nearness(background_vectors, library.vectors) <= _nearness_within(library)
    outside = [text for text, keep in zip(background, foreign, strict=True) if keep]
    return Lesson(
        rows=np.vstack(
            [
                features(library.vectors, library.texts, weights),
                features(background_vectors[foreign], outside, weights),
            ]
        ),
        labels=np.concatenate([library.owners, np.full(len(outside), templates, np.int64)]),
        examples=np.concatenate([library.examples, np.ones(len(outside), np.bool_)]),
        templates=templates,
        weights=weights,
    )


def _nearness(queries: Vectors, vectors: Vectors) -> NDArray[np.float32]:
    """The cosine of each query to the vector nearest to it."""
    nearest = np.full(len(queries), -1, np.float32)
    for start in range(0, len(vectors), 8192):
        np.maximum(nearest, (queries @ vectors[start : start + 8192].T).max(axis=1), out=nearest)
    return nearest


def _nearness_within(library: Texts) -> float:
    """How near an example usually has another of its own template, at the lower quarter."""
    order = np.argsort(library.owners, kind="stable")
    bounds = np.flatnonzero(np.diff(library.owners[order])) + 1
    found: list[NDArray[np.float32]] = []
    for members in np.split(order, bounds):
        if len(members) < 2:
            continue
        cosines = library.vectors[members] @ library.vectors[members].T
        np.fill_diagonal(cosines, -1)
        found.append(cosines.max(axis=1)[library.examples[members]])
    if not found or not sum(map(len, found)):
        return _NEAR_WITHOUT_NEIGHBOURS
    return float(np.quantile(np.concatenate(found), _NEAR_QUANTILE))
