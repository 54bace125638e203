"""The arithmetic under a head: regression, discriminant, calibration."""

import numpy as np
import pytest
from numpy.typing import NDArray

from server.core.ports import Vectors
from server.matching.model import classifiers, training
from server.matching.model.classifiers import (
    ABSENT,
    INSIDE,
    NEARLY,
    OUTSIDE,
    PENALTY,
    HeldOut,
    TrainingSet,
    fit_discriminant,
    fit_softmax,
)
from server.matching.model.head import BUCKETS, DIMENSIONS, softmax
from server.matching.model.training import Texts, calibrate, prepare, train


def clusters(
    classes: int, each: int, *, spread: float = 0.5, dimensions: int = 48, seed: int = 1
) -> tuple[Vectors, NDArray[np.int64]]:
    """Unit rows about a direction of their class each."""
    chance = np.random.default_rng(seed)
    labels = np.repeat(np.arange(classes), each)
    rows = chance.standard_normal((classes, dimensions))[labels]
    rows += spread * chance.standard_normal(rows.shape)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32), labels


def training_set(templates: int, each: int, *, spread: float = 0.5, seed: int = 1) -> TrainingSet:
    """Rows with a description a template, and background that lies anywhere."""
    rows, labels = clusters(templates, each + 1, spread=spread, seed=seed)
    background, _ = clusters(100, 1, seed=seed + 1)
    described = np.arange(len(rows)) % (each + 1) == each
    return TrainingSet(
        rows=np.pad(np.vstack([rows, background]), ((0, 0), (0, 1)), constant_values=1),
        labels=np.concatenate([labels, np.full(100, templates)]),
        examples=np.concatenate([~described, np.ones(100, np.bool_)]),
        templates=templates,
        weights=np.ones(BUCKETS, np.float32),
        centre=np.zeros(rows.shape[1], np.float32),
        spread=np.float32(1),
    )


def gradient(weights: Vectors, rows: Vectors, labels: NDArray[np.int64]) -> Vectors:
    shares = softmax(rows @ weights.T)
    shares[np.arange(len(rows)), labels] -= 1
    found: Vectors = shares.T @ rows + PENALTY * weights
    return found


def test_regression_ends_where_the_loss_is_flat() -> None:
    rows, labels = clusters(6, 8)
    weights = fit_softmax(rows, labels, 6)
    at_start = np.abs(gradient(np.zeros_like(weights), rows, labels)).max()
    assert np.abs(gradient(weights, rows, labels)).max() < 0.02 * at_start
    assert (rows @ weights.T).argmax(axis=1).tolist() == labels.tolist()


def test_regression_from_a_near_start_ends_in_the_same_place() -> None:
    rows, labels = clusters(5, 8, spread=1.0)
    cold = fit_softmax(rows, labels, 5)
    warm = fit_softmax(rows, labels, 5, start=cold + np.float32(0.01))
    np.testing.assert_allclose(softmax(rows @ warm.T), softmax(rows @ cold.T), atol=0.02)


def test_softmax_survives_large_logits() -> None:
    shares = softmax(np.array([[1000.0, 0.0], [-1000.0, -1000.0]], np.float32))
    assert shares.tolist() == [[1, 0], [0.5, 0.5]]


def test_discriminant_judges_a_row_by_the_mean_of_the_others() -> None:
    whole = training_set(4, 5)
    _, _, seen = fit_discriminant(whole)
    means = np.stack([whole.rows[whole.labels == label].mean(axis=0) for label in range(5)])
    covariance = classifiers._covariance(whole, means)
    asked = seen.kinds == INSIDE
    found = np.sort(seen.logits[asked, seen.labels[asked]])
    expected = []
    for place in np.flatnonzero((whole.labels < 4) & whole.examples):
        others = whole.labels == whole.labels[place]
        others[place] = False
        mean = whole.rows[others].mean(axis=0)
        solved = np.linalg.solve(covariance, mean) * classifiers._SPREAD
        expected.append(float(whole.rows[place] @ solved - 0.5 * mean @ solved))
    np.testing.assert_allclose(found, np.sort(expected), rtol=1e-3)


@pytest.mark.parametrize("largest", [training._LARGEST_SOFTMAX, 0])
def test_both_kinds_of_head_find_the_template_and_doubt_the_rest(
    largest: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "_LARGEST_SOFTMAX", largest)
    learnt = train(training_set(8, 10))
    rows, labels = clusters(8, 30, seed=1)  # the same directions, drawn again
    background, _ = clusters(200, 1, seed=99)
    inside = softmax(rows @ learnt.weights.T + learnt.bias)
    outside = softmax(background @ learnt.weights.T + learnt.bias)
    assert (inside[:, :-1].argmax(axis=1) == labels).mean() > 0.95
    assert (outside[:, :-1].max(axis=1) < 0.6).mean() > 0.9
    assert (inside[:, :-1].max(axis=1) >= 0.6).mean() > 0.8


@pytest.mark.parametrize(("templates", "each"), [(1, 1), (1, 3), (2, 1), (2, 3), (3, 2)])
def test_the_smallest_libraries_can_be_learnt(templates: int, each: int) -> None:
    whole = training_set(templates, each, spread=0.3)
    learnt = train(whole)
    shares = softmax(whole.rows[:, :-1] @ learnt.weights.T + learnt.bias)
    own = whole.labels < templates
    assert np.isfinite(learnt.weights).all()
    assert shares[own].argmax(axis=1).tolist() == whole.labels[own].tolist()
    assert (shares[~own, :-1].max(axis=1) < 0.6).mean() > 0.9


def held_out(scale: float, shift: float, count: int = 4000) -> HeldOut:
    """Labels drawn from what the logits say at a true scale and shift."""
    chance = np.random.default_rng(3)
    logits = chance.standard_normal((count, 4)).astype(np.float32) * 2
    true = logits * scale
    true[:, -1] += shift
    shares = softmax(true)
    labels = (shares.cumsum(axis=1) > chance.random((count, 1))).argmax(axis=1)
    return HeldOut(logits, labels, np.where(labels == 3, OUTSIDE, INSIDE))


@pytest.mark.parametrize("scale", [0.7, 2.5])
def test_calibration_finds_the_scale_that_the_data_has(scale: float) -> None:
    assert calibrate(held_out(scale, 0.0)).scale == pytest.approx(scale, rel=0.1)


def test_more_doubt_about_the_rest_means_a_larger_shift() -> None:
    seen = held_out(1.5, 0.0)
    confident = calibrate(seen)
    nearly = HeldOut(
        np.concatenate([seen.logits, seen.logits[seen.kinds == INSIDE]]),
        np.concatenate([seen.labels, np.full((seen.kinds == INSIDE).sum(), 3)]),
        np.concatenate([seen.kinds, np.full((seen.kinds == INSIDE).sum(), NEARLY)]),
    )
    assert calibrate(nearly).shift > confident.shift


def test_calibration_without_evidence_stays_near_what_is_usual() -> None:
    one = HeldOut(np.array([[2.0, 0.0]], np.float32), np.array([0]), np.array([INSIDE]))
    found = calibrate(one)
    assert 1 < found.scale < 3
    assert -8 < found.shift < 2


def test_a_template_that_was_away_has_no_part_in_calibration() -> None:
    seen = held_out(1.5, 0.0)
    wide = np.insert(seen.logits, 0, ABSENT, axis=1)
    found = calibrate(HeldOut(wide, seen.labels + 1, seen.kinds))
    assert found.scale == pytest.approx(calibrate(seen).scale, rel=1e-3)


def test_background_that_a_template_is_about_is_left_out() -> None:
    library = Texts(
        texts=["rain", "more rain", "snow"],
        vectors=np.array([[1, 0, 0], [0.8, 0.6, 0], [0.6, 0.8, 0]], np.float32),
        owners=np.array([0, 0, 0]),
        examples=np.array([True, True, False]),
    )
    background = np.array([[0.98, 0.199, 0], [0, 0, 1]], np.float32)
    found = prepare(library, 1, ("will it rain", "sing a song"), background)
    assert found.labels.tolist() == [0, 0, 0, 1]
    vectors = found.rows[:, :3] * found.spread + found.centre
    np.testing.assert_allclose(vectors, [*library.vectors, [0, 0, 1]], atol=1e-6)
    assert found.rows[:, -1].tolist() == [1, 1, 1, 1]


def test_a_template_without_a_theme_does_not_take_the_background_away() -> None:
    chance = np.random.default_rng(4)
    vectors = chance.standard_normal((30, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    library = Texts(["x"] * 3, vectors[:3], np.zeros(3, np.int64), np.ones(3, np.bool_))
    found = prepare(library, 1, ["y"] * 27, vectors[3:])
    assert (found.labels == 1).sum() >= 9


def test_what_all_vectors_share_does_not_matter() -> None:
    rows, labels = clusters(5, 9)
    background, _ = clusters(60, 1, seed=5)
    shares = []
    for common, narrow in ((0.0, 1.0), (3.0, 0.3)):
        moved = [part * np.float32(narrow) + np.float32(common) for part in (rows, background)]
        library = Texts(["x"] * len(rows), moved[0], labels, np.ones(len(rows), np.bool_))
        learnt = train(prepare(library, 5, ["y"] * 60, moved[1]))
        seen = np.pad(moved[0], ((0, 0), (0, DIMENSIONS)))
        shares.append(softmax(seen @ learnt.weights.T + learnt.bias))
    np.testing.assert_allclose(shares[0], shares[1], atol=0.05)
