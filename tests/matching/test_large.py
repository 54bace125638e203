"""Libraries that are large: kept in files, served by neighbours until their head is learnt."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from server.core.ports import Embedder, Vectors
from server.library.loader import load_library
from server.library.model import Library
from server.matching.index.store import TemplateStore
from server.matching.large.index import drop_unused_files
from server.matching.large.vector_file import VectorFile
from server.matching.matcher import Matcher
from tests.matching.libraries import PLACES, library_of
from utils.bench._big_libraries import Question, write_library

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TEMPLATES = 60


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Library, list[Question]]:
    folder = tmp_path_factory.mktemp("large")
    asked = write_library(folder, TEMPLATES, questions=72)
    library = load_library(folder / "domain.yaml", [folder / "*-*.yaml"], {}).library
    assert library is not None
    return library, asked


class Counting:
    """The real encoder, and the texts it was given."""

    def __init__(self, encoder: Embedder) -> None:
        self._encoder, self.texts = encoder, list[str]()
        self.fingerprint, self.name = encoder.fingerprint, encoder.name

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return await self._encoder.embed(texts)

    async def warm(self) -> None:
        await self._encoder.warm()

    async def close(self) -> None:
        """The real one belongs to the fixture."""


@asynccontextmanager
async def opened(library: Library, encoder: Embedder, folder: Path) -> AsyncIterator[Matcher]:
    await encoder.warm()
    counting = Counting(encoder)
    matcher = await Matcher.open_large(
        "large", library, counting, state_dir=folder, telling=lambda _: ()
    )
    try:
        yield matcher
    finally:
        await matcher.close()


def indexes_in(folder: Path) -> list[str]:
    return [path.stem for path in folder.glob("*.f16")]


async def shares(matcher: Matcher, questions: Sequence[Question]) -> tuple[float, float]:
    """The share of questions that find their template first, and of others that find none."""
    right, silent = list[bool](), list[bool]()
    for question in questions:
        ranking = await matcher.rank(question.text, limit=5)
        if question.template is None:
            silent.append(ranking.out_of_scope > 0.5)
        else:
            right.append(ranking.candidates[0].template_id == question.template)
    return float(np.mean(right)), float(np.mean(silent))


async def test_neighbours_answer_until_the_head_is_learnt_and_it_is_as_good_as_a_resident_one(
    written: tuple[Library, list[Question]], encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    library, asked = written
    resident = await Matcher.open("r", library, encoder, store, state_dir=tmp_path / "resident")
    right, silent = await shares(resident, asked)
    told = list[str]()
    async with opened(library, encoder, tmp_path) as matcher:
        matcher.when_learnt(lambda: told.append(matcher.stats()["head"]))
        assert (matcher.is_learning, matcher.stats()["head"]) == (True, "learning")
        first = await matcher.rank(asked[0].text, limit=5)
        assert len(first.candidates) == 5
        await matcher.learnt()
        assert (matcher.is_learning, matcher.stats()["head"], told) == (False, "learnt", ["learnt"])
        after, silent_after = await shares(matcher, asked)
        sum_of_all = await matcher.rank(asked[0].text, limit=TEMPLATES)
    assert after >= right - 0.02
    assert silent_after >= silent - 0.1
    total = sum(each.probability for each in sum_of_all.candidates) + sum_of_all.out_of_scope
    assert total == pytest.approx(1, abs=0.01)


async def test_what_was_kept_is_opened_without_embedding_and_learning(
    written: tuple[Library, list[Question]], encoder: Embedder, tmp_path: Path
) -> None:
    library, asked = written
    async with opened(library, encoder, tmp_path) as matcher:
        await matcher.learnt()
        before = await matcher.rank(asked[0].text, limit=3)
    async with opened(library, encoder, tmp_path) as matcher:
        stats = matcher.stats()
        assert (stats["embedded"], stats["head"], matcher.is_learning) == (0, "read", False)
        assert await matcher.rank(asked[0].text, limit=3) == before


async def test_of_a_changed_library_only_what_changed_is_embedded(
    written: tuple[Library, list[Question]], encoder: Embedder, tmp_path: Path
) -> None:
    library, _ = written
    async with opened(library, encoder, tmp_path) as matcher:
        embedded = matcher.stats()["embedded"]
    name, template = next(iter(library.templates.items()))
    told = replace(template, nl_examples=(*template.nl_examples, "frobnicate the gizmo"))
    changed = replace(library, templates={**library.templates, name: told})
    async with opened(changed, encoder, tmp_path) as matcher:
        assert embedded > 500
        assert matcher.stats()["embedded"] == 1
        assert matcher.is_learning
        ranking = await matcher.rank("frobnicate the gizmo", limit=3)
        assert ranking.candidates[0].template_id == name
        assert ranking.candidates[0].nearest_example == "frobnicate the gizmo"
        assert ranking.candidates[0].probability > 0.9
        assert matcher.is_example("Frobnicate the gizmo?")


async def test_files_of_another_domain_are_deleted_when_nothing_uses_them(
    encoder: Embedder, tmp_path: Path
) -> None:
    for domain in ("travel", "hotels"):
        async with opened(library_of(PLACES, domain=domain), encoder, tmp_path) as matcher:
            pass
    drop_unused_files(tmp_path, "another", ())
    drop_unused_files(tmp_path, "large", (matcher.index_name,))
    assert indexes_in(tmp_path) == [matcher.index_name]


async def test_entries_and_vectors_go_together(
    written: tuple[Library, list[Question]], encoder: Embedder, tmp_path: Path
) -> None:
    library, _ = written
    async with opened(library, encoder, tmp_path) as matcher:
        entries = matcher.entries
        assert len(list(entries)) == len(entries) == matcher.stats()["vectors"]
        some = [3, 200, 11]
        vectors = await matcher.vectors_at(some)
        again = await encoder.embed([entries[at].masked for at in some])
        assert np.abs(vectors - again).max() < 1e-3
        assert [entries[at] for at in some] == [list(entries)[at] for at in some]


async def test_a_counter_example_is_named_where_it_is_nearer(
    encoder: Embedder, tmp_path: Path
) -> None:
    library = library_of(PLACES)
    trains = replace(library.templates["trains"], counter_examples=("Where are toy trains sold?",))
    library = replace(library, templates={**library.templates, "trains": trains})
    async with opened(library, encoder, tmp_path) as matcher:
        found = {}
        for text in ("where are toy trains sold", "Which platform does the Rome train go from?"):
            ranking = await matcher.rank(text, limit=3)
            found[text] = {each.template_id: each.counter for each in ranking.candidates}["trains"]
        said, other = found.values()
        assert said > 0.3
        assert other == 0


async def test_closing_ends_learning(
    written: tuple[Library, list[Question]], encoder: Embedder, tmp_path: Path
) -> None:
    library, _ = written
    async with opened(library, encoder, tmp_path) as matcher:
        async with asyncio.timeout(30):
            await matcher.close()
    assert not (tmp_path / f"{matcher.index_name}.npz").exists()


def test_vectors_that_were_cut_short_are_written_again(tmp_path: Path) -> None:
    rows = np.eye(3, 8, dtype=np.float32)
    file = VectorFile(tmp_path / "v")
    file.append(np.array([5, 7, 9], np.uint64), rows)
    with (tmp_path / "v.f16").open("r+b") as cut:
        cut.truncate(8 + 2 * 8 * 2 + 3)
    again = VectorFile(tmp_path / "v")
    assert again.ids().tolist() == [5, 7]
    again.append(np.array([11], np.uint64), rows[:1])
    assert again.ids().tolist() == [5, 7, 11]
    assert np.array_equal(VectorFile(tmp_path / "v").read(np.array([2, 0, 1])), rows[[0, 0, 1]])


def test_a_file_that_begins_anew_is_still_read_by_who_has_it_open(tmp_path: Path) -> None:
    rows = np.eye(3, dtype=np.float32)
    file = VectorFile(tmp_path / "v")
    file.append(np.array([1, 2, 3], np.uint64), rows)
    other = VectorFile(tmp_path / "v")
    file.clear()
    file.append(np.array([4], np.uint64), 2 * rows[:1])
    assert np.array_equal(other.read(np.array([0, 1, 2])), rows)
    for each in (file, VectorFile(tmp_path / "v")):
        assert each.ids().tolist() == [4]
        assert np.array_equal(each.read(np.array([0])), 2 * rows[:1])
