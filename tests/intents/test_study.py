"""The study assistant: every keyword, every pattern, and what questions name."""

import pytest

from tests.intents.support import STUDY, detector, entities, result

KEYWORDS = {
    "flashcards": "CREATE_FLASHCARDS",
    "flashcard": "CREATE_FLASHCARDS",
    "quiz": "CREATE_QUIZ",
    "test": "CREATE_EXAM",
    "exam": "CREATE_EXAM",
    "progress": "CHECK_PROGRESS",
    "streak": "CHECK_PROGRESS",
    "explain": "EXPLAIN_GRAMMAR",
    "meaning": "EXPLAIN_GRAMMAR",
    "translate": "TRANSLATE",
    "practice": "PRACTICE_CONVERSATION",
    "talk": "PRACTICE_CONVERSATION",
    "remember": "RECALL_PAST",
    "history": "VIEW_HISTORY",
    "plan": "CREATE_PLAN",
    "goals": "UPDATE_GOALS",
    "suggest": "GET_SUGGESTIONS",
}

PATTERNS = {
    "EXPLAIN_GRAMMAR": [
        "what is the passive form", "how do particles work", "tell me about the grammar of it",
        "what is conjugation", "use of the particle", "usage of wa",
        "difference between wa and ga", "when do I use wa", "when should I use wa",
        "when to use wa",
    ],
    "CHECK_PROGRESS": [
        "how am I today", "how'm I doing", "how am I doing", "show my stats", "check stats",
        "view my stats", "am I improving", "am I getting better",
    ],
    "RECALL_PAST": [
        "recall it", "last time", "we talked", "we discussed it", "what did I learn",
        "when did we study it", "what did we discuss", "you said so", "you told me so",
        "you mentioned it",
    ],
    "PRACTICE_CONVERSATION": [
        "speak with me in japanese", "speak to me in korean", "roleplay with me",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("keyword", "intent"), KEYWORDS.items())
@pytest.mark.parametrize("question", ["{}", "Well, {}!", "{} AND MORE"])
def test_every_keyword_is_sure(keyword: str, intent: str, question: str) -> None:
    found = detector(STUDY).detect(question.format(keyword)).intent
    assert (found.name, found.confidence, found.method) == (intent, 1.0, "keyword")


@pytest.mark.parametrize(
    ("intent", "question"), [(intent, q) for intent, many in PATTERNS.items() for q in many]
)
def test_every_pattern_is_nearly_sure(intent: str, question: str) -> None:
    found = detector(STUDY).detect(question).intent
    assert (found.name, found.confidence, found.method) == (intent, 0.9, "regex")


def test_what_nothing_fits_is_conversation() -> None:
    assert result(STUDY, "nice to meet you") == {
        "intent": "CHAT",
        "confidence": 0.5,
        "method": "default",
        "entities": {},
        "flags": {},
        "explanation": "general conversation",
    }


@pytest.mark.parametrize(
    ("words", "topic"),
    [
        ("grammar", "grammar"), ("particle", "grammar"), ("conjugation", "grammar"),
        ("form", "grammar"), ("tense", "grammar"), ("vocab", "vocabulary"),
        ("vocabulary", "vocabulary"), ("words", "vocabulary"), ("kanji", "vocabulary"),
        ("verb", "verbs"), ("verbs", "verbs"), ("動詞", "verbs"), ("particles", "particles"),
        ("助詞", "particles"), ("keigo", "keigo"), ("honorific", "keigo"), ("polite", "keigo"),
        ("formal", "keigo"), ("counter", "counters"), ("counters", "counters"),
        ("助数詞", "counters"), ("動詞の活用", "verbs"), ("문법을", "grammar"),
    ],
)  # fmt: skip
def test_every_topic(words: str, topic: str) -> None:
    assert entities(STUDY, f"something about {words}")["topic"] == topic


def test_grammar_point_belongs_to_explanations_alone() -> None:
    assert (
        entities(STUDY, "explain the te form? now"),
        entities(STUDY, "quiz me about the te form"),
    ) == ({"topic": "grammar", "grammar_point": "the te form"}, {"topic": "grammar"})


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("10 N4 flashcards", {"count": 10, "level": "N4"}),
        ("ten N4 cards", {"count": 10, "level": "N4"}),
        ("5 N4", {"count": 5, "level": "N4"}),
        ("give me 8 N3 questions on verbs", {"count": 8, "level": "N3", "topic": "verbs"}),
        ("level 2 flashcards, 10 cards", {"count": 10, "level": "N2"}),
        ("N3 flashcards", {"level": "N3"}),
        ("I passed N4, so make flashcards for N3", {"level": "N3"}),
        ("make 2.5 flashcards", {}),
        ("make minus three flashcards", {}),
    ],
)
def test_counts_beside_levels(question: str, expected: dict[str, object]) -> None:
    assert entities(STUDY, question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "make 2.5 flashcards",
        "make 1,5 flashcards",
        "quiz me with minus three questions",
        "make -3 flashcards",
    ],
)
def test_what_is_no_count_is_asked_about(question: str) -> None:
    assert detector(STUDY).detect(question).intent.ask == "How many should there be?"


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("make flashcards about the weather in Osaka", "weather in Osaka"),
        ("quiz me on train stations, please", "train stations"),
        ("flashcards about verbs of motion", "verbs"),
        ("make me some flashcards for me", None),
        ("translate a story about a dragon", None),
    ],
)
def test_topics_are_free_text_where_none_is_known(question: str, topic: str | None) -> None:
    assert entities(STUDY, question).get("topic") == topic


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("Instead of flashcards on verbs, give me a quiz on verbs", "CREATE_QUIZ"),
        ("Don't quiz me, make 5 flashcards", "CREATE_FLASHCARDS"),
        ("I had a quiz yesterday, but now I want flashcards", "CREATE_FLASHCARDS"),
        ("don't make flashcards", "CREATE_FLASHCARDS"),
    ],
)
def test_clauses_that_ask_for_nothing_do_not_decide(question: str, intent: str) -> None:
    assert result(STUDY, question)["intent"] == intent
