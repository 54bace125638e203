"""From logits to probabilities that mean what they say.

Two numbers are fitted to questions that the head had not seen: how sure to be (a scale
for every logit) and how readily to say "none of these" (a shift for that one). The
likelihood is convex in both, so Newton's method finds them.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from server.matching.model.softmax import Labels, softmax

ABSENT: Final = np.float32(-1e9)
"""Logit of a template that was not there to be chosen."""

# What is assumed of the questions that will come: of a hundred, ninety are for the library,
# nine for something else altogether, and one for something the library nearly does. That
# last kind is a template's own examples, asked while the template is away.
INSIDE, OUTSIDE, NEARLY = 0, 1, 2
_SHARES: Final = {INSIDE: 0.90, OUTSIDE: 0.09, NEARLY: 0.01}

_EXPECTED: Final = np.array([1.8, -2.5])
_DOUBT: Final = np.array([0.5, 1.5])


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Questions the head had not seen.

    `logits` is (n, classes), the last class being none; `labels` the right class of each;
    `kinds` where each came from.
    """

    logits: NDArray[np.float32]
    labels: Labels
    kinds: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Calibration:
    """`scale` times every logit, then `shift` added to that of none."""

    scale: float
    shift: float


def calibrate(seen: HeldOut) -> Calibration:
    """Fit the two numbers; with little to go by they stay near what libraries usually need."""
    logits = seen.logits.astype(np.float64)
    index = np.arange(len(logits))
    weights = _weights(seen.kinds)
    is_none = seen.labels == logits.shape[1] - 1
    at = _EXPECTED.copy()
    for _ in range(50):
        scaled = logits * at[0]
        scaled[:, -1] += at[1]
        shares = softmax(scaled)
        mean = (shares * logits).sum(axis=1)
        none = shares[:, -1]
        gradient = np.array(
            [weights @ (mean - logits[index, seen.labels]), weights @ (none - is_none)]
        )
        gradient += (at - _EXPECTED) / _DOUBT**2
        cross = weights @ (none * (logits[:, -1] - mean))
        bend = np.array(
            [
                [weights @ ((shares * logits**2).sum(axis=1) - mean**2), cross],
                [cross, weights @ (none * (1 - none))],
            ]
        )
        step = np.linalg.solve(bend + np.diag(1 / _DOUBT**2), gradient)
        # A full step from far away can overshoot; none needs to be larger than this.
        at -= np.clip(step, -1, 1)
        at[0] = max(at[0], 0.1)
        if float(np.abs(step).max()) < 1e-5:
            break
    return Calibration(scale=float(at[0]), shift=float(at[1]))


def _weights(kinds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Each kind counts for its share, and all together for as much as was asked of the library.

    Three examples are three pieces of evidence, however many sentences of background are
    held against them.
    """
    present = {kind: int((kinds == kind).sum()) for kind in _SHARES}
    total = max(present[INSIDE], 1) / _SHARES[INSIDE]
    weights = np.zeros(len(kinds))
    for kind, share in _SHARES.items():
        if present[kind]:
            weights[kinds == kind] = total * share / present[kind]
    return weights
