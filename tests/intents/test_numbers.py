"""Number words of a language, alone and composed."""

import pytest

from tests.intents.support import BOOKINGS, DECISIONS, entities

FEMININE = ["אחת", "שתיים", "שלוש", "ארבע", "חמש", "שש", "שבע", "שמונה", "תשע"]
MASCULINE = ["אחד", "שניים", "שלושה", "ארבעה", "חמישה", "שישה", "שבעה", "שמונה", "תשעה"]
TEENS = {
    "עשר": 10, "אחת עשרה": 11, "שתים עשרה": 12, "שלוש עשרה": 13, "ארבע עשרה": 14,
    "חמש עשרה": 15, "שש עשרה": 16, "שבע עשרה": 17, "שמונה עשרה": 18, "תשע עשרה": 19,
    "עשרה": 10, "אחד עשר": 11, "שנים עשר": 12, "שניים עשר": 12, "שלושה עשר": 13,
    "ארבעה עשר": 14, "חמישה עשר": 15, "שישה עשר": 16, "שבעה עשר": 17, "שמונה עשר": 18,
    "תשעה עשר": 19,
}  # fmt: skip
TENS = ["עשרים", "שלושים", "ארבעים", "חמישים", "שישים", "שבעים", "שמונים", "תשעים"]

HEBREW = {
    **{word: number for units in (FEMININE, MASCULINE) for number, word in enumerate(units, 1)},
    **TEENS,
    **{word: number for number, word in zip(range(20, 100, 10), TENS, strict=True)},
    **{
        f"{ten} ו{unit}": tens * 10 + number
        for tens, ten in enumerate(TENS, 2)
        for units in (FEMININE, MASCULINE)
        for number, unit in enumerate(units, 1)
    },
}


@pytest.mark.parametrize(("words", "number"), HEBREW.items())
def test_every_number_to_99_in_both_genders(words: str, number: int) -> None:
    assert entities(DECISIONS, f"תן לי {words} החלטות") == {"operation": "search", "limit": number}


ORDINALS = {
    "הראשונה": 1, "השנייה": 2, "השניה": 2, "השלישית": 3, "הרביעית": 4, "החמישית": 5,
    "השישית": 6, "השביעית": 7, "השמינית": 8, "התשיעית": 9, "העשירית": 10,
    **{f"ה{words}": number for words, number in HEBREW.items() if number > 10},
}  # fmt: skip


@pytest.mark.parametrize(("words", "number"), ORDINALS.items())
def test_every_ordinal_to_99(words: str, number: int) -> None:
    found = entities(DECISIONS, f"ספר לי על ההחלטה {words} ששלחת")
    assert found == {"reference_type": "specific", "reference_position": number}


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("אפס", None),
        ("מאה", 100),
        ("מאה עשרים ושבע", 127),
        ("מאתיים וחמישים", 250),
        ("שלוש מאות", 300),
        ("תשע מאות תשעים ותשע", 999),
        ("אלף", 1000),
        ("שלושים-ושבע", 37),
        ("שלושים־ושבע", 37),
        ("כשלושים ושבע", 37),
        ("חמש או שש", 6),
        ("עשר וחמש", 5),
        ("שלושים שבע", 7),
    ],
)
def test_hundreds_hyphens_and_numbers_side_by_side(words: str, number: int | None) -> None:
    assert entities(DECISIONS, f"אני רוצה {words} החלטות בנושא מים").get("limit") == number


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("seven", 7), ("nineteen", 19), ("twenty", 20), ("twenty one", 21), ("twenty-one", 21),
        ("ninety-nine", 99), ("one hundred", 100), ("a hundred and five", 105),
        ("two hundred forty-two", 242), ("one thousand two hundred and thirty four", 1234),
        ("twenty thousand", None), ("five six", 6), ("twenty ten", 10), ("1,250", 1250),
    ],
)  # fmt: skip
def test_numbers_in_english(words: str, number: int | None) -> None:
    found = entities(BOOKINGS, f"book a table tomorrow, we are {words} people")
    assert found["guests"] == (2 if number is None else number)


def test_a_number_inside_another_word_is_none() -> None:
    assert entities(DECISIONS, "החלטות בנושא שבעתיים וששון") == {
        "operation": "search",
        "topic": "שבעתיים וששון",
    }
