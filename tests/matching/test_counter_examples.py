"""Counter examples: questions that look like a template's own, and are none of its."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from server.core.ports import Embedder
from server.library.model import Library
from server.matching.index.store import TemplateStore
from server.matching.matcher import Matcher, SearchMode
from server.matching.model.training import Texts, prepare
from tests.matching.libraries import PLACES, library_of

pytestmark = pytest.mark.anyio

TRAINS = "Where can I buy a toy train for my son?"
ROOMS = "Paint the double room in Prague"


def with_counters(library: Library, **counters: tuple[str, ...]) -> Library:
    templates = {
        name: replace(one, counter_examples=counters.get(name, ()))
        for name, one in library.templates.items()
    }
    return replace(library, templates=templates)


async def opened(
    library: Library,
    encoder: Embedder,
    store: TemplateStore,
    folder: Path,
    search: SearchMode = "auto",
) -> Matcher:
    return await Matcher.open("a", library, encoder, store, state_dir=folder, search=search)


async def test_a_question_that_is_one_is_for_none_of_the_templates(
    encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    plain = await opened(library_of(PLACES), encoder, store, tmp_path)
    before = await plain.rank(TRAINS, limit=3)
    library = with_counters(library_of(PLACES), trains=(TRAINS,))
    after = await (await opened(library, encoder, store, tmp_path)).rank(TRAINS, limit=3)
    assert after.out_of_scope > max(0.5, before.out_of_scope)


@pytest.mark.parametrize("search", ["resident", "chroma"])
async def test_it_says_by_how_much_one_is_nearer_than_any_example(
    search: SearchMode, encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    library = with_counters(library_of(PLACES), trains=(TRAINS,), hotels=(ROOMS,))
    matcher = await opened(library, encoder, store, tmp_path, search)
    found = {
        text: {c.template_id: c for c in (await matcher.rank(text, limit=3)).candidates}
        for text in (TRAINS, "Where can we buy toy trains for kids?", "Trains from Rome to Oslo")
    }
    same, near, other = found.values()
    assert (same["trains"].counter, same["trains"].counter_example) == (1.0, TRAINS)
    assert 0 < near["trains"].counter < 1
    assert near["trains"].counter_example == TRAINS
    assert (other["trains"].counter, other["trains"].counter_example) == (0.0, "")


async def test_no_counter_example_is_shown_as_the_nearest_example(
    encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    library = with_counters(library_of(PLACES), trains=(TRAINS,))
    ranking = await (await opened(library, encoder, store, tmp_path)).rank(TRAINS, limit=3)
    assert TRAINS not in {one.nearest_example for one in ranking.candidates}


async def test_the_example_of_another_template_stays_its_own(
    encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    weather = PLACES["weather"][1]
    library = with_counters(library_of(PLACES), trains=(weather,))
    ranking = await (await opened(library, encoder, store, tmp_path)).rank(weather, limit=3)
    best = ranking.candidates[0]
    assert (best.template_id, best.probability > 0.5, best.counter) == ("weather", True, 0.0)


async def test_one_that_is_masked_like_an_example_counts_for_nothing(
    encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    library = with_counters(library_of(PLACES), trains=("Is the 7:15 train to York on time?",))
    matcher = await opened(library, encoder, store, tmp_path)
    best = (await matcher.rank("Is the 8:00 train to York on time?", limit=1)).candidates[0]
    assert (best.template_id, best.counter) == ("trains", 0.0)


async def test_changing_one_learns_anew(
    encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    stats = []
    for text in (TRAINS, TRAINS, ROOMS):
        library = with_counters(library_of(PLACES), trains=(text,))
        found = (await opened(library, encoder, store, tmp_path)).stats()
        stats.append((found["head"], found["embedded"]))
    assert [head for head, _ in stats] == ["learnt", "read", "learnt"]
    assert stats[1][1] == 0
    assert stats[2][1] == 1


def test_what_is_near_the_library_is_dropped_from_the_negatives_but_no_counter_example() -> None:
    direction = np.eye(4, dtype=np.float32)
    near = direction[0] * 0.99 + direction[1] * 0.141
    library = Texts(
        ["will it rain", "is rain near", "rain man the film"],
        np.vstack([direction[0], near, near]).astype(np.float32),
        np.array([0, 0, 1]),
        np.ones(3, np.bool_),
    )
    found = prepare(library, 1, ("will it rain", "sing a song"), direction[[0, 2]])
    assert found.labels.tolist() == [0, 0, 1, 1]
    assert len(found.rows) == 4
