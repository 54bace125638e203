"""Values in the words of a library's language, beside English."""

from datetime import UTC, datetime
from typing import Any

import pytest

from server.text.parsed_text import ParsedText
from server.text.tokens import Kind

NOW = datetime(2025, 3, 5, 12, tzinfo=UTC)  # a Wednesday


def read(text: str, code: str, kind: Kind) -> list[str]:
    """The values of one kind, as text."""
    return [str(span.value) for span in ParsedText(text, NOW, "dmy", (code,)).of(kind)]


@pytest.mark.parametrize(
    ("code", "text", "value"),
    [
        ("de", "Zimmer dreihundertzwölf", "312"),
        ("de", "einundzwanzig Stühle", "21"),
        ("de", "zweitausendfünf", "2005"),
        ("fr", "chambre trois cent cinquante", "350"),
        ("fr", "quatre-vingt-dix-sept", "97"),
        ("fr", "vingt et un", "21"),
        ("es", "la trescientos quince", "315"),
        ("es", "treinta y dos", "32"),
        ("de", "2,5 Prozent", "2.5"),
        ("de", "1.500 Euro", "1500"),
        ("fr", "12,50 euros", "12.5"),
    ],
)
def test_numbers(code: str, text: str, value: str) -> None:
    assert read(text, code, "number") == [value]


@pytest.mark.parametrize(
    ("code", "text", "value"),
    [
        ("de", "übermorgen", "2025-03-07"),
        ("de", "morgen früh", "2025-03-06"),
        ("de", "am 25.11.", "2025-11-25"),
        ("de", "ab dem 3. Dezember 2026", "2026-12-03"),
        ("de", "nächsten Montag", "2025-03-10"),
        ("fr", "après-demain", "2025-03-07"),
        ("fr", "le 1er décembre", "2025-12-01"),
        ("fr", "le 26/11", "2025-11-26"),
        ("fr", "lundi prochain", "2025-03-10"),
        ("es", "pasado mañana", "2025-03-07"),
        ("es", "el 27 de noviembre de 2026", "2026-11-27"),
        ("es", "el lunes que viene", "2025-03-10"),
    ],
)
def test_dates(code: str, text: str, value: str) -> None:
    assert read(text, code, "date") == [value]


@pytest.mark.parametrize(
    ("code", "text", "value"),
    [
        ("de", "um halb sieben", "06:30:00"),
        ("de", "um Viertel nach vier", "04:15:00"),
        ("de", "um 8 Uhr 30", "08:30:00"),
        ("de", "heute abend um sieben Uhr", "19:00:00"),
        ("fr", "à sept heures moins le quart", "06:45:00"),
        ("fr", "réveil 7h30", "07:30:00"),
        ("fr", "avant six heures et demie du soir", "18:30:00"),
        ("es", "a las siete menos cuarto", "06:45:00"),
        ("es", "a las cuatro y media de la tarde", "16:30:00"),
        ("es", "a las 8", "08:00:00"),
    ],
)
def test_times_of_day(code: str, text: str, value: str) -> None:
    assert read(text, code, "time") == [value]


@pytest.mark.parametrize(
    ("code", "text"),
    [("de", "in zwei Wochen"), ("fr", "dans deux semaines"), ("es", "en 2 semanas")],
)
def test_a_length_of_time_counts_from_today(code: str, text: str) -> None:
    assert read(text, code, "offset") == ["2025-03-19"]


@pytest.mark.parametrize(
    ("code", "text", "kind"),
    [
        ("de", "5 am Montag", "time"),
        ("es", "por la mañana", "date"),
        ("fr", "pendant 2 heures", "time"),
        ("fr", "mon client", "date"),
        ("es", "once a las", "date"),
    ],
)
def test_a_word_of_the_language_is_no_english_one(code: str, text: str, kind: Any) -> None:
    assert read(text, code, kind) == []


def test_without_its_language_a_text_is_read_in_english() -> None:
    assert not ParsedText("um halb sieben", NOW, "dmy").spans
