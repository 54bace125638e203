"""The plane of a library's examples, and which of its templates collide."""

from collections.abc import Sequence
from time import perf_counter

import numpy as np
import pytest

from server.evaluation import library_map
from server.evaluation.library_map import ExampleSpace, Sentence


def space(vectors: Sequence[Sequence[float]], templates: str) -> ExampleSpace:
    """A space with one sentence a letter of `templates`, named by its place."""
    unit = np.asarray(vectors, np.float32)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    return ExampleSpace([Sentence(t, f"{t}{n}") for n, t in enumerate(templates)], unit)


def test_the_plane_shows_the_two_directions_in_which_examples_differ_most() -> None:
    random = np.random.default_rng(7)
    strengths = np.array([9.0, 5.0, *[1.0] * 60])
    vectors = (random.standard_normal((800, 62)) * strengths).astype(np.float32)
    plane = library_map._plane_of(vectors)
    centred = vectors - vectors.mean(axis=0)
    values, directions = np.linalg.eigh(centred.T @ centred)
    best = directions[:, ::-1][:, :2].T
    assert np.abs(np.abs(plane.axes @ best.T) - np.eye(2)).max() < 1e-3
    assert plane.explained == pytest.approx(values[::-1][:2] / values.sum(), abs=1e-3)
    assert np.allclose(plane.places(vectors).mean(axis=0), 0, atol=1e-3)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_examples_have_a_plane_as_well(count: int) -> None:
    random = np.random.default_rng(7).standard_normal((count, 8))
    found = ExampleSpace([Sentence("a", "a")] * count, random.astype(np.float32))
    assert len(found.points) == count
    assert found.collisions == ()
    assert sum(found.plane.explained) == pytest.approx(1 if count > 1 else 0, abs=1e-3)


def test_a_question_lies_where_its_vector_does() -> None:
    found = space([[1, 0, 0.1], [1, 0.2, 0], [0, 1, 0], [0, 0.9, 0.3]], "aabb")
    place, nearest = found.locate(found.vectors[2:3])
    assert place == (found.points[2]["x"], found.points[2]["y"])
    assert nearest[0] == (Sentence("b", "b2"), 1.0)
    assert [each.sentence.template for each in nearest] == ["b", "b", "a", "a"]
    # The reading that is nearest to any example counts.
    far = np.array([[0, 0, 1]], np.float32)
    assert found.locate(np.vstack([far, found.vectors[2:3]])) == (place, nearest)


def test_templates_collide_whose_examples_are_as_near_to_each_other_as_to_their_own() -> None:
    found = space(
        [[1, 0, 0], [1, 0.5, 0], [0.9, 1, 0], [0.2, 1, 0.1], [0, 0, 1], [0, 0.1, 1]], "aabbcc"
    )
    [pair] = found.collisions
    assert pair.templates == ("a", "b")
    assert [(each.sentence.text, each.near.text) for each in pair.sentences] == [
        ("b2", "a1"),
        ("a1", "b2"),
    ]
    assert all(each.gap >= -0.05 for each in pair.sentences)


def test_the_likeliest_to_be_confused_come_first() -> None:
    same: list[float] = [1, 0, 0, 0, 0]
    near: list[list[float]] = [[0, 1, 0, 0, 0], [0, 1, 0.9, 0, 0]]
    found = space([same, same, *near, [0, 0, 0, 1, 0]], "abcde")
    assert [each.templates for each in found.collisions] == [("a", "b"), ("c", "d")]


def test_of_a_large_library_every_template_keeps_as_many_as_there_is_room() -> None:
    assert library_map._room_for_each([3000, 3000, 100]) == 2450
    assert library_map._room_for_each([1, 2]) == 2
    assert library_map._spread(range(10), 4) == [0, 2, 5, 7]


def test_as_many_examples_as_are_compared_take_about_a_second() -> None:
    random = np.random.default_rng(7).standard_normal((library_map.MOST_EXAMPLES, 384))
    names = [f"t{n // 10}" for n in range(len(random))]
    sentences = [Sentence(name, name) for name in names]
    found = ExampleSpace(sentences, random.astype(np.float32))
    since = perf_counter()
    assert len(found.points) == library_map.MOST_EXAMPLES
    assert perf_counter() - since < 3  # about 0.3 s; this machine may have other work
