"""What turns a question into probabilities: a learnt head, one of descriptions, or both."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Vectors
from server.matching.model.head import Head
from server.matching.model.zero_shot import ZeroShotHead

_TRUST: Final = 2.0
"""By how much, in logarithms of odds, descriptions must outdo what examples say."""
_FARTHEST, _NEAREST = -3.0, 1.0
_LEAST_SPREAD: Final = 0.03
_MOST: Final = 30.0


class Scorer(Protocol):
    """Probabilities of every template of a library, and of none of them."""

    @property
    def size(self) -> int:
        """How many weights a question is multiplied with."""

    def probabilities(self, vectors: Vectors, texts: Sequence[str]) -> NDArray[np.float32]:
        """(templates + 1,) probabilities of one question's readings, the last that of none."""


class MixedHead:
    """A learnt head for the templates that have examples, and odds for those that have none.

    The head has never seen a question for a template without examples, and would give it
    to a neighbour. So each of them is held against the likeliest of the others, description
    against description, and takes its part of what that one was given: the more, the
    further the question is from the other's examples.
    """

    def __init__(
        self, learnt: Head, zero_shot: ZeroShotHead, examples: Mapping[int, Vectors]
    ) -> None:
        """Take what is known of all templates, and the vectors of the examples of some.

        `examples` goes by the place of a template in the library.
        """
        self._learnt = learnt
        self._zero_shot = zero_shot
        self._examples = examples
        self._silent = np.array(
            [place for place in range(zero_shot.templates) if place not in examples], np.int64
        )
        within = {place: _nearest_within(vectors) for place, vectors in examples.items()}
        known = np.concatenate([*within.values(), np.zeros(0)])
        usual = float(known.mean()) if len(known) else 1.0
        self._usual = {p: float(w.mean()) if len(w) else usual for p, w in within.items()}
        self._spread = max(float(known.std()) if len(known) else 0.0, _LEAST_SPREAD)

    @property
    def size(self) -> int:
        """How many weights a question is multiplied with."""
        return self._learnt.size + self._zero_shot.size

    def probabilities(self, vectors: Vectors, texts: Sequence[str]) -> NDArray[np.float32]:
        """(templates + 1,) probabilities of one question's readings, the last that of none."""
        shares = self._learnt.probabilities(vectors, texts)
        odds = self._zero_shot.logits(vectors[-1], texts[-1])
        silent = self._silent
        shares[-1] += shares[silent].sum()
        shares[silent] = 0.0
        best = int(shares[:-1].argmax())
        beyond = odds[silent] - odds[best] - self._trust(best, vectors[-1])
        shares[silent] = shares[best] * np.exp(np.minimum(beyond, _MOST))
        shares[silent] += shares[-1] * np.exp(np.minimum(odds[silent], _MOST))
        mixed: NDArray[np.float32] = shares / shares.sum()
        return mixed

    def _trust(self, place: int, vector: NDArray[np.float32]) -> float:
        """How far a template's examples are to be believed: less, the less like them it is."""
        near = float((self._examples[place] @ vector).max())
        deviation = (near - self._usual[place]) / self._spread
        return _TRUST + min(max(deviation, _FARTHEST), _NEAREST)


def _nearest_within(vectors: Vectors) -> NDArray[np.float32]:
    """How near each of the vectors is to the nearest other one."""
    if len(vectors) < 2:
        return np.zeros(0, np.float32)
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, -1.0)
    nearest: NDArray[np.float32] = likeness.max(axis=1)
    return nearest
