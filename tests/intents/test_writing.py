"""How a question is written does not change what it means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.intents.support import DECISIONS, STUDY, detector, questions, result

HEBREW = [q["ask"] for q in questions("decisions_he") if q["ask"].strip()]
ENGLISH = [q["ask"] for q in questions("study_en")]
# Text that is taken over as it stands, so that a letter's form at its end is its writer's.
POINTS = (
    "\u05b0\u05b1\u05b2\u05b3\u05b4\u05b5\u05b6\u05b7\u05b8\u05b9\u05bb\u05bc\u05c1\u05c2\u0591"
)
MARKS = "\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2069\ufeff\u200b\u200d"
FINALS = str.maketrans("ךםןץ", "כמנצ")


@pytest.mark.parametrize("question", HEBREW)
def test_vowel_points_are_not_seen(question: str) -> None:
    pointed = "".join(
        letter + POINTS[place % len(POINTS)] if "א" <= letter <= "ת" else letter
        for place, letter in enumerate(question)
    )
    assert result(DECISIONS, pointed) == result(DECISIONS, question)


@pytest.mark.parametrize("question", HEBREW)
def test_final_letters_are_the_same_letters(question: str) -> None:
    assert result(DECISIONS, question.translate(FINALS)) == result(DECISIONS, question)


@given(st.sampled_from(HEBREW), st.data())
def test_invisible_marks_are_not_seen(question: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(question)))
    mark = data.draw(st.sampled_from(MARKS))
    assert result(DECISIONS, question[:at] + mark + question[at:]) == result(DECISIONS, question)


@pytest.mark.parametrize("question", HEBREW)
def test_spaces_and_closing_marks_are_not_seen(question: str) -> None:
    spaced = "\u00a0 " + question.replace(" ", " \t\u3000 ") + " \n"
    wanted = result(DECISIONS, question)
    assert (result(DECISIONS, spaced), result(DECISIONS, question + " !.")) == (wanted, wanted)


@pytest.mark.parametrize("question", ENGLISH)
def test_case_is_not_seen(question: str) -> None:
    wanted = result(STUDY, question)
    assert (result(STUDY, question.upper()), result(STUDY, question.lower())) == (wanted, wanted)


def test_left_to_right_words_among_hebrew_ones() -> None:
    assert (
        result(DECISIONS, "החלטות בנושא Cyber של ממשלה 37")["entities"],
        result(DECISIONS, "\u202bהחלטות בנושא \u202aCyber\u202c של ממשלה \u202a37\u202c\u202c")[
            "entities"
        ],
    ) == (({"government_number": 37, "topic": "Cyber", "operation": "search"},) * 2)


def test_topics_are_spelt_as_words_are() -> None:
    topics = {
        question: result(DECISIONS, f"החלטות בנושא {question}")["entities"]["topic"]
        for question in ("בטחונ ומודיעינ", 'תיקונים במע"מ', "קליפ מוזיקה", "הַגִּיל הָרַךְ", "ביטחונ")
    }
    assert topics == {
        "בטחונ ומודיעינ": "בטחון ומודיעין",
        'תיקונים במע"מ': 'תיקונים במע"מ',
        "קליפ מוזיקה": "קליפ מוזיקה",
        "הַגִּיל הָרַךְ": "הגיל הרך",
        "ביטחונ": "ביטחון",
    }


# Lower case of "İ" is two characters, so a whole text with it is folded letter by letter.
@given(
    st.text(st.characters(exclude_characters="İ"))
    | st.text("אםץ'\"?. \u200f\u05b0\ufb1dΣs５\u0301")
)
def test_a_text_is_read_piece_by_piece_as_it_is_as_a_whole(raw: str) -> None:
    reader = detector(DECISIONS).pack.normalizer
    text, clean = reader.read(raw), reader.clean(raw)
    assert (text.clean, text.folded, text.words) == (clean, reader.fold(clean), reader.words(raw))
