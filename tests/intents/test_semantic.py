"""The third layer, on the encoder that the server uses by default."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from server.core.ports import Vectors
from server.core.turn import Intent
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
        ("make me cards to memorise new words", "CREATE_FLASHCARDS"),
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
    (found,), _ = detect("make me 5 cards to memorise new words")
    assert (found.name, found.entities) == (
        "CREATE_FLASHCARDS",
        {"count": 5, "topic": "vocabulary"},
    )


def test_what_means_something_else_is_conversation() -> None:
    (found,), _ = detect("the sky is blue")
    assert (found.name, found.confidence, found.method) == ("CHAT", 0.5, "default")


def test_rules_answer_without_the_encoder_and_examples_are_embedded_once() -> None:
    examples = [
        example
        for intent in detector(STUDY).pack.intents.values()
        for example in intent.spec.examples
    ]
    found, embedded = detect("quiz me", "", "the sky is blue", "the sea is blue")
    assert [intent.name for intent in found] == ["CREATE_QUIZ", "CHAT", "CHAT", "CHAT"]
    assert embedded == [*examples, "the sky is blue", "the sea is blue"]


def test_the_threshold_is_a_setting() -> None:
    question = "prepare a deck of memory cards"
    pack = detector(STUDY).pack
    layers = pack.spec.layers.model_copy(update={"semantic": 0.5})
    lower = replace(pack, spec=pack.spec.model_copy(update={"layers": layers}))
    (above,), _ = detect(question)
    (below,), _ = detect(question, asked=IntentDetector(lower))
    assert (above.name, below.name, below.method) == ("CHAT", "CREATE_FLASHCARDS", "semantic")


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
