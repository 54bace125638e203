"""How the verifier's numbers are made, over a library that it learns from."""

from pathlib import Path

import numpy as np
import pytest

from server.core.ports import Embedder
from server.evaluation.questions import Question
from server.providers.embeddings.local import LocalEmbedder
from server.retrievers.evidence import FEATURES
from utils.train.contrasts import contrasts
from utils.train.fit import AGAINST, FOR, learn
from utils.train.observe import (
    LIBRARIES,
    Observation,
    Row,
    labelled,
    library_questions,
    observe,
    read_library,
)

FOLDER = LIBRARIES / "cinema"
LIBRARY = read_library(FOLDER)
QUESTIONS = library_questions(FOLDER, LIBRARY)


def test_every_feature_with_a_sign_exists_and_has_one() -> None:
    assert set(FEATURES) >= AGAINST | FOR
    assert not AGAINST & FOR


def rows(chance: np.random.Generator, *, right: bool) -> Row:
    """Features that say the contrary of what their signs allow."""
    features = chance.normal(0.0, 1.0, len(FEATURES))
    for at, name in enumerate(FEATURES):
        lie = (name in FOR and not right) or (name in AGAINST and right)
        features[at] = abs(features[at]) + (2.0 if lie else 0.0)
    features[FEATURES.index("write")] = 3.0 if right else -3.0
    return Row(features.tolist(), right, right, asks=False, objected=False)


def test_no_weight_gets_the_wrong_sign_whatever_the_data_says() -> None:
    chance = np.random.default_rng(7)
    found = [
        Observation("l", "", True, [rows(chance, right=True), rows(chance, right=False)])
        for _ in range(40)
    ]
    learnt = learn(found)
    for name, weight in zip(FEATURES, learnt.weights, strict=True):
        assert name not in FOR or weight >= 0, name
        assert name not in AGAINST or weight <= 0, name
    assert learnt.weights[FEATURES.index("write")] > 0
    right, wrong = (learnt.probability(row) for row in found[0].rows)
    assert right > 0.5 > wrong
    again = learn(found)
    assert (again.weights == learnt.weights).all()


def test_what_is_objected_to_is_never_likely() -> None:
    row = rows(np.random.default_rng(1), right=True)
    learnt = learn([Observation("l", "", True, [row, rows(np.random.default_rng(2), right=False)])])
    objected = Row(row.features, True, True, asks=False, objected=True)
    assert learnt.probability(objected) == pytest.approx(0.02 * learnt.probability(row))


def test_contrasts_differ_from_their_question_and_are_the_same_each_time() -> None:
    some = [one for one in QUESTIONS if one.template is not None][:6]
    made = list(contrasts(some, LIBRARY, ["tractor"], 3))
    again = list(contrasts(some, LIBRARY, ["tractor"], 3))
    assert [one[0] for one in made] == [one[0] for one in again]
    asks = {one.ask for one in some}
    assert made
    assert all(text not in asks and weight < 1 for text, _, _, weight in made)
    assert {answerable for _, answerable, _, _ in made} == {True, False}


def test_a_question_without_an_answer_has_no_contrasts() -> None:
    nothing: list[Question] = [one for one in QUESTIONS if one.template is None][:3]
    assert list(contrasts(nothing, LIBRARY, [], 0)) == []


@pytest.fixture
def encoder() -> Embedder:
    return LocalEmbedder()


@pytest.mark.anyio
async def test_a_library_is_observed_as_a_turn_reads_it(encoder: Embedder, tmp_path: Path) -> None:
    some = [one for one in QUESTIONS if one.template is not None][:4]
    asked = [labelled(one, LIBRARY) for one in some]
    asked += contrasts(some[:1], LIBRARY, [], 0)
    found = await observe("cinema", LIBRARY, asked, encoder, tmp_path)
    await encoder.close()
    assert [one.ask for one in found] == [text for text, *_ in asked]
    assert all(len(row.features) == len(FEATURES) for one in found for row in one.rows)
    for one in found:
        right = [row for row in one.rows if row.template_right]
        assert len(right) <= 1
        assert one.answerable or not right
    assert sum(any(row.template_right for row in one.rows) for one in found[:4]) >= 3
