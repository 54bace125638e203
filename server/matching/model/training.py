"""Learning a head, and asking it about examples it has not seen.

Up to a size that takes seconds, the head is a multinomial logistic regression; beyond it
a linear discriminant, which has a closed form and is about a point less accurate.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from server.core.ports import Vectors
from server.matching.model.calibration import (
    ABSENT,
    INSIDE,
    NEARLY,
    OUTSIDE,
    Calibration,
    HeldOut,
    calibrate,
)
from server.matching.model.discriminant import fit_discriminant
from server.matching.model.softmax import Labels, Weights, fit_softmax
from server.matching.model.training_set import TrainingSet

_LARGEST_SOFTMAX: Final = 1.5e10
"""Multiplications in one step; twenty steps of this many take about half a minute."""
_MOST_HELD_OUT: Final = 2000


@dataclass(frozen=True, slots=True)
class Learnt:
    """Calibrated: `features @ weights.T + bias` are logits, the last one that of none."""

    weights: Weights
    bias: NDArray[np.float32]
    calibration: Calibration


def train(lesson: TrainingSet) -> Learnt:
    """Fit a head to the lesson, and calibrate it on what it was not shown."""
    cost = len(lesson.rows) * (lesson.templates + 1) * lesson.rows.shape[1]
    if cost > _LARGEST_SOFTMAX:
        weights, bias, seen = fit_discriminant(lesson)
    else:
        weights = fit_softmax(lesson.rows, lesson.labels, lesson.templates + 1)
        bias = np.zeros(lesson.templates + 1, np.float32)
        seen = _held_out(lesson, weights, folds=_folds(cost))
    calibration = calibrate(seen)
    return _plain(lesson, weights, bias, calibration)


def _plain(
    lesson: TrainingSet, weights: Weights, bias: NDArray[np.float32], calibration: Calibration
) -> Learnt:
    """The same head for features as they come: what was done to the rows is undone here."""
    dimensions = len(lesson.centre)
    meaning = weights[:, :dimensions] / lesson.spread
    scale = np.float32(calibration.scale)
    plain = ((bias + weights[:, -1] - meaning @ lesson.centre) * scale).astype(np.float32)
    plain[-1] += np.float32(calibration.shift)
    return Learnt(np.hstack([meaning, weights[:, dimensions:-1]]) * scale, plain, calibration)


def _folds(cost: int) -> int:
    """More folds show the head nearly as much as it will know; large ones cannot afford it."""
    if cost < 1e8:
        return 10
    return 5 if cost < 1e9 else 3


def _held_out(lesson: TrainingSet, weights: Weights, folds: int) -> HeldOut:
    """Ask about each example once while it is away, and once while its template is."""
    random = np.random.default_rng(0)
    fold = _dealt(lesson, folds, random)
    away = _templates_away(lesson.templates, folds, random)
    logits: list[Vectors] = []
    labels: list[Labels] = []
    kinds: list[NDArray[np.int64]] = []
    none = lesson.templates
    judged = lesson.examples & _sampled(lesson, random)
    for turn in range(folds):
        here = np.append(away != turn, True)
        shown = here[lesson.labels] & ((fold != turn) | ~lesson.examples)
        part = _fit_part(lesson, shown, here, weights)
        for kind, asked in (
            (INSIDE, here[lesson.labels] & (fold == turn) & (lesson.labels < none)),
            (OUTSIDE, (fold == turn) & (lesson.labels == none)),
            (NEARLY, ~here[lesson.labels]),
        ):
            asked = asked & judged
            given = lesson.rows[asked] @ part.T
            given[:, ~here] = ABSENT
            logits.append(given)
            labels.append(lesson.labels[asked] if kind == INSIDE else np.full(len(given), none))
            kinds.append(np.full(len(given), kind))
    return HeldOut(np.concatenate(logits), np.concatenate(labels), np.concatenate(kinds))


def _fit_part(
    lesson: TrainingSet, shown: NDArray[np.bool_], here: NDArray[np.bool_], start: Weights
) -> Weights:
    """A head for the templates that are `here`, from the rows `shown`; other rows are zero."""
    names = np.cumsum(here) - 1
    part = np.zeros_like(start)
    part[here] = fit_softmax(
        lesson.rows[shown], names[lesson.labels[shown]], int(here.sum()), start[here]
    )
    return part


def _dealt(lesson: TrainingSet, folds: int, random: np.random.Generator) -> NDArray[np.int64]:
    """A fold for each row, the rows of each template spread as evenly as they go."""
    fold = np.empty(len(lesson.labels), np.int64)
    for label in range(lesson.templates + 1):
        members = np.flatnonzero(lesson.labels == label)
        fold[members] = (random.permutation(len(members)) + random.integers(folds)) % folds
    return fold


def _sampled(lesson: TrainingSet, random: np.random.Generator) -> NDArray[np.bool_]:
    """Enough rows to calibrate two numbers by: all of the background, and so many examples."""
    chosen: NDArray[np.bool_] = lesson.labels == lesson.templates
    inside = np.flatnonzero(~chosen)
    chosen[random.permutation(inside)[:_MOST_HELD_OUT]] = True
    return chosen


def _templates_away(templates: int, folds: int, random: np.random.Generator) -> NDArray[np.int64]:
    """The fold in which each template is away; none ever is where too few would be left."""
    if templates < 3:
        return np.full(templates, -1)
    return random.permutation(templates) % folds


@cache
def use_one_thread() -> None:
    """From now on, NumPy computes each product in the thread that asks for it."""
    threadpool_limits(limits=1, user_api="blas")
