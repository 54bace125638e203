"""Two linear classifiers over dense vectors, in NumPy: what a head is learnt by.

Multinomial logistic regression learns a library of 150 templates in half a second, less than a
machine-learning library takes to import. For very large libraries there is linear discriminant
analysis with a shrunken covariance: a hundred thousand examples take seconds instead of hours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Vectors
from server.matching.model.head import Rarity, Weights

Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Rows (n, d + sketch + 1), the last column one throughout, and their labels.

    `templates` is the label of none of them. The first d columns are vectors less `centre`, divided
    by `spread`: encoders differ in how much of a vector all texts share.
    """

    rows: Vectors
    labels: Labels
    examples: NDArray[np.bool_]
    templates: int
    weights: Rarity
    centre: NDArray[np.float32]
    spread: np.float32


ABSENT: Final = np.float32(-1e9)
"""Logit of a template that was not there to be chosen."""
INSIDE, OUTSIDE, NEARLY = 0, 1, 2
"""Kinds of questions: for the library, for something else, and for a template that is away."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Questions the head had not seen.

    `logits` is (n, classes), the last class being none; `kinds` says where each came from.
    """

    logits: NDArray[np.float32]
    labels: Labels
    kinds: NDArray[np.int64]


PENALTY: Final = np.float32(0.03)
"""Weight of the squared norm of the solution. From 0.02 to 0.1 nothing much changes."""
_MEMORY: Final = 10
_STEPS: Final = 200
_FLAT: Final = 1e-3
_STILL: Final = 1e-5


def fit_softmax(
    rows: Vectors, labels: Labels, classes: int, start: Weights | None = None
) -> Weights:
    """Return (classes, d) weights; `rows @ weights.T` are the logits.

    Rows are (n, d); `labels` are 0 to `classes` - 1. `start` is where to begin: weights
    learnt from nearly the same rows save most of the steps.
    """
    weights = np.zeros((classes, rows.shape[1]), np.float32) if start is None else start
    return _minimise(partial(_loss, rows=rows, labels=labels), weights)


def _loss(weights: Weights, rows: Vectors, labels: Labels) -> tuple[float, Weights]:
    logits = rows @ weights.T
    logits -= logits.max(axis=1, keepdims=True)
    index = np.arange(len(rows))
    right = logits[index, labels].astype(np.float64).sum()
    np.exp(logits, out=logits)
    sums = logits.sum(axis=1, keepdims=True)
    value = float(np.log(sums, dtype=np.float64).sum() - right)
    value += 0.5 * float(PENALTY) * float(np.vdot(weights, weights))
    logits /= sums
    logits[index, labels] -= 1
    return value, logits.T @ rows + PENALTY * weights


def _minimise(loss: Callable[[Weights], tuple[float, Weights]], weights: Weights) -> Weights:
    value, gradient = loss(weights)
    first = float(np.abs(gradient).max())
    past: list[tuple[Weights, Weights, float]] = []
    for _ in range(_STEPS):
        if float(np.abs(gradient).max()) <= _FLAT * max(1.0, first):
            break
        direction = _direction(gradient, past)
        slope = float(np.vdot(gradient, direction))
        step = np.float32(1)
        while True:
            moved = weights + step * direction
            new_value, new_gradient = loss(moved)
            if new_value <= value + 1e-4 * float(step) * slope or step < 1e-6:
                break
            step *= np.float32(0.5)
        change, bend = moved - weights, new_gradient - gradient
        curvature = float(np.vdot(change, bend))
        if curvature > 1e-10:
            past = [*past[1 - _MEMORY :], (change, bend, 1 / curvature)]
        still = abs(value - new_value) < _STILL * abs(value)
        weights, value, gradient = moved, new_value, new_gradient
        if still:
            break
    return weights


def _direction(gradient: Weights, past: list[tuple[Weights, Weights, float]]) -> Weights:
    direction = gradient.copy()
    shares: list[np.float32] = []
    for change, bend, inverse in reversed(past):
        share = np.float32(inverse * float(np.vdot(change, direction)))
        shares.append(share)
        direction -= share * bend
    if past:
        change, bend, inverse = past[-1]
        direction *= np.float32(1 / (inverse * float(np.vdot(bend, bend))))
    else:
        direction /= np.float32(max(1.0, float(np.linalg.norm(gradient))))
    for (change, bend, inverse), share in zip(past, reversed(shares), strict=True):
        direction += (share - np.float32(inverse * float(np.vdot(bend, direction)))) * change
    return -direction


_SHRINKAGE: Final = 0.6
_SPREAD: Final = 0.03
"""Brings the logits near those of the logistic head, so that calibration starts close."""
_CHUNK: Final = 4096
_MOST_HELD_OUT: Final = 2000
_MOST_LOGITS: Final = 4_000_000


def fit_discriminant(data: TrainingSet) -> tuple[Weights, NDArray[np.float32], HeldOut]:
    """Return weights, bias, and logits of rows as if each had not been learnt from."""
    classes = data.templates + 1
    counts = np.bincount(data.labels, minlength=classes).astype(np.float32)
    means = np.zeros((classes, data.rows.shape[1]), np.float32)
    np.add.at(means, data.labels, data.rows)
    means /= np.maximum(counts, 1)[:, None]
    precision = (np.linalg.inv(_covariance(data, means)) * _SPREAD).astype(np.float32)
    weights = means @ precision
    bias = -0.5 * np.einsum("cd,cd->c", means, weights)
    bias[counts == 0] = ABSENT
    sample = _sample(data, counts)
    rows, labels = data.rows[sample], data.labels[sample]
    logits = rows @ weights.T + bias
    # A row's own class is judged by the mean of the others: (n mean - row) / (n - 1).
    others = counts[labels, None]
    mean = (others * means[labels] - rows) / (others - 1)
    own = np.einsum("nd,nd->n", rows - 0.5 * mean, mean @ precision)
    logits[np.arange(len(sample)), labels] = own
    return weights, bias, _held_out(logits, labels, data.templates)


def _covariance(data: TrainingSet, means: Weights) -> NDArray[np.float64]:
    inside = np.flatnonzero(data.labels < data.templates)
    size = data.rows.shape[1]
    total = np.zeros((size, size), np.float64)
    for start in range(0, len(inside), _CHUNK):
        members = inside[start : start + _CHUNK]
        apart = data.rows[members] - means[data.labels[members]]
        total += apart.T @ apart
    total /= max(len(inside) - data.templates, 1)
    sphere = max(float(np.trace(total)) / size, 1e-6)
    mixed: NDArray[np.float64] = (1 - _SHRINKAGE) * total + _SHRINKAGE * sphere * np.eye(size)
    return mixed


def _sample(data: TrainingSet, counts: NDArray[np.float32]) -> NDArray[np.int64]:
    usable = np.flatnonzero(data.examples & (counts[data.labels] > 1))
    inside = usable[data.labels[usable] < data.templates]
    outside = usable[data.labels[usable] == data.templates]
    most = min(_MOST_HELD_OUT, _MOST_LOGITS // (data.templates + 1))
    return np.concatenate([np.random.default_rng(0).permutation(inside)[:most], outside])


def _held_out(logits: NDArray[np.float32], labels: NDArray[np.int64], none: int) -> HeldOut:
    inside = labels < none
    nearly = logits[inside].copy()
    nearly[np.arange(len(nearly)), labels[inside]] = ABSENT
    kinds = np.where(inside, INSIDE, OUTSIDE)
    return HeldOut(
        np.concatenate([logits, nearly]),
        np.concatenate([labels, np.full(len(nearly), none)]),
        np.concatenate([kinds, np.full(len(nearly), NEARLY)]),
    )
