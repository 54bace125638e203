"""Multinomial logistic regression over dense vectors, in NumPy.

One matrix product forward and one back for each step, and about twenty steps: a library
of 150 templates is learnt in half a second, without a machine-learning library that
would take longer than that to import.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Vectors

Labels = NDArray[np.int64]
Weights = NDArray[np.float32]

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

    def loss(at: Weights) -> tuple[float, Weights]:
        return _loss(at, rows, labels)

    return _minimise(loss, weights)


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Logits to probabilities along the last axis."""
    shares: NDArray[np.float32] = logits - logits.max(axis=-1, keepdims=True)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares


def _loss(weights: Weights, rows: Vectors, labels: Labels) -> tuple[float, Weights]:
    """The penalised negative log-likelihood, and its gradient."""
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
    """L-BFGS. The loss is convex and smooth, so halving the step until it helps is enough."""
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
    """Downhill, as the last steps have taught the shape of the hill."""
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
