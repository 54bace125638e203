"""Learning a head: what it learns from, the fit, and its calibration on what it has not seen.

Up to a size that takes seconds, the head is a multinomial logistic regression; beyond it
a linear discriminant, which has a closed form and is about a point less accurate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from server.core.ports import Vectors
from server.matching.model.classifiers import (
    ABSENT,
    INSIDE,
    NEARLY,
    OUTSIDE,
    HeldOut,
    Labels,
    TrainingSet,
    fit_discriminant,
    fit_softmax,
)
from server.matching.model.head import (
    DIMENSIONS,
    Head,
    Weights,
    nearest_others,
    rarity,
    sketch_text,
    softmax,
)

_LARGEST_SOFTMAX: Final = 1.5e10
"""Multiplications in one step; twenty steps of this many take about half a minute."""
_MOST_HELD_OUT: Final = 2000
_SKETCH_SHARE: Final = np.float32(0.7)
"""Length of the words beside the meaning. From 0.5 to 0.9 nothing much changes."""
_LEAST_SPREAD: Final = np.float32(1e-3)
_LEAST_KEPT: Final = 1 / 3
"""Share of the negatives that is kept whatever the library is about."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Masked texts with their vectors, and the index of the template each belongs to.

    `examples` is False for a description, which always stays in: nobody asks by reciting one.
    `owners` is the number of templates for a counter example, which belongs to none of them.
    """

    texts: Sequence[str]
    vectors: Vectors
    owners: Labels
    examples: NDArray[np.bool_]

    def where(self, kept: NDArray[np.bool_]) -> "Texts":
        """Return some of them."""
        texts = [text for text, keep in zip(self.texts, kept, strict=True) if keep]
        return Texts(texts, self.vectors[kept], self.owners[kept], self.examples[kept])


def prepare(
    library: Texts, templates: int, negatives: Sequence[str], negative_vectors: Vectors
) -> TrainingSet:
    """Put the rows together, less the negatives that the library itself is about.

    Counter examples are as near to the library as can be, and stay.
    """
    weights = rarity(library.texts)
    foreign = _foreign(negative_vectors, library.where(library.owners < templates))
    kept = [text for text, keep in zip(negatives, foreign, strict=True) if keep]
    texts = [*library.texts, *kept]
    dimensions = library.vectors.shape[1]
    rows = np.ones((len(texts), dimensions + DIMENSIONS + 1), np.float32)
    rows[:, :dimensions] = np.vstack([library.vectors, negative_vectors[foreign]])
    rows[:, dimensions:-1] = sketch_text(texts, weights) * _SKETCH_SHARE
    centre, spread = _normalise(rows[:, :dimensions])
    return TrainingSet(
        rows=rows,
        labels=np.concatenate([library.owners, np.full(len(kept), templates, np.int64)]),
        examples=np.concatenate([library.examples, np.ones(len(kept), np.bool_)]),
        templates=templates,
        weights=weights,
        centre=centre,
        spread=spread,
    )


def _normalise(vectors: Vectors) -> tuple[NDArray[np.float32], np.float32]:
    centre = vectors.mean(axis=0)
    vectors -= centre
    spread = np.float32(np.sqrt(np.einsum("nd,nd->", vectors, vectors) / len(vectors)))
    spread = max(spread, _LEAST_SPREAD)
    vectors /= spread
    return centre, spread


def _foreign(negatives: Vectors, library: Texts) -> NDArray[np.bool_]:
    """Which negatives are further from every template than most of its texts from each other."""
    order = np.argsort(library.owners, kind="stable")
    bounds = np.flatnonzero(np.diff(library.owners[order])) + 1
    members = np.split(order, bounds)
    within = [nearest_others(library.vectors[g], library.examples[g]) for g in members]
    found = np.concatenate(within)
    if not len(found):
        return np.ones(len(negatives), np.bool_)
    usual = _lower_quarter(found)
    inside = np.full(len(negatives), -np.inf, np.float32)
    for group, own in zip(members, within, strict=True):
        limit = min(usual, _lower_quarter(own)) if len(own) else usual
        nearest = (negatives @ library.vectors[group].T).max(axis=1)
        np.maximum(inside, nearest - limit, out=inside)
    # A template whose examples have little in common must not take all of them away.
    foreign: NDArray[np.bool_] = inside <= max(0.0, float(np.quantile(inside, _LEAST_KEPT)))
    return foreign


def _lower_quarter(values: NDArray[np.float32]) -> float:
    return float(np.quantile(values, 0.25))


class LearntWeights(NamedTuple):
    weights: Weights
    bias: NDArray[np.float32]


def learn_head(data: TrainingSet) -> Head:
    """Learn and calibrate a head. Blocks for seconds when the library is large."""
    weights, bias = train(data)
    dimensions = len(data.centre)
    return Head(
        meaning=np.ascontiguousarray(weights[:, :dimensions].T),
        words=np.ascontiguousarray(weights[:, dimensions:].T) * _SKETCH_SHARE,
        bias=bias,
        rarity=data.weights,
    )


def train(data: TrainingSet) -> LearntWeights:
    """Fit a head to the data, and calibrate it on what it was not shown."""
    cost = len(data.rows) * (data.templates + 1) * data.rows.shape[1]
    if cost > _LARGEST_SOFTMAX:
        weights, bias, seen = fit_discriminant(data)
    else:
        weights = fit_softmax(data.rows, data.labels, data.templates + 1)
        bias = np.zeros(data.templates + 1, np.float32)
        # More folds show the head nearly as much as it will know; large ones cannot afford it.
        folds = 10 if cost < 1e8 else 5 if cost < 1e9 else 3
        seen = _held_out(data, weights, folds)
    calibration = calibrate(seen)
    # For features as they come: what was done to the rows is undone here.
    dimensions = len(data.centre)
    meaning = weights[:, :dimensions] / data.spread
    scale = np.float32(calibration.scale)
    plain = ((bias + weights[:, -1] - meaning @ data.centre) * scale).astype(np.float32)
    plain[-1] += np.float32(calibration.shift)
    return LearntWeights(np.hstack([meaning, weights[:, dimensions:-1]]) * scale, plain)


def _held_out(data: TrainingSet, weights: Weights, folds: int) -> HeldOut:
    random = np.random.default_rng(0)
    none = data.templates
    # A fold for each row, the rows of each template spread as evenly as they go.
    fold = np.empty(len(data.labels), np.int64)
    for label in range(none + 1):
        members = np.flatnonzero(data.labels == label)
        fold[members] = (random.permutation(len(members)) + random.integers(folds)) % folds
    # The fold in which each template is away; none ever is where too few would be left.
    away = np.full(none, -1) if none < 3 else random.permutation(none) % folds
    # Enough rows to calibrate two numbers by: all of the negatives, and so many examples.
    asked_about = data.labels == none
    asked_about[random.permutation(np.flatnonzero(~asked_about))[:_MOST_HELD_OUT]] = True
    asked_about &= data.examples
    parts: list[tuple[Vectors, Labels, NDArray[np.int64]]] = []
    for turn in range(folds):
        here = np.append(away != turn, True)
        shown = here[data.labels] & ((fold != turn) | ~data.examples)
        names = np.cumsum(here) - 1
        part = np.zeros_like(weights)
        part[here] = fit_softmax(
            data.rows[shown], names[data.labels[shown]], int(here.sum()), weights[here]
        )
        for kind, rows in (
            (INSIDE, here[data.labels] & (fold == turn) & (data.labels < none)),
            (OUTSIDE, (fold == turn) & (data.labels == none)),
            (NEARLY, ~here[data.labels]),
        ):
            asked = rows & asked_about
            logits = data.rows[asked] @ part.T
            logits[:, ~here] = ABSENT
            labels = data.labels[asked] if kind == INSIDE else np.full(len(logits), none)
            parts.append((logits, labels, np.full(len(logits), kind)))
    return HeldOut(*map(np.concatenate, zip(*parts, strict=True)))


@cache
def use_one_thread() -> None:
    """From now on, NumPy computes each product in the thread that asks for it."""
    threadpool_limits(limits=1, user_api="blas")


# Calibration: two numbers are fitted to questions that the head had not seen, how sure to be (a
# scale for every logit) and how readily to say "none of these" (a shift for that one). The
# likelihood is convex in both, so Newton's method finds them.

# What is assumed of the questions that will come: of a hundred, ninety are for the library,
# nine for something else altogether, and one for something the library nearly does. That
# last kind is a template's own examples, asked while the template is away.
_SHARES: Final = {INSIDE: 0.90, OUTSIDE: 0.09, NEARLY: 0.01}

_EXPECTED: Final = np.array([1.8, -2.5])
_DOUBT: Final = np.array([0.5, 1.5])


@dataclass(frozen=True, slots=True)
class Calibration:
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
    """Each kind counts for its share, and all together for as much as was asked of the library."""
    present = {kind: int((kinds == kind).sum()) for kind in _SHARES}
    total = max(present[INSIDE], 1) / _SHARES[INSIDE]
    weights = np.zeros(len(kinds))
    for kind, share in _SHARES.items():
        if present[kind]:
            weights[kinds == kind] = total * share / present[kind]
    return weights
