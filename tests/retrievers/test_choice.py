"""Whether the likeliest template is sure enough, and what is said where it is not."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from server.core.decision import Call, Clarify, Decision, Match, MissingArguments, NoMatch
from server.core.turn import Caller, Turn
from server.extraction.extractor import Extractor
from server.library.model import BuiltinExecution, Domain, Library, Parameter, Template
from server.matching.index.store import TemplateStore
from server.matching.matcher import Matcher
from server.matching.selection import Ranking
from server.providers.embeddings.local import LocalEmbedder
from server.retrievers.base import TemplateRetriever
from server.retrievers.calibration import Calibration
from server.retrievers.choice import (
    Judged,
    choose,
    describe_choice,
    is_settled,
    judge,
    least_confidence,
    most_wrong,
    near_words,
)
from server.retrievers.dependencies import DeciderDependencies
from server.retrievers.evidence import FEATURES, Candidate, evidence
from server.retrievers.verifier import shipped_verifier
from server.settings.adapters import AdapterConfig
from server.settings.models import VectorStoreSettings

NOW = datetime(2025, 3, 5, 12, tzinfo=UTC)
LIBRARY = Library(
    Domain("kitchen"),
    {
        one.id: one
        for one in (
            Template(
                "timer",
                "Set a timer",
                "function",
                (
                    "Set a timer for 10 minutes",
                    "start a 5 minute timer",
                    "timer for 3 minutes please",
                    "count down 20 minutes",
                ),
                (Parameter("minutes", "integer"),),
                BuiltinExecution("calculator", "add"),
                effect="write",
            ),
            Template(
                "weather",
                "Tell the weather",
                "function",
                (
                    "What's the weather like?",
                    "is it going to rain",
                    "how warm is it outside",
                    "give me the forecast",
                ),
                (),
                BuiltinExecution("calculator", "add"),
            ),
            Template(
                "recipes",
                "List the recipes of a cook",
                "function",
                (
                    "recipes of Ada Bloom",
                    "show me the recipes of Bo Anders",
                    "which recipes are from Cleo Dunn?",
                    "all recipes by Dan Ericson",
                ),
                (Parameter("cook", "string"),),
                BuiltinExecution("calculator", "add"),
            ),
        )
    },
)


@dataclass
class Kitchen:
    parts: DeciderDependencies
    retriever: TemplateRetriever
    runner: asyncio.Runner

    def judged(self, text: str) -> tuple[list[Judged], Ranking]:
        parts, extractor = self.parts, self.parts.extractor

        async def found() -> tuple[list[Judged], Ranking]:
            reading = extractor.read(text, NOW)
            ranking = await parts.matcher.rank(text, limit=5)
            turn = Turn("t", text, "s", Caller("k", "kitchen"), NOW)
            candidates = self.retriever.read_candidates(turn, reading, ranking)
            return await judge(parts, text, reading, ranking, candidates), ranking

        return self.runner.run(found())

    def chosen(self, text: str) -> Judged | Clarify | NoMatch:
        judged, ranking = self.judged(text)
        return choose(self.parts, judged, ranking)


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kitchen]:
    folder: Path = tmp_path_factory.mktemp("kitchen")
    with asyncio.Runner() as runner:
        store = TemplateStore(VectorStoreSettings(), folder / "chroma")
        encoder, extractor = LocalEmbedder(), Extractor(LIBRARY.domain)
        extractor.prepare(tuple(LIBRARY.templates.values()))
        telling = extractor.telling_words()
        opening = Matcher.open("k", LIBRARY, encoder, store, state_dir=folder, telling=telling)
        matcher = runner.run(opening)
        parts = DeciderDependencies("k", LIBRARY, matcher, extractor, 0.6, 5, 0.1)
        yield Kitchen(parts, TemplateRetriever(parts), runner)
        runner.run(store.close())
        runner.run(encoder.close())


def test_what_is_asked_for_is_chosen(kitchen: Kitchen) -> None:
    best = kitchen.chosen("set a timer for 7 minutes")
    assert isinstance(best, Judged)
    assert (best.match.template_id, best.against) == ("timer", "")
    assert best.match.confidence >= 0.6


def test_what_speaks_against_it_leaves_next_to_nothing(kitchen: Kitchen) -> None:
    (best, *_), _ = kitchen.judged("never set a timer for 7 minutes")
    assert best.against == "negation: never" or best.match.confidence < 0.1
    chosen = kitchen.chosen("never set a timer for 7 minutes")
    assert isinstance(chosen, NoMatch)
    assert (chosen.objection, chosen.unread) == ("negation", ("never",))


@pytest.mark.parametrize(
    ("text", "counter", "speaks"),
    [
        ("show me the recipes of Fay Greene", "who reports to Ada Bloom?", False),  # but for a name
        ("show me the recipes of Fay Greene", "delete the recipes of Ada Bloom", True),
        ("start a timer for 7 minutes", "the match took 90 minutes", True),  # there is no name
    ],
)
def test_a_counter_example_that_is_like_it_for_a_name_alone_says_nothing(
    kitchen: Kitchen, text: str, counter: str, *, speaks: bool
) -> None:
    parts = kitchen.parts
    reading = parts.extractor.read(text, NOW)
    ranking = kitchen.runner.run(parts.matcher.rank(text, limit=1))
    near = replace(ranking.candidates[0], counter=0.2, counter_example=counter)
    ranking = replace(ranking, candidates=(near,))
    turn = Turn("t", text, "s", Caller("k", "kitchen"), NOW)
    candidates = kitchen.retriever.read_candidates(turn, reading, ranking)
    (best,) = kitchen.runner.run(judge(parts, text, reading, ranking, candidates))
    assert best.against.startswith("counter") == speaks


def test_what_has_nothing_to_do_with_the_library_is_said_to_fit_nothing(kitchen: Kitchen) -> None:
    chosen = kitchen.chosen("the Mona Lisa hangs beside Quillon")
    assert isinstance(chosen, NoMatch)
    assert "sure" in chosen.why or "no template at all" in chosen.why


def test_a_refusal_is_about_the_template_that_the_question_is_most_like(kitchen: Kitchen) -> None:
    """Where no call is any good, whichever of them is the least bad."""
    (likely, *_), ranking = kitchen.judged("set a timer for 7 minutes")
    ranked = replace(likely.candidate.ranked, template_id="weather", probability=0.05)
    other = replace(likely.candidate, ranked=ranked)
    hopeless = [
        Judged(other, replace(likely.match, template_id="weather", confidence=0.02)),
        Judged(likely.candidate, replace(likely.match, confidence=0.01)),
    ]
    chosen = choose(kitchen.parts, hopeless, ranking)
    assert isinstance(chosen, NoMatch)
    assert [one.template_id for one in chosen.nearest] == ["timer", "weather"]


def test_nothing_is_chosen_of_nothing(kitchen: Kitchen) -> None:
    assert isinstance(choose(kitchen.parts, [], Ranking((), 1.0)), NoMatch)


def test_the_likeliest_that_reads_every_word_is_settled(kitchen: Kitchen) -> None:
    judged, ranking = kitchen.judged("set a timer for 7 minutes")
    best = judged[0].candidate
    assert is_settled(ranking, best)
    judged, ranking = kitchen.judged("set a purple timer for 7 minutes")
    assert not is_settled(ranking, judged[0].candidate)


def test_only_a_few_unread_words_are_compared(kitchen: Kitchen) -> None:
    def words(text: str) -> list[str]:
        return near_words([one.candidate for one in kitchen.judged(text)[0][:1]])

    assert words("set a timer for 7 minutes") == []
    assert words("set a purple timer for 7 minutes") == ["purple"]
    assert words("set a purple timer for 7 minutes for seven striped fluffy woollen hats") == []


def test_every_feature_has_a_number(kitchen: Kitchen) -> None:
    judged, ranking = kitchen.judged("set a purple timer for 7 minutes except on 2025-01-01")
    candidates: list[Candidate] = [one.candidate for one in judged]
    reading = kitchen.parts.extractor.read("set a timer", NOW)
    for one in candidates:
        rest = [other for other in candidates if other is not one]
        values = evidence(ranking, one, rest, kitchen.parts.extractor.senses(reading))
        assert len(values) == len(FEATURES)
        assert all(value == value and abs(value) < 100 for value in values)


CALIBRATION = Calibration(
    questions=9, scale=1, shift=0, max_wrong=0.2, library="l", verifier="v", risk=((0.5, 0.1),)
)


def config(**more: float) -> AdapterConfig:
    paths = {"domain_config_path": "d.yaml", "template_library_path": "t.yaml"}
    return AdapterConfig.model_validate({**paths, **more})


def test_an_adapters_own_risk_counts_before_that_of_its_calibration() -> None:
    assert most_wrong(config()) == config().max_wrong
    assert most_wrong(config(), CALIBRATION) == 0.2
    assert most_wrong(config(max_wrong=0.05), CALIBRATION) == 0.05


def test_a_written_threshold_counts_before_any_risk() -> None:
    verifier = shipped_verifier()
    assert least_confidence(config(confidence_threshold=0.42), verifier) == 0.42
    assert least_confidence(config(max_wrong=0.05), verifier) == verifier.threshold(0.05)


def test_a_choice_is_told_to_the_trace() -> None:
    match = Match("timer", 0.9, 0.8, "because")
    asked: list[tuple[Decision, str]] = [
        (MissingArguments(match, ()), "ask for what is missing"),
        (Clarify((match, replace(match, template_id="weather"))), "ask which is meant"),
        (NoMatch("no"), "nothing fits"),
        (Call(match, LIBRARY.templates["timer"].call({"minutes": 1}, {})), "call"),
    ]
    assert [describe_choice(one)["decision"] for one, _ in asked] == [said for _, said in asked]
