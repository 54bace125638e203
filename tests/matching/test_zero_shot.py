"""Libraries whose templates describe themselves and show no examples."""

from dataclasses import replace
from pathlib import Path

import pytest

from server.core.decision import Match
from server.core.ports import Embedder
from server.library.model import Domain, Library, Parameter
from server.matching.index.store import TemplateStore
from server.matching.matcher import Matcher
from server.matching.model.zero_shot import stems
from server.matching.selection import Ranking, choose_template
from tests.matching.libraries import PLACES, template

pytestmark = pytest.mark.anyio

DESCRIPTIONS = {
    "book_table": "Book a table at a restaurant for a number of people",
    "track_parcel": "Track where a parcel is by its tracking number",
    "currency.convert": "Convert an amount of money from one currency to another",
}

DESCRIBED = Library(
    Domain("services"), {name: template(name, (), about) for name, about in DESCRIPTIONS.items()}
)


def answer(ranking: Ranking) -> str | None:
    chosen = choose_template(ranking, {}, floor=0.6, margin=0.1)
    return chosen.template_id if isinstance(chosen, Match) else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("book a table for four people at a restaurant near me", "book_table"),
        ("can you track my parcel, its number is 12345", "track_parcel"),
        ("convert 20 dollars to another currency, euros", "currency.convert"),
        ("who wrote the odyssey", None),
        ("tell me a joke", None),
        ("what is the weather like in Rome?", None),
        ("asdf jkl", None),
        ("", None),
    ],
)
async def test_questions_find_what_describes_itself_or_nothing(
    encoder: Embedder, store: TemplateStore, tmp_path: Path, text: str, expected: str | None
) -> None:
    matcher = await Matcher.open("a", DESCRIBED, encoder, store, state_dir=tmp_path)
    assert answer(await matcher.rank(text, limit=3)) == expected


async def test_there_is_no_head_to_learn(
    encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    matcher = await Matcher.open("a", DESCRIBED, encoder, store, state_dir=tmp_path)
    assert matcher.stats()["head"] == "read"
    assert not (tmp_path / "a.npz").exists()


async def test_shares_are_probabilities_however_many_readings(
    encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    matcher = await Matcher.open("a", DESCRIBED, encoder, store, state_dir=tmp_path)
    for text in ("track a parcel", "trakc a percel"):
        ranking = await matcher.rank(text, limit=3)
        shares = [candidate.probability for candidate in ranking.candidates]
        assert sum(shares) + ranking.out_of_scope == pytest.approx(1)
        assert ranking.candidates[0].template_id == "track_parcel"
        assert ranking.candidates[0].nearest_example == DESCRIPTIONS["track_parcel"]


async def test_beside_templates_with_examples_neither_kind_takes_the_others_questions(
    encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    shown = {name: template(name, texts) for name, texts in PLACES.items()}
    library = Library(Domain("services"), {**shown, **DESCRIBED.templates})
    matcher = await Matcher.open("a", library, encoder, store, state_dir=tmp_path)
    expected = {
        "will it rain in Paris on Sunday": "weather",
        "when does the train to Hamburg leave?": "trains",
        "find a cheap hotel in Rome for 3 nights": "hotels",
        "can you track my parcel, its number is 12345": "track_parcel",
        "convert 20 dollars to another currency, euros": "currency.convert",
        "who wrote the odyssey": None,
    }
    assert {text: answer(await matcher.rank(text, limit=3)) for text in expected} == expected


async def test_what_its_arguments_are_called_belongs_to_what_is_compared(
    encoder: Embedder, store: TemplateStore, tmp_path: Path
) -> None:
    parameters = (Parameter("body_weight", "number"), Parameter("dog_breed", "string"))
    fed = replace(template("daily_ration", (), "How much to give"), parameters=parameters)
    library = Library(Domain("services"), {"daily_ration": fed})
    plain = Library(Domain("services"), {"daily_ration": replace(fed, parameters=())})
    text = "how much food a day for a dog, a poodle that weighs 8 kg?"
    found = []
    for name, one in (("with", library), ("without", plain)):
        matcher = await Matcher.open(name, one, encoder, store, state_dir=tmp_path)
        found.append((await matcher.rank(text, limit=1)).candidates[0].probability)
    assert found[0] > found[1]


def test_names_and_texts_have_the_same_stems() -> None:
    assert stems("get_trackingNumber.byParcels") == stems("Get tracking numbers, by the parcel")
