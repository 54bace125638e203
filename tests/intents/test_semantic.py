"""The third layer, on the encoder that the server uses by default."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from server.core.ports import Vectors
from server.core.turn import Intent
from server.errors import ProviderUnavailable
from server.intents.classifier import IntentClassifier
from server.intents.detector import IntentDetector
from server.providers.embeddings.local import LocalEmbedder
from tests.intents.support import NOW, STUDY, detector, pack_of


class Counted(LocalEmbedder):
    """The local encoder, and what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        return await super().embed(texts)


def detect(*questions: str, asked: IntentDetector | None = None) -> tuple[list[Intent], list[str]]:
    """The intent of each question, and all texts that were embedded for them."""

    async def all_of_them() -> tuple[list[Intent], list[str]]:
        embedder = Counted()
        semantic = IntentClassifier(asked or detector(STUDY), embedder)
        found = [(await semantic.detect(question, NOW)).intent for question in questions]
        await embedder.close()
        return found, embedder.embedded

    return asyncio.run(all_of_them())


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("put the new words on cards for me", "CREATE_FLASHCARDS"),
        ("ask me questions to see what I already know", "CREATE_QUIZ"),
        ("recommend what I could learn next", "GET_SUGGESTIONS"),
        ("show the list of study sessions from the past", "VIEW_HISTORY"),
        ("make a schedule for studying in the next weeks", "CREATE_PLAN"),
    ],
)
def test_what_no_rule_knows_is_known_by_its_meaning(question: str, intent: str) -> None:
    (found,), _ = detect(question)
    assert (found.name, found.method, 0.7 <= found.confidence <= 1) == (intent, "semantic", True)


def test_entities_come_along() -> None:
    (found,), _ = detect("put the words of N4 on cards for me")
    assert (found.name, found.entities) == (
        "CREATE_FLASHCARDS",
        {"level": "N4", "topic": "vocabulary"},
    )


@pytest.mark.parametrize(
    "question",
    ["the sky is blue", "I played cards with my uncle", "what is the capital of Japan"],
)
def test_what_means_something_else_is_conversation(question: str) -> None:
    (found,), _ = detect(question)
    assert (found.name, found.confidence, found.method) == ("CHAT", 0.5, "default")


PARAPHRASED = {
    "how do I say good luck in Japanese": "TRANSLATE",
    "what is the Korean for bread": "TRANSLATE",
    "how many days in a row have I kept it up": "CHECK_PROGRESS",
    "am I learning fast enough": "CHECK_PROGRESS",
    "what would be worth learning now": "GET_SUGGESTIONS",
    "tell me what to work on this evening": "GET_SUGGESTIONS",
    "see how much I still know about kanji": "CREATE_QUIZ",
    "divide my study time over the next two weeks": "CREATE_PLAN",
    "play the receptionist and I check in as a guest": "PRACTICE_CONVERSATION",
    "I want to set myself a higher target": "UPDATE_GOALS",
    "what have we gone through in earlier lessons": "RECALL_PAST",
    "which lessons have I done so far": "VIEW_HISTORY",
    "run the real thing with me, with a time limit": "CREATE_EXAM",
}


def test_most_questions_that_no_rule_names_are_recognised() -> None:
    found, _ = detect(*PARAPHRASED)
    right = [
        intent.method == "semantic" and intent.name == meant
        for intent, meant in zip(found, PARAPHRASED.values(), strict=True)
    ]
    assert sum(right) >= 2 / 3 * len(right)


def test_rules_answer_without_the_encoder_and_examples_are_embedded_once() -> None:
    asked = ["quiz me", "", "the sky is blue", "the sea is blue"]
    found, embedded = detect(*asked)
    assert [intent.name for intent in found] == ["CREATE_QUIZ", "CHAT", "CHAT", "CHAT"]
    assert embedded[-2:] == ["the sky is blue", "the sea is blue"]
    assert len(set(embedded)) == len(embedded)


def test_the_threshold_is_a_setting() -> None:
    question = "I want to be asked about verbs and to set a target"
    pack = detector(STUDY).pack

    def with_threshold(least: float) -> Intent:
        layers = pack.spec.layers.model_copy(update={"semantic": least})
        other = replace(pack, spec=pack.spec.model_copy(update={"layers": layers}))
        (found,), _ = detect(question, asked=IntentDetector(other))
        return found

    assert (with_threshold(1.0).name, with_threshold(0.2).method) == ("CHAT", "semantic")


class Unreachable(LocalEmbedder):
    async def embed(self, texts: Sequence[str]) -> Vectors:
        raise ProviderUnavailable("the encoder is down")


def test_rules_decide_alone_while_the_encoder_cannot_be_reached() -> None:
    semantic = IntentClassifier(detector(STUDY), Unreachable())
    found = asyncio.run(semantic.detect("what would be worth learning now", NOW)).intent
    assert (found.name, found.method) == ("CHAT", "default")


def test_strict_intents_and_lacking_entities_are_not_chosen_by_meaning(tmp_path: Path) -> None:
    loaded = pack_of(
        tmp_path,
        """\
name: doors
fallback: {intent: NONE}
layers: {semantic: 0.6}
entities: [{name: code, kind: number, patterns: ['{number}']}]
intents:
  - {name: ERASE, strict: true, examples: [delete everything now]}
  - {name: OPEN, requires: {any_entity: [code]}, examples: [open the front door]}
  - {name: NONE}
""",
    )
    assert loaded.pack is not None
    found, _ = detect(
        "delete everything now",
        "please open the front door",
        "please open the front door, 77",
        asked=IntentDetector(loaded.pack),
    )
    assert [intent.name for intent in found] == ["NONE", "NONE", "OPEN"]
