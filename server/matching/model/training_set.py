"""What a head learns from: a library's examples and descriptions, and the background."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Vectors
from server.matching.model.features import DIMENSIONS, Rarity, rarity, sketch_text
from server.matching.model.softmax import Labels

SKETCH_SHARE: Final = np.float32(0.7)
"""Length of the words beside the meaning. From 0.5 to 0.9 nothing much changes."""

_LEAST_SPREAD: Final = np.float32(1e-3)

_LEAST_KEPT: Final = 1 / 3
"""Share of the background that is kept whatever the library is about."""


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
class TrainingSet:
    """Rows (n, d + sketch + 1) and their labels; `templates` is the label of none of them.

    The last column is one throughout: what it is multiplied by says how likely each
    label is before anything is said, and lets the background outweigh few examples.
    The first d columns are vectors less `centre`, divided by `spread`: encoders differ in
    how much of a vector all texts share, and one penalty has to suit them all.
    """

    rows: Vectors
    labels: Labels
    examples: NDArray[np.bool_]
    templates: int
    weights: Rarity
    centre: NDArray[np.float32]
    spread: np.float32


def features(vectors: Vectors, texts: Sequence[str], weights: Rarity) -> Vectors:
    """Meaning and words side by side, as a head sees a text."""
    rows = np.empty((len(vectors), vectors.shape[1] + DIMENSIONS), np.float32)
    rows[:, : vectors.shape[1]] = vectors
    np.multiply(sketch_text(texts, weights), SKETCH_SHARE, out=rows[:, vectors.shape[1] :])
    return rows


def prepare(
    library: Texts, templates: int, background: Sequence[str], background_vectors: Vectors
) -> TrainingSet:
    """Put the rows together, less the background that the library itself is about."""
    weights = rarity(library.texts)
    foreign = _foreign(background_vectors, library)
    outside = [text for text, keep in zip(background, foreign, strict=True) if keep]
    rows = np.ones(
        (len(library.texts) + len(outside), library.vectors.shape[1] + DIMENSIONS + 1), np.float32
    )
    rows[: len(library.texts), :-1] = features(library.vectors, library.texts, weights)
    rows[len(library.texts) :, :-1] = features(background_vectors[foreign], outside, weights)
    dimensions = library.vectors.shape[1]
    centre, spread = _normalise(rows[:, :dimensions])
    return TrainingSet(
        rows=rows,
        labels=np.concatenate([library.owners, np.full(len(outside), templates, np.int64)]),
        examples=np.concatenate([library.examples, np.ones(len(outside), np.bool_)]),
        templates=templates,
        weights=weights,
        centre=centre,
        spread=spread,
    )


def _normalise(vectors: Vectors) -> tuple[NDArray[np.float32], np.float32]:
    """Centre `vectors` in place and bring them to unit length on average."""
    centre = vectors.mean(axis=0)
    vectors -= centre
    spread = np.float32(np.sqrt(np.einsum("nd,nd->", vectors, vectors) / len(vectors)))
    spread = max(spread, _LEAST_SPREAD)
    vectors /= spread
    return centre, spread


def _foreign(background: Vectors, library: Texts) -> NDArray[np.bool_]:
    """Which of the background lies outside every template.

    A sentence lies inside a template when it is as near to one of its texts as most of
    its examples are to each other.
    """
    order = np.argsort(library.owners, kind="stable")
    bounds = np.flatnonzero(np.diff(library.owners[order])) + 1
    members = np.split(order, bounds)
    within = [_nearness_within(library, group) for group in members]
    found = np.concatenate(within)
    if not len(found):
        return np.ones(len(background), np.bool_)
    usual = _lower_quarter(found)
    inside = np.full(len(background), -np.inf, np.float32)
    for group, own in zip(members, within, strict=True):
        limit = min(usual, _lower_quarter(own)) if len(own) else usual
        nearest = (background @ library.vectors[group].T).max(axis=1)
        np.maximum(inside, nearest - limit, out=inside)
    # A template whose examples have little in common must not take all of it away.
    foreign: NDArray[np.bool_] = inside <= max(0.0, float(np.quantile(inside, _LEAST_KEPT)))
    return foreign


def _nearness_within(library: Texts, group: NDArray[np.int64]) -> NDArray[np.float32]:
    """How near each example of one template is to the nearest other text of it."""
    cosines = library.vectors[group] @ library.vectors[group].T
    np.fill_diagonal(cosines, -1)
    nearest: NDArray[np.float32] = cosines.max(axis=1)[library.examples[group]]
    return nearest if len(group) > 1 else nearest[:0]


def _lower_quarter(values: NDArray[np.float32]) -> float:
    return float(np.quantile(values, 0.25))
