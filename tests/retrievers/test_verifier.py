"""The verifier that ships, and how sure it is."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from server.retrievers import verifier as module
from server.retrievers.evidence import FEATURES
from server.retrievers.verifier import Verifier, probability, shipped_verifier

SHIPPED = json.loads(Path(module.__file__).with_name("verifier.json").read_text(encoding="utf-8"))


def test_every_weight_that_ships_is_of_a_feature() -> None:
    assert set(SHIPPED["weights"]) <= set(FEATURES)
    assert len(FEATURES) == len(set(FEATURES))


def test_the_file_is_read_in_the_order_of_the_features() -> None:
    shipped = shipped_verifier()
    assert shipped == Verifier.of(SHIPPED)
    assert dict(zip(FEATURES, shipped.weights, strict=True)) == (
        dict.fromkeys(FEATURES, 0.0) | SHIPPED["weights"]
    )


def test_the_curve_that_ships_ascends_and_its_risk_never_grows() -> None:
    risk = shipped_verifier().risk
    assert all(first < second for (first, _), (second, _) in pairwise(risk))
    assert all(before >= after for (_, before), (_, after) in pairwise(risk))


@pytest.mark.parametrize(
    ("max_wrong", "threshold"), [(0.5, 0.2), (0.1, 0.4), (0.05, 0.4), (0.04, 0.6), (0.0, 0.99)]
)
def test_the_threshold_is_the_least_that_keeps_the_risk(max_wrong: float, threshold: float) -> None:
    curve = Verifier((), 0.0, ((0.2, 0.2), (0.4, 0.05), (0.6, 0.02)))
    assert curve.threshold(max_wrong) == threshold


def test_a_threshold_never_stands_below_one_that_goes_wrong_too_often() -> None:
    bumpy = Verifier((), 0.0, ((0.2, 0.01), (0.4, 0.3), (0.6, 0.02)))
    assert bumpy.threshold(0.05) == 0.6


def test_a_score_is_the_bias_and_what_each_feature_weighs() -> None:
    weighed = Verifier(tuple(float(n) for n in range(len(FEATURES))), 0.5, ())
    values = [0.0] * len(FEATURES)
    values[1], values[2] = 1.0, -2.0
    assert weighed.score(values) == 0.5 + 1.0 - 4.0
    with pytest.raises(ValueError, match="argument"):
        weighed.score(values[1:])


def test_scale_and_shift_make_it_as_sure_as_one_library_says() -> None:
    sure = Verifier((), 0.0, (), scale=2.0, shift=-1.0)
    assert sure.probability(0.5) == 0.5
    assert sure.probability(3.0) == probability(5.0)


def test_probabilities_stay_within_bounds() -> None:
    assert [probability(score) for score in (-1000, 0, 1000)] == [0.0, 0.5, 1.0]
