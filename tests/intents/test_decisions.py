"""The Hebrew engine for government decisions: its contract, its triggers, its patterns."""

from datetime import datetime
from typing import Any

import pytest

from tests.intents.support import DECISIONS, detector, entities, result

NO_FLAGS = {"needs_context": False, "is_statistical": False, "is_comparison": False}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "החלטות ממשלה 37 בנושא חינוך",
            {
                "intent_type": "QUERY",
                "entities": {"government_number": 37, "topic": "חינוך", "operation": "search"},
                "confidence": 1.0,
                "route_flags": NO_FLAGS,
                "explanation": "search operation",
            },
        ),
        (
            "כמה החלטות יש בנושא בריאות?",
            {
                "intent_type": "QUERY",
                "entities": {"topic": "בריאות", "operation": "count"},
                "confidence": 1.0,
                "route_flags": NO_FLAGS | {"is_statistical": True},
                "explanation": "count operation",
            },
        ),
        (
            "השווה בין ממשלה 36 ל-37",
            {
                "intent_type": "QUERY",
                "entities": {"operation": "compare", "comparison_target": "governments:36,37"},
                "confidence": 1.0,
                "route_flags": NO_FLAGS | {"is_comparison": True},
                "explanation": "compare operation",
            },
        ),
        (
            "נתח את החלטה 2983",
            {
                "intent_type": "EVAL",
                "entities": {"decision_number": 2983},
                "confidence": 1.0,
                "route_flags": NO_FLAGS,
                "explanation": "Deep analysis request",
            },
        ),
        (
            "נתח את ההחלטה האחרונה ששלחת",
            {
                "intent_type": "REFERENCE",
                "entities": {"reference_type": "last", "reference_position": 1},
                "confidence": 1.0,
                "route_flags": NO_FLAGS | {"needs_context": True},
                "explanation": "Reference to last",
            },
        ),
        (
            "מה?",
            {
                "intent_type": "CLARIFICATION",
                "entities": {},
                "confidence": 0.3,
                "route_flags": NO_FLAGS,
                "explanation": "Query too short",
            },
        ),
    ],
)
def test_the_result_has_exactly_the_specified_fields(question: str, expected: Any) -> None:
    assert result(DECISIONS, question) == expected


@pytest.mark.parametrize("broken", [None, 7, b"\xff", ["החלטות"]])
def test_what_is_no_text_is_answered_with_a_clarification(broken: Any) -> None:
    found = result(DECISIONS, broken)
    assert found == {
        "intent_type": "CLARIFICATION",
        "entities": {},
        "confidence": 0.1,
        "route_flags": NO_FLAGS,
        "explanation": f"Error in detection: expected text, got {type(broken).__name__}",
    }


def test_a_failure_is_logged_with_its_traceback_and_not_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class StoppedClock(datetime):
        def date(self) -> Any:
            raise RuntimeError("secret of /srv/clock")

    now = StoppedClock(2025, 3, 12)
    found = detector(DECISIONS).detect("כמה החלטות היו השבוע?", now)
    assert dict(found.result) == {
        "intent_type": "CLARIFICATION",
        "entities": {},
        "confidence": 0.1,
        "route_flags": NO_FLAGS,
        "explanation": "Error in detection: this question could not be read",
    }
    assert "RuntimeError: secret of /srv/clock" in caplog.text


SEARCH = [
    "החלטות בנושא דיור", "כל החלטות הממשלה בנושא דיור", "הצג משהו על דיור",
    "הראה משהו על דיור", "תן לי משהו על דיור", "מצא משהו על דיור", "חפש משהו על דיור",
    "5 החלטות", "החלטות אחרונות", "החלטות האחרונות", "ממשלה 37", "החלטות משרד החוץ",
    "החלטות בנושא מים", "החלטות בתחום הדיור", "החלטות מתאריך 1.2.2020", "החלטות מיום 1.2.2020",
    "החלטות מ-2020", "החלטות בין 2019 ל-2020",
]  # fmt: skip
COUNT = [
    "כמה החלטות יש", "מספר החלטות בנושא מים", "מספר ההחלטות בנושא מים", "כמות ההחלטות בנושא מים",
    'סה"כ החלטות בנושא מים', "בסך הכל החלטות בנושא מים", "סכום ההחלטות בנושא מים",
    "מה כמות ההחלטות", "מה הכמות של ההחלטות", "כמה פעמים הוחלט על כך",
]  # fmt: skip
COMPARE = [
    "השווה ממשלה 36 וממשלה 37", "השוואה של ממשלה 36 וממשלה 37", "ההבדל של ממשלה 36 וממשלה 37",
    "ממשלה 36 לעומת 37", "תקופה 36 לעומת 37", "שנה 2020 לעומת 2021", "ממשלה 36 מול ממשלה 37",
    "השווה בין תקופה אחת לאחרת", "ההבדל בין שתי תקופות", "מה ההבדל כאן",
]  # fmt: skip
EVAL = [
    "נתח החלטה 123", "נתח את החלטה 123", "ניתוח החלטה 123 בבקשה", "הסבר לעומק החלטה 123",
    "פרט באופן מעמיק החלטה 123", "ניתוח מעמיק של החלטה 123", "אני רוצה ניתוח של החלטה 123",
    "אני רוצה ניתוח מעמיק של החלטה 123", "הסבר את ההשלכות של החלטה 123",
    "מה המשמעות המעמיקה של החלטה 123",
]  # fmt: skip
CLARIFICATION = [
    "מה", "מה?", "מה ?", "איך", "איך?", "למה", "למה?", "מה עם הדברים האלה", "מה לגבי כל השאר",
    "כן", "לא", "אוקיי", "טוב", "כן?", "לא?", "אוקיי?", "טוב?", "החלטות", "ממשלה", "משרד",
    "אחרונה", "ראשונה", "שנייה", "האחרונה", "הראשונה", "השנייה",
    *(f"ספר לי על {word}" for word in
      ("זה", "זו", "זאת", "אלה", "אלו", "הדבר", "העניין", "הנושא")),
    "שתי מילים", "משהו אחר לגמרי היום",
]  # fmt: skip
REFERENCE = [
    *(f"ההחלטה {word} לי בשיחה" for word in
      ("ששלחת", "שהצגת", "שהראית", "שנתת", "שהבאת")),
    *(f"ספר לי על {word}" for word in
      ("האחרונה", "הקודמת", "הראשונה", "השנייה", "השלישית", "הרביעית")),
    "כמו ששאלתי אותך", "כמו שביקשתי ממך", "כפי שאמרתי לך", "בהמשך לשאלה שלי", "עוד כמו הקודמים",
    "זה היה קודם", "זה היה לפני כן", "זה היה מקודם", "זה נאמר זה עתה", "זה נאמר הרגע",
    "ההחלטה ששלחת", "ההחלטה ששלחת לי", "החלטה ששלחת לי", "מה שאמרתי קודם", "מה ששאלתי קודם",
    "מה שביקשתי קודם", "עוד החלטות כמו זו", "עוד כמו זו", "האחרונה שדיברנו עליה",
    "אחרונה שדיברנו עליה", "הקודמת שדיברנו עליה", "קודמת שדיברנו עליה",
]  # fmt: skip


@pytest.mark.parametrize("question", SEARCH)
def test_every_way_to_search(question: str) -> None:
    assert _intent_and_operation(question) == ("QUERY", "search")


@pytest.mark.parametrize("question", COUNT)
def test_every_way_to_count(question: str) -> None:
    assert _intent_and_operation(question) == ("QUERY", "count")


@pytest.mark.parametrize("question", COMPARE)
def test_every_way_to_compare(question: str) -> None:
    assert _intent_and_operation(question) == ("QUERY", "compare")


@pytest.mark.parametrize("question", EVAL)
def test_every_way_to_ask_for_analysis(question: str) -> None:
    assert (_intent_and_operation(question), entities(DECISIONS, question)) == (
        ("EVAL", None),
        {"decision_number": 123},
    )


@pytest.mark.parametrize("question", CLARIFICATION)
def test_everything_vague_is_asked_back(question: str) -> None:
    assert _intent_and_operation(question) == ("CLARIFICATION", None)


@pytest.mark.parametrize("question", REFERENCE)
def test_every_way_to_refer_back(question: str) -> None:
    assert _intent_and_operation(question) == ("REFERENCE", None)


@pytest.mark.parametrize(
    ("question", "route"),
    [
        *((f"{verb} את ההחלטה ששלחת", "EVAL") for verb in ("נתח", "הסבר")),
        ("אני רוצה ניתוח של ההחלטה ששלחת", "EVAL"),
        ("מה ההשלכות של ההחלטה ששלחת", "EVAL"),
        ("מה התאריך של ההחלטה ששלחת", "QUERY"),
    ],
)
def test_a_reference_leads_to_analysis_or_to_search(question: str, route: str) -> None:
    assert detector(DECISIONS).detect(question).intent.route == route


@pytest.mark.parametrize(
    "question",
    [
        "אני רוצה ניתוח מעמיק של ההחלטות האלה",
        "מה המשמעות המעמיקה של החוק",
        "הסבר את ההשלכות של החלטה זו",
    ],
)
def test_analysis_needs_a_decision(question: str) -> None:
    assert result(DECISIONS, question)["intent_type"] == "CLARIFICATION"


def test_what_nearly_fitted_is_told() -> None:
    found = result(DECISIONS, "אני רוצה ניתוח מעמיק בבקשה")
    assert found["explanation"] == ("Could not determine clear intent (EVAL needs decision_number)")


@pytest.mark.parametrize(
    ("words", "ministry"),
    [
        ("החינוך", "משרד החינוך"),
        ("הביטחון", "משרד הביטחון"),
        ("האוצר", "משרד האוצר"),
        ("הבריאות", "משרד הבריאות"),
        ("התחבורה", "משרד התחבורה"),
        ("המשפטים", "משרד המשפטים"),
        ("החוץ", "משרד החוץ"),
        ("הפנים", "משרד הפנים"),
        ("הכלכלה", "משרד הכלכלה והתעשייה"),
        ("החקלאות", "משרד החקלאות ופיתוח הכפר"),
        ('משה"ב', "משרד הביטחון"),
        ('רה"מ', "ראש הממשלה"),
        ('מה"ט', "המטה לביטחון לאומי"),
    ],
)
@pytest.mark.parametrize("mark", ['"', "״", "”", "''", "׳׳"])
def test_ministries_have_their_full_names(words: str, ministry: str, mark: str) -> None:
    question = f"כמה החלטות של {words.replace(chr(34), mark)} יש"
    assert entities(DECISIONS, question) == {"operation": "count", "ministries": [ministry]}


@pytest.mark.parametrize(
    ("number", "read"), [(19, None), (20, 20), (38, 38), (39, None), (10**30, None)]
)
def test_governments_are_numbered_from_20_to_38(number: int, read: int | None) -> None:
    found = result(DECISIONS, f"החלטות ממשלה {number} בנושא חינוך")
    if read is None:
        assert (found["intent_type"], found["explanation"]) == (
            "CLARIFICATION",
            "Governments are numbered from 20 to 38",
        )
    else:
        assert found["entities"]["government_number"] == read


def _intent_and_operation(question: str) -> tuple[str, str | None]:
    found = result(DECISIONS, question)
    return found["intent_type"], found["entities"].get("operation")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("5 החלטות", {"limit": 5}),
        ("תראה לי עשר החלטות", {"limit": 10}),
        ("החלטה אחת בנושא מים", {"limit": 1, "topic": "מים"}),
        ("ממשלה 37", {"government_number": 37}),
        ("הממשלה השלושים ושבע", {"government_number": 37}),
        ("החלטה חמש מאות", {"decision_number": 500}),
        ("החלטה אלף מאתיים", {"decision_number": 1200}),
        ("החלטה מספר אלף ושלושים", {"decision_number": 1030}),
        ("החלטות משנת אלפיים ותשע עשרה", {
            "date_range": {"start": "2019-01-01", "end": "2019-12-31"},
        }),
    ],
)  # fmt: skip
def test_a_number_fills_the_one_field_it_is_for(question: str, expected: dict[str, Any]) -> None:
    assert entities(DECISIONS, question) == expected | {"operation": "search"}


@pytest.mark.parametrize(
    ("words", "government"),
    [
        ("ממשלת בנט", 36), ("ממשלת בנט-לפיד", 36), ("ממשלת לפיד", 36), ("ראש הממשלה לפיד", 36),
        ("ממשלת נתניהו השנייה", 32), ("ממשלת נתניהו השישית", 37), ("ממשלת נתניהו-גנץ", 35),
        ("ממשלת שרון השנייה", 30), ("בתקופת אולמרט", 31), ("ממשלת אהוד ברק", 28),
    ],
)  # fmt: skip
def test_governments_are_known_by_their_heads(words: str, government: int) -> None:
    assert entities(DECISIONS, f"החלטות {words} בנושא מים") == {
        "operation": "search",
        "government_number": government,
        "topic": "מים",
    }


@pytest.mark.parametrize(
    ("question", "explanation", "told"),
    [
        ("החלטות ממשלת נתניהו בנושא מים", "Several governments had this head",
         "27, 32, 33, 34, 35, 37"),
        ("החלטות משרד החלל בנושא תקציב", "There is no such ministry", "משרד החלל"),
        ("החלטות המשרד לשוויון חברתי", "There is no such ministry", "המשרד לשוויון חברתי"),
        ("החלטות של הרשות לניירות ערך", "There is no such ministry", "לניירות ערך"),
        ("החלטות 15 ו-16 של ממשלה 36", "One decision at a time", "החלטה אחת"),
        ("נתח את החלטה 812 ואת החלטה 640", "One decision at a time", "החלטה אחת"),
        ("תן לי 0 החלטות בנושא מים", "From one to a thousand decisions can be shown", "1,000"),
        ("החלטות בנושא תחבורה שלא התקבלו ב-2020", "Nothing can be excluded", "להוציא"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_asked_about(question: str, explanation: str, told: str) -> None:
    found = detector(DECISIONS).detect(question).intent
    assert (found.name, found.explanation, told in found.ask) == (
        "CLARIFICATION",
        explanation,
        True,
    )


@pytest.mark.parametrize(
    "thing", ["שרים יש", "חוקים עברו", "ימים כיהנה", "ועדות הוקמו", "כסף הוקצה", "זמן נמשכה"]
)
def test_nothing_but_decisions_is_counted(thing: str) -> None:
    found = detector(DECISIONS).detect(f"כמה {thing} בממשלה 37?").intent
    assert (found.name, found.ask[:20]) == ("QUERY", "אני סופר החלטות ממשל")


@pytest.mark.parametrize(
    ("question", "unread"),
    [
        ("החלטות בנושא חינוך בעיר חיפה", ("בעיר חיפה",)),
        ("החלטות שנדחו בנושא חקלאות", ("שנדחו",)),
        ("החלטות ממשלת גולדה בנושא מים", ("גולדה",)),
        ("באיזו שנה היו הכי הרבה החלטות בנושא מים?", ("שנה",)),
        ("הצג לי בבקשה את ההחלטות שהתקבלו בממשלה 36 בנושא מים", ()),
    ],
)
def test_words_that_nothing_read_are_told(question: str, unread: tuple[str, ...]) -> None:
    assert detector(DECISIONS).detect(question).intent.unread == unread
