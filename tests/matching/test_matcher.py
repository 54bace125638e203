"""Whole matching, with the real encoder and the real store."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from server.core.decision import Match, NoMatch
from server.core.ports import Embedder, Vectors
from server.errors import IndexEmpty, ProviderUnavailable
from server.library.model import Domain, Library
from server.matching.index.store import TemplateStore
from server.matching.matcher import Matcher, SearchMode
from server.matching.selection import Ranking, choose_template
from server.providers.embeddings.factory import CachedEmbedder
from tests.matching.libraries import PLACES, library_of
from tests.support.fake_embedder import FakeEmbedder

pytestmark = pytest.mark.anyio

TRAVEL = library_of(PLACES)


@pytest.fixture
async def matcher(encoder: Embedder, store: TemplateStore, tmp_path: Path) -> Matcher:
    return await Matcher.open("travel", TRAVEL, encoder, store, state_dir=tmp_path / "heads")


def answer(ranking: Ranking) -> str | None:
    chosen = choose_template(ranking, {}, floor=0.6, margin=0.1)
    return chosen.template_id if isinstance(chosen, Match) else None


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("will it rain in Paris on Sunday", "weather"),
        ("pls give me the forecast for Tokyo", "weather"),
        ("wether forcast for Madrid", "weather"),
        ("when does the train to Hamburg leave?", "trains"),
        ("which platfrom for the trian to Nice", "trains"),
        ("find a cheap hotel in Rome for 3 nights", "hotels"),
        ("who wrote the odyssey", None),
        ("what is 15% of 200?", None),
        ("tell me a joke", None),
        ("asdf jkl", None),
    ],
)
async def test_questions_find_their_template_or_none(
    matcher: Matcher, text: str, template: str | None
) -> None:
    assert answer(await matcher.rank(text, limit=3)) == template


async def test_a_question_that_is_an_example_is_for_its_template(
    encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    """Unlike all others as it is; with other values it is the same sentence."""
    story = "my aunt packs 3 coats, shall she"
    weather = TRAVEL.templates["weather"]
    told = replace(weather, nl_examples=(*weather.nl_examples, story))
    library = Library(TRAVEL.domain, {**TRAVEL.templates, "weather": told})
    matcher = await Matcher.open("told", library, encoder, store, state_dir=tmp_path / "heads")
    assert matcher.is_example("My aunt packs 5 coats, shall she?")
    assert not matcher.is_example("my aunt packs coats")
    for text in (story, "My aunt packs 5 coats, shall she?"):
        ranking = await matcher.rank(text, limit=3)
        (best, *_), outside = ranking.candidates, ranking.out_of_scope
        assert (best.template_id, best.probability > 0.96, outside < 0.04) == (
            "weather",
            True,
            True,
        )


async def test_a_ranking_says_how_near_and_how_likely(matcher: Matcher) -> None:
    ranking = await matcher.rank("What's the weather in London?", limit=2)
    best, second = ranking.candidates
    assert (best.template_id, best.nearest_example) == ("weather", "What's the weather in London?")
    assert best.similarity == pytest.approx(1, abs=1e-5)
    assert best.probability > 0.9 > 0.1 > second.probability
    total = sum(candidate.probability for candidate in ranking.candidates) + ranking.out_of_scope
    assert 0.9 < total <= 1 + 1e-6
    assert ranking.readings == ("what is the weather in london?",)


async def test_all_probabilities_sum_to_one(matcher: Matcher) -> None:
    ranking = await matcher.rank("a room in Berlin", limit=99)
    total = sum(candidate.probability for candidate in ranking.candidates) + ranking.out_of_scope
    assert len(ranking.candidates) == 3
    assert total == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
async def test_blanks_mean_nothing(matcher: Matcher, text: str) -> None:
    assert await matcher.rank(text, limit=3) == Ranking((), out_of_scope=1.0)


@pytest.mark.parametrize(
    "text",
    ["?!", "\x00\ufffd", "🚂🚂🚂", "\ud800", "9" * 5000, "train " * 3000, "[" * 5000],
    ids=["signs", "controls", "emoji", "surrogate", "digits", "long", "brackets"],
)
async def test_any_text_can_be_ranked(matcher: Matcher, text: str) -> None:
    ranking = await matcher.rank(text, limit=3)
    assert len(ranking.candidates) == 3
    assert np.isfinite([candidate.probability for candidate in ranking.candidates]).all()


QUESTIONS = [question for texts in PLACES.values() for question in texts] + [
    "is there snow in Oslo",
    "trian to Rome",
    "sing me a song",
]


async def test_memory_and_chroma_give_the_same_answers(
    encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    resident, stored = [
        await Matcher.open(
            "travel", TRAVEL, encoder, store, search=search, state_dir=tmp_path / "heads"
        )
        for search in ("resident", "chroma")
    ]
    for question in QUESTIONS:
        assert await resident.rank(question, limit=2) == await stored.rank(question, limit=2)
    assert [resident.stats()["search"], stored.stats()["search"]] == ["resident", "chroma"]


@pytest.mark.parametrize(("most", "search"), [(15, "resident"), (14, "chroma")])
async def test_size_decides_where_to_search(
    store: TemplateStore, tmp_path: Path, most: int, search: str
) -> None:
    matcher = await Matcher.open(
        "travel",
        TRAVEL,
        FakeEmbedder(),
        store,
        resident_max_vectors=most,
        state_dir=tmp_path / "heads",
    )
    assert matcher.stats()["search"] == search


@pytest.mark.parametrize("search", ["resident", "chroma"])
async def test_of_examples_that_are_compared_as_one_text_the_first_is_shown(
    encoder: Embedder, store: TemplateStore, tmp_path: Path, search: SearchMode
) -> None:
    examples = [f"What is {percent}% of {percent * 9}?" for percent in range(3, 14)]
    sums = library_of({**PLACES, "percentage": ["share of the whole", *examples]}, domain="sums")
    matcher = await Matcher.open(
        "sums", sums, encoder, store, search=search, state_dir=tmp_path / "heads"
    )
    for question in ("what is 44% of 5?", "whats 1% of 8", "how much is 2% of 7"):
        (best,) = (await matcher.rank(question, limit=1)).candidates
        assert (best.template_id, best.nearest_example) == ("percentage", "What is 3% of 27?")


async def test_slips_are_put_right_beside_what_was_written(
    store: TemplateStore, tmp_path: Path
) -> None:
    matcher = await Matcher.open("travel", TRAVEL, FakeEmbedder(), store, state_dir=tmp_path)
    ranking = await matcher.rank("is there a trian to Rome", limit=3)
    assert ranking.readings == ("is there a trian to rome", "is there a train to rome")


async def test_questions_that_differ_in_values_share_a_vector(
    store: TemplateStore, tmp_path: Path
) -> None:
    embedder = FakeEmbedder()
    cached = CachedEmbedder(embedder, size=8)
    matcher = await Matcher.open("travel", TRAVEL, cached, store, state_dir=tmp_path)
    embedder.batches.clear()
    for hour in ("9:30", "10:15", "23:59"):
        await matcher.rank(f"the {hour} train", limit=1)
    assert embedder.batches == [("the 10:30 train",)]


async def test_synonyms_of_the_domain_are_understood(
    encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    plain, taught = [
        await Matcher.open(name, library, encoder, store, state_dir=tmp_path)
        for name, library in (
            ("plain", TRAVEL),
            ("taught", library_of(PLACES, synonyms={"hotel": ("zimmerli",)})),
        )
    ]
    question = "find me a zimmerli in Vienna"
    understood = await taught.rank(question, limit=1)
    assert understood.readings[-1] == "find me a hotel in vienna"
    before = (await plain.rank(question, limit=1)).candidates[0].probability
    after = understood.candidates[0].probability
    assert after > before


async def test_a_second_start_embeds_and_learns_nothing(
    store: TemplateStore, tmp_path: Path
) -> None:
    first_embedder, second_embedder = FakeEmbedder(), FakeEmbedder()
    first = await Matcher.open("travel", TRAVEL, first_embedder, store, state_dir=tmp_path)
    second = await Matcher.open("travel", TRAVEL, second_embedder, store, state_dir=tmp_path)
    assert first.stats() == {
        "vectors": 15,
        "search": "resident",
        "embedded": 15,
        "reused": 0,
        "removed": 0,
        "head": "learnt",
    }
    assert second.stats() == first.stats() | {"embedded": 0, "reused": 15, "head": "read"}
    assert second_embedder.batches == []
    assert await first.rank("rain", limit=3) == await second.rank("rain", limit=3)


async def test_a_changed_library_is_learnt_anew(store: TemplateStore, tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    await Matcher.open("travel", TRAVEL, embedder, store, state_dir=tmp_path)
    embedder.batches.clear()
    grown = library_of({**PLACES, "taxis": ("Call me a cab", "A taxi to the airport")})
    matcher = await Matcher.open("travel", grown, embedder, store, state_dir=tmp_path)
    assert (matcher.stats()["embedded"], matcher.stats()["head"]) == (3, "learnt")
    assert [len(batch) for batch in embedder.batches] == [3]  # and not the background again
    assert (await matcher.rank("a taxi", limit=1)).candidates[0].template_id == "taxis"


async def test_templates_in_another_order_are_not_mixed_up(
    store: TemplateStore, tmp_path: Path
) -> None:
    embedder = FakeEmbedder()
    first = await Matcher.open("travel", TRAVEL, embedder, store, state_dir=tmp_path)
    turned = library_of(dict(reversed(list(PLACES.items()))))
    second = await Matcher.open("travel", turned, embedder, store, state_dir=tmp_path)
    for question in QUESTIONS[:6]:
        found = [(await m.rank(question, limit=1)).candidates[0] for m in (first, second)]
        assert found[0].template_id == found[1].template_id


def _damage(folder: Path, damage: str) -> None:
    for kept in folder.glob("*.np*"):
        match damage:
            case "cut short":
                kept.write_bytes(kept.read_bytes()[:-100])
            case "not ours":
                kept.write_bytes(b"something else")
            case _:
                kept.unlink()


@pytest.mark.parametrize("damage", ["cut short", "not ours", "gone"])
async def test_a_damaged_head_is_learnt_anew(
    store: TemplateStore, tmp_path: Path, damage: str
) -> None:
    first = await Matcher.open("travel", TRAVEL, FakeEmbedder(), store, state_dir=tmp_path)
    _damage(tmp_path, damage)
    second = await Matcher.open("travel", TRAVEL, FakeEmbedder(), store, state_dir=tmp_path)
    assert second.stats()["head"] == "learnt"
    assert await first.rank("rain", limit=3) == await second.rank("rain", limit=3)


async def test_a_folder_that_takes_no_files_is_only_slower(
    store: TemplateStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "heads").write_text("a file is in the way")
    matcher = await Matcher.open(
        "travel", TRAVEL, FakeEmbedder(), store, state_dir=tmp_path / "heads"
    )
    assert matcher.stats()["head"] == "learnt"
    assert {record.levelname for record in caplog.records} == {"WARNING"}


async def test_one_template_is_a_library_too(
    encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    alone = library_of({"weather": PLACES["weather"]})
    matcher = await Matcher.open("alone", alone, encoder, store, state_dir=tmp_path)
    asked = ("is it going to rain in Lima", "book me a flight", "hello", "sort my socks")
    found = [answer(await matcher.rank(text, limit=5)) for text in asked]
    assert found == ["weather", None, None, None]


class Meddling(FakeEmbedder):
    """Takes vectors away behind the back of the one who had them made."""

    def __init__(self, store: TemplateStore) -> None:
        super().__init__()
        self._store = store
        self.left = 1

    async def embed(self, texts: Sequence[str]) -> Vectors:
        made = await super().embed(texts)
        if self.left:
            self.left -= 1
            await self._store.run(_forget_one)
        return made


def _forget_one(client: Any) -> None:
    for found in client.list_collections():
        found.delete(ids=found.get(limit=1)["ids"])


async def test_vectors_that_another_process_takes_away_are_made_again(
    store: TemplateStore, tmp_path: Path
) -> None:
    await Matcher.open("travel", TRAVEL, FakeEmbedder(), store, state_dir=tmp_path)
    grown = library_of({**PLACES, "taxis": ("Call me a cab",)})
    matcher = await Matcher.open("travel", grown, Meddling(store), store, state_dir=tmp_path)
    assert matcher.stats()["vectors"] == 17


async def test_an_empty_library_is_named(store: TemplateStore, tmp_path: Path) -> None:
    empty = Library(Domain("empty"), {})
    with pytest.raises(IndexEmpty, match="'travel' has no templates"):
        await Matcher.open("travel", empty, FakeEmbedder(), store, state_dir=tmp_path)


class Down(FakeEmbedder):
    async def warm(self) -> None:
        raise ProviderUnavailable("embedding provider 'x' is down")


async def test_an_encoder_that_is_down_is_named(store: TemplateStore, tmp_path: Path) -> None:
    with pytest.raises(ProviderUnavailable, match="is down"):
        await Matcher.open("travel", TRAVEL, Down(), store, state_dir=tmp_path)


async def test_nothing_is_chosen_where_nothing_is_near(matcher: Matcher) -> None:
    chosen = choose_template(await matcher.rank("zzz", limit=3), {}, floor=0.6, margin=0.1)
    assert isinstance(chosen, NoMatch)
    assert len(chosen.nearest) == 3
