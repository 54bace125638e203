"""Sketches keep the likeness of bags of words."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from server.matching.model.head import DIMENSIONS, rarity, sketch_text

TEXTS = ["the weather in rome", "the weather in oslo", "trains to oslo", "a hotel in rome"]
WEIGHTS = rarity(TEXTS)


def cosine(left: str, right: str) -> float:
    a, b = sketch_text([left, right], WEIGHTS)
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_rows_have_about_unit_length() -> None:
    rows = sketch_text(TEXTS, WEIGHTS)
    assert rows.shape == (4, DIMENSIONS)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=0.1)


def test_shared_words_make_texts_alike_and_rare_ones_more_so() -> None:
    assert cosine("the weather in rome", "the weather in rome") > 0.999
    shares_much = cosine("the weather in rome", "the weather in oslo")
    shares_rare = cosine("trains to oslo", "trains to rome")
    shares_common = cosine("in a hotel", "in the weather")
    assert shares_much > shares_rare > shares_common > -0.1
    assert abs(cosine("trains to oslo", "a hotel in rome")) < 0.2


def test_words_that_the_library_lacks_dilute_those_it_has() -> None:
    own, diluted = sketch_text(["weather", "weather zeppelin quark"], WEIGHTS)
    assert float(own @ diluted) < 0.8


def test_a_text_without_words_is_nothing() -> None:
    assert not sketch_text(["", "  "], WEIGHTS).any()


def test_places_and_signs_are_the_same_on_every_machine() -> None:
    (row,) = sketch_text(["weather"], np.ones_like(WEIGHTS))
    places = np.flatnonzero(row)
    assert places.tolist() == [60, 65, 106, 126, 217, 312, 331, 378]
    assert np.sign(row[places]).tolist() == [1, 1, -1, -1, -1, 1, -1, -1]


@given(st.lists(st.text(max_size=20), max_size=5))
def test_a_row_depends_on_its_own_text_alone(texts: Sequence[str]) -> None:
    together = sketch_text(texts, WEIGHTS)
    for row, text in zip(together, texts, strict=True):
        np.testing.assert_array_equal(row, sketch_text([text], WEIGHTS)[0])
