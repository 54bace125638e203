"""Linear discriminant analysis with a shrunken covariance: a head for very large libraries.

One pass over the rows for the means, one for the covariance they share, and one inverse:
a hundred thousand examples take seconds, where logistic regression would take hours.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from server.matching.model.calibration import ABSENT, INSIDE, NEARLY, OUTSIDE, HeldOut
from server.matching.model.softmax import Weights
from server.matching.model.training_set import TrainingSet

_SHRINKAGE: Final = 0.6
_SPREAD: Final = 0.03
"""Brings the logits near those of the logistic head, so that calibration starts close."""

_CHUNK: Final = 4096
_MOST_HELD_OUT: Final = 2000
_MOST_LOGITS: Final = 4_000_000


def fit_discriminant(lesson: TrainingSet) -> tuple[Weights, NDArray[np.float32], HeldOut]:
    """Return weights, bias, and logits of rows as if each had not been learnt from."""
    classes = lesson.templates + 1
    counts = np.bincount(lesson.labels, minlength=classes).astype(np.float32)
    means = np.zeros((classes, lesson.rows.shape[1]), np.float32)
    np.add.at(means, lesson.labels, lesson.rows)
    means /= np.maximum(counts, 1)[:, None]
    precision = (np.linalg.inv(_covariance(lesson, means)) * _SPREAD).astype(np.float32)
    weights = means @ precision
    bias = -0.5 * np.einsum("cd,cd->c", means, weights)
    bias[counts == 0] = ABSENT
    sample = _sample(lesson, counts)
    rows, labels = lesson.rows[sample], lesson.labels[sample]
    logits = rows @ weights.T + bias
    # A row's own class is judged by the mean of the others: (n mean - row) / (n - 1).
    others = counts[labels, None]
    mean = (others * means[labels] - rows) / (others - 1)
    own = np.einsum("nd,nd->n", rows - 0.5 * mean, mean @ precision)
    logits[np.arange(len(sample)), labels] = own
    return weights, bias, _held_out(logits, labels, lesson.templates)


def _covariance(lesson: TrainingSet, means: Weights) -> NDArray[np.float64]:
    """The spread of examples about their templates' means, pulled toward a sphere."""
    inside = np.flatnonzero(lesson.labels < lesson.templates)
    size = lesson.rows.shape[1]
    total = np.zeros((size, size), np.float64)
    for start in range(0, len(inside), _CHUNK):
        members = inside[start : start + _CHUNK]
        apart = lesson.rows[members] - means[lesson.labels[members]]
        total += apart.T @ apart
    total /= max(len(inside) - lesson.templates, 1)
    sphere = max(float(np.trace(total)) / size, 1e-6)
    mixed: NDArray[np.float64] = (1 - _SHRINKAGE) * total + _SHRINKAGE * sphere * np.eye(size)
    return mixed


def _sample(lesson: TrainingSet, counts: NDArray[np.float32]) -> NDArray[np.int64]:
    """Rows to judge the head by: all of the background, and as many examples as is quick."""
    usable = np.flatnonzero(lesson.examples & (counts[lesson.labels] > 1))
    inside = usable[lesson.labels[usable] < lesson.templates]
    outside = usable[lesson.labels[usable] == lesson.templates]
    most = min(_MOST_HELD_OUT, _MOST_LOGITS // (lesson.templates + 1))
    return np.concatenate([np.random.default_rng(0).permutation(inside)[:most], outside])


def _held_out(logits: NDArray[np.float32], labels: NDArray[np.int64], none: int) -> HeldOut:
    inside = labels < none
    nearly = logits[inside].copy()
    nearly[np.arange(len(nearly)), labels[inside]] = ABSENT
    return HeldOut(
        logits=np.concatenate([logits, nearly]),
        labels=np.concatenate([labels, np.full(len(nearly), none)]),
        kinds=np.concatenate([np.where(inside, INSIDE, OUTSIDE), np.full(len(nearly), NEARLY)]),
    )
