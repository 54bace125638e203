"""Misspelt words are read as what they were meant to be, and others are left alone."""

import pytest

from tests.intents.support import DECISIONS, NOW, STUDY, detector, entities, result


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("החלתות בנושא ביטחון", {"topic": "ביטחון"}),  # by its sound
        ("החלטות ממשלא 36", {"government_number": 36}),
        ("החלטות משרד הבריעות", {"ministries": ["משרד הבריאות"]}),
        ("החלטות משרד החינןך", {"ministries": ["משרד החינוך"]}),  # another letter
        ("החלטות של מישרד האוצר", {"ministries": ["משרד האוצר"]}),  # a letter more
        ("החלטות מספטמר 2018", {"date_range": {"start": "2018-09-01", "end": "2018-09-30"}}),
        ("החלטות מינאור 2022", {"date_range": {"start": "2022-01-01", "end": "2022-01-31"}}),
    ],
)
def test_slips_in_every_entity(question: str, expected: dict[str, object]) -> None:
    assert entities(DECISIONS, question) == expected | {"operation": "search"}


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("quizz me on verbs please", "CREATE_QUIZ"),
        ("explian the causative", "EXPLAIN_GRAMMAR"),
        ("transalte this", "TRANSLATE"),
        ("make me some flashcrads", "CREATE_FLASHCARDS"),
        ("create flash cards for me", "CREATE_FLASHCARDS"),
        ("show my progres", "CHECK_PROGRESS"),
    ],
)
def test_slips_in_keywords(question: str, intent: str) -> None:
    assert result(STUDY, question)["intent"] == intent


def test_a_slip_in_what_a_quiz_is_about() -> None:
    assert entities(STUDY, "quiz me about partcles") == {"topic": "particles"}


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("החלטות בנושא פיקוח", "פיקוח"),  # not פיתוח
        ("החלטות בנושא תעופה", "תעופה"),  # not תקופה
        ("כמה החלטות בנושא יום השואה?", "יום השואה"),  # not השוואה
    ],
)
def test_free_text_is_never_put_right(question: str, topic: str) -> None:
    assert entities(DECISIONS, question)["topic"] == topic


@pytest.mark.parametrize("question", ["I ate goats and texts", "from a stream", "a steak please"])
def test_other_words_that_look_alike_stay(question: str) -> None:
    assert result(STUDY, question)["intent"] == "CHAT"


def test_places_are_those_of_the_question_as_it_was_written() -> None:
    question = "החלתות של משרד הבריעות מ-2020"
    found = detector(DECISIONS).detect(question, NOW)
    assert found.words == {"ministries": "משרד הבריעות", "date_range": "2020"}
    start = question.index("משרד")
    assert found.places(question)["ministries"] == ((start, start + len("משרד הבריעות")),)
