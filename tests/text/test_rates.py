"""Numbers that are per some time, and what looks like one and is none."""

from datetime import UTC, datetime

import pytest

from server.text.parsed_text import ParsedText

NOW = datetime(2026, 7, 15, 12, tzinfo=UTC)


def rates(text: str, *languages: str) -> list[tuple[str, int, str]]:
    reading = ParsedText(text, NOW, "mdy", languages)
    return [(text[r.start : r.end], r.value, r.unit) for r in reading.rates]


@pytest.mark.parametrize(
    ("text", "languages", "expected"),
    [
        ("give Ana 24 days per year", (), [("24 days per year", 24, "year")]),
        ("set it to 30 days a year", (), [("30 days a year", 30, "year")]),
        ("25 days of leave per year", (), [("25 days of leave per year", 25, "year")]),
        ("pay $40 an hour", (), [("40 an hour", 40, "hour")]),
        ("at most 200/day", (), [("200/day", 200, "day")]),
        ("50 calls daily", (), [("50 calls daily", 50, "day")]),
        ("3 times a week for 2 months", (), [("3 times a week", 3, "week")]),
        ("send 5 mails every day", (), [("5 mails every day", 5, "day")]),
        ("$1,200 per month", (), [("1,200 per month", 1200, "month")]),
        ("24 Tage im Jahr", ("de",), [("24 Tage im Jahr", 24, "year")]),
        ("24 jours par an", ("fr",), [("24 jours par an", 24, "year")]),
        ("24 días al año", ("es",), [("24 días al año", 24, "year")]),
        ("wake me at 7 every day", (), []),
        ("book 2 rooms a week from now", (), []),
        ("wait an hour", (), []),
        ("5 per box", (), []),
    ],
)
def test_a_number_is_per_what_is_said(
    text: str, languages: tuple[str, ...], expected: list[tuple[str, int, str]]
) -> None:
    assert rates(text, *languages) == expected


def test_what_a_number_is_per_is_no_length_of_time() -> None:
    lengths = ParsedText("24 days a year", NOW, "mdy").of("duration")
    assert [(span.start, span.end) for span in lengths] == [(0, 7)]
