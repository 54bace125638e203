"""The heads of large libraries: which templates are near, and how likely each of them is.

Both first find the few templates that a question may mean, and then weigh these against each
other and against none of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Vectors
from server.matching.large.index import AT_ONCE, LargeIndex
from server.matching.model.head import (
    Rarity,
    Weights,
    combine_readings,
    sketch_text,
    softmax,
)

WEIGHED: Final = 64
"""Templates that are weighed against each other; among so many, the right one is missed in fewer
than one question of a thousand."""
SKETCH_SHARE: Final = np.float32(0.7)
"""Length of the words beside the meaning, as `training` has it."""

Floats = NDArray[np.float32]


def likeliest(logits: Floats, count: int = WEIGHED) -> NDArray[np.intp]:
    """The places of the highest logits, in no order."""
    if len(logits) <= count:
        return np.arange(len(logits))
    return np.argpartition(-logits, count)[:count]


def shares_of(logits: Floats, places: NDArray[np.intp], none: float, templates: int) -> Floats:
    """(templates + 1,) probabilities of the templates at `places` and of none; 0 for others."""
    shares = np.zeros(templates + 1, np.float32)
    shares[np.append(places, templates)] = softmax(np.append(logits, none)).astype(np.float32)
    return shares


def _mixed(shares: Sequence[Floats]) -> Floats:
    found: Floats = shares[0] if len(shares) == 1 else combine_readings(*shares)
    return found


@dataclass(frozen=True, slots=True)
class Projection:
    """Where a question lies among templates: meaning and words in few directions.

    These are the ones that tell templates apart best, going by how far the examples of
    one template lie from each other. `axes` are (d + sketch, k).
    """

    centre: Floats
    spread: Floats
    rarity: Rarity
    middle: Floats
    axes: Weights

    def features(self, vectors: Vectors, texts: Sequence[str]) -> Vectors:
        """Return (n, d + sketch): what is projected."""
        words = sketch_text(texts, self.rarity) * SKETCH_SHARE
        return np.hstack([(vectors - self.centre) / self.spread, words])

    def __call__(self, features: Vectors) -> Floats:
        placed: Floats = np.dot(features - self.middle, self.axes)
        return placed


@dataclass(frozen=True, slots=True)
class ProjectedHead:
    """A learnt head: the nearest templates by a linear discriminant, in few directions.

    `classes` are (templates + 1, k), the last one of none of them. Calibrated on examples that it
    was not shown.
    """

    projection: Projection
    classes: Floats
    bias: Floats

    @property
    def size(self) -> int:
        return int(self.classes.size)

    def probabilities(self, vectors: Vectors, texts: Sequence[str]) -> Floats:
        """(templates + 1,) probabilities of one question's readings, the last that of none."""
        templates = len(self.classes) - 1
        shares = []
        for place in self.projection(self.projection.features(vectors, texts)):
            logits = self.classes @ place + self.bias
            best = likeliest(logits[:-1])
            shares.append(shares_of(logits[best], best, float(logits[-1]), templates))
        return _mixed(shares)


_DIRECTIONS: Final = 128
_SAMPLED: Final = 20_000
_COMPARED: Final = 32
"""Templates whose examples are compared with a question, one by one."""
_CERTAINTY: Final = np.float32(26)
_DOUBT: Final = 3.8
"""How likelihood grows with likeness, and how readily to say none of them: fitted to CLINC150."""


class NeighbourHead:
    """Serves while no head is learnt: the templates with the examples nearest to a question.

    It is some eight points less accurate than a learnt head, and knows no words but meanings.
    """

    def __init__(self, index: LargeIndex, negatives: Vectors) -> None:
        """Read all vectors once. Blocks; raises `IndexUnavailable`."""
        self._index, self._negatives = index, negatives
        sample = index.vectors_at(index.spread(_SAMPLED))
        _, axes = np.linalg.eigh(sample.T @ sample)
        self._axes = np.ascontiguousarray(axes[:, -_DIRECTIONS:])
        firsts = range(0, len(index.templates), AT_ONCE)
        self._means = np.vstack([_directions(index, first) @ self._axes for first in firsts])

    @property
    def size(self) -> int:
        return int(self._means.size)

    def probabilities(self, vectors: Vectors, texts: Sequence[str]) -> Floats:  # noqa: ARG002
        """(templates + 1,) probabilities of one question's readings, the last that of none."""
        templates = len(self._index.templates)
        shares = []
        for vector in vectors:
            near = np.sort(likeliest(self._means @ (vector @ self._axes), _COMPARED))
            cosines = np.array([self._nearest(place, vector) for place in near.tolist()])
            none = float((self._negatives @ vector).max(initial=0) * _CERTAINTY) + _DOUBT
            shares.append(shares_of(cosines * _CERTAINTY, near, none, templates))
        return _mixed(shares)

    def _nearest(self, place: int, vector: Floats) -> np.float32:
        cosine: np.float32 = (self._index.vectors_at(self._index.rows_of(place)) @ vector).max()
        return cosine


def _directions(index: LargeIndex, first: int) -> Floats:
    """Where the texts of some templates lie on the whole, (n, d), rows of unit length."""
    last = min(first + AT_ONCE, len(index.templates))
    bounds = index.kept.bounds[first : last + 1]
    vectors = index.vectors_at(slice(int(bounds[0]), int(bounds[-1])))
    sums: Floats = np.add.reduceat(vectors, bounds[:-1] - bounds[0], axis=0)
    sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
    return sums
