"""What is recognised in a text, kind by kind."""

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pytest

from server.text.parsed_text import ParsedText
from server.text.tokens import DateOrder, Kind
from tests.extraction.support import NOW


def found(text: str, kind: Kind, order: DateOrder = "mdy") -> list[tuple[str, Any]]:
    """Each value of `kind` with the text it was read from."""
    reading = ParsedText(text, NOW, order)
    values = [(text[s.start : s.end], s.value) for s in reading.of(kind) if not s.weak]
    return [(t, v.to_iso()) if kind == "duration" else (t, v) for t, v in values]


def values(text: str, kind: Kind, order: DateOrder = "mdy") -> list[Any]:
    return [value for _, value in found(text, kind, order)]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("5 -5 +5 −5", [5, 5, 5, 5]),  # after a number, a minus is a subtraction
        ("is -5 or (-6) or -$7", [-5, -6, -7]),
        ("minus 5, negative six; 10 minus 5", [-5, -6, 10, 5]),
        ("minus 5 from 20, minus six from ten", [5, 20, 6, 10]),
        ("two fifths of 50, 3 tenths of 10", [0.4, 50, 0.3, 10]),
        ("two thirds of 90", [90]),  # two thirds have no exact decimal
        ("the two fifths graders", [2]),
        ("0.1 .5 5. 2.50", [0.1, 0.5, 5, 2.5]),
        ("1,500 1,234,567.89 1'000 1_000 1,00,000", [1500, 1234567.89, 1000, 1000, 100000]),
        ("1.234.567,89 1.234,5 1.234", [1234567.89, 1234.5, 1.234]),
        ("10,20,30 1,5", [10, 20, 30, 1, 5]),
        (
            "200k 1.5m 2bn 3 million 2 thousand 4 dozen",
            [200000, 1500000, 2000000000, 3000000, 2000, 48],
        ),
        ("1e5 2.5e-3 1E+2", [100000, 0.0025, 100]),
        ("6x7 6 x 7 144/12 5+7 100-37", [6, 7, 6, 7, 144, 12, 5, 7, 100, 37]),
        ("5kg 10km $5 €6 7€ USD8 9ILS", [5, 10, 5, 6, 7, 8, 9]),
        ("2½ 2 and a half two and a half", [2.5, 2.5, 2.5]),
        ("B2B covid-19 v1.2.3 item_4 42nd R2D2 H2O 127.0.0.1", []),
        ("twenty five, thirty-six, a hundred, one hundred and one", [25, 36, 100, 101]),
        ("two hundred and five hundred", [200, 500]),
        ("one million two hundred thousand and three", [1200003]),
        ("half a dozen; half of 9; three quarters of 8", [6, 0.5, 9, 0.75, 8]),
        ("three point one four, zero", [3.14, 0]),
        ("which one, this one, one of them, one more", []),
        ("one and two", [1, 2]),
        ("0.12345678901234567890123", [Decimal("0.12345678901234567890123")]),
        ("9" * 30, [int("9" * 30)]),
        ("9" * 500 + " 1e999 7", [7]),
    ],
)
def test_numbers(text: str, numbers: list[Any]) -> None:
    assert values(text, "number") == numbers
    assert [type(v) for v in values(text, "number")] == [type(v) for v in numbers]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("15% 15 % 15 percent 15 per cent 15 pct", ["%"] * 5),
        (
            "$5 5€ 5 usd GBP 5 5 dollars US$ 5 C$5",
            ["USD", "EUR", "USD", "GBP", "USD", "USD", "CAD"],
        ),
        ("5 days 5h 5 minutes 5 apples", ["day", "hour", "minute", ""]),
    ],
)
def test_units_of_numbers(text: str, units: list[str]) -> None:
    assert [span.unit for span in ParsedText(text, NOW, "mdy").of("number")] == units


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("usd to euros", ["USD", "EUR"]),
        ("from US dollars, british pounds and swiss francs", ["USD", "GBP", "CHF"]),
        ("I won all of the top mop", []),
        ("5 won, 100 TRY, TOP", ["KRW", "TRY", "TOP"]),
        ("€50 to $", ["EUR", "USD"]),
    ],
)
def test_currencies(text: str, codes: list[str]) -> None:
    assert values(text, "currency") == codes


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("2025-03-05 2025/3/5 20-Mar-2025", ["2025-03-05", "2025-03-05", "2025-03-20"]),
        ("03/04/2025 13/04/2025 04/13/2025", ["2025-03-04", "2025-04-13", "2025-04-13"]),
        ("3.4.2025 3/4/25 3/4/85", ["2025-04-03", "2025-03-04", "1985-03-04"]),
        ("March 5, 2025; Mar. 5 2025; 5 March 2025", ["2025-03-05"] * 3),
        ("5th of March, 2025 and the 5th of March", ["2025-03-05"] * 2),
        ("Friday, March 7, 2025", ["2025-03-07"]),
        ("today tomorrow yesterday", ["2025-03-05", "2025-03-06", "2025-03-04"]),
        ("the day after tomorrow, day before yesterday", ["2025-03-07", "2025-03-03"]),
        ("next friday, this sunday, last monday", ["2025-03-07", "2025-03-09", "2025-03-03"]),
        ("wednesday next wednesday last wednesday", ["2025-03-05", "2025-03-12", "2025-02-26"]),
        ("a monday, which friday, the sat nav, in may", []),
        ("March 2025, 25 may be enough, 3/4, 1.2.2025.3", []),
    ],
)
def test_dates(text: str, dates: list[str]) -> None:
    assert [value.isoformat() for value in values(text, "date")] == dates


def test_a_domain_may_write_the_day_first() -> None:
    assert values("03/04/2025", "date", "dmy") == [date(2025, 4, 3)]
    assert values("03/14/2025", "date", "dmy") == [date(2025, 3, 14)]


def test_dates_that_no_calendar_has_are_unreadable() -> None:
    assert values("2025-02-30 31/31/2025 Feb 30", "unreadable") == [
        "2025-02-30 is not a date",
        "31/31/2025 is not a date",
        "Feb 30 is not a date",
    ]


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("in 3 days", ["2025-03-08"]),
        ("2 weeks ago", ["2025-02-19"]),
        ("3 weeks from today", ["2025-03-26"]),
        ("10 days before 2025-12-25", ["2025-12-15"]),
        ("a month after 2025-01-31", ["2025-02-28"]),
        ("for 3 days", []),
        ("in 3 hours", []),
    ],
)
def test_dates_counted_from_others(text: str, dates: list[str]) -> None:
    assert [value.isoformat() for value in values(text, "offset")] == dates


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("5pm 5 pm 5:30 p.m. 12am 12pm", [time(17), time(17), time(17, 30), time(0), time(12)]),
        ("17:30 17:30:15 noon midnight", [time(17, 30), time(17, 30, 15), time(12), time(0)]),
        ("5 o'clock", [time(5)]),
        ("16:9 at 5", []),
    ],
)
def test_times(text: str, times: list[time]) -> None:
    assert values(text, "time") == times


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2025-03-05T17:30:00Z", "2025-03-05T17:30:00+00:00"),
        ("2025-03-05 17:30", "2025-03-05T17:30:00"),
        ("2025-03-05T17:30:00.123+02:00", "2025-03-05T17:30:00.123000+02:00"),
        ("tomorrow at 5pm", "2025-03-06T17:00:00"),
        ("5pm on March 7", "2025-03-07T17:00:00"),
    ],
)
def test_moments(text: str, moment: str) -> None:
    assert values(text, "datetime") == [datetime.fromisoformat(moment)]


@pytest.mark.parametrize(
    ("text", "durations"),
    [
        ("2 hours 30 minutes", ["PT2H30M"]),
        ("2 hours and 30 minutes, 1h30m, 90s", ["PT2H30M", "PT1H30M", "PT1M30S"]),
        ("an hour and a half, half an hour, a week", ["PT1H30M", "PT30M", "P7D"]),
        ("two years, 3 months and 4 days", ["P2Y3M4D"]),
        ("PT2H30M P1Y2M P3W", ["PT2H30M", "P1Y2M", "P21D"]),
        ("1.5 hours; half a month; P", ["PT1H30M"]),
        ("3 days and 2 weeks", ["P3D", "P14D"]),
    ],
)
def test_durations(text: str, durations: list[str]) -> None:
    assert values(text, "duration") == durations


@pytest.mark.parametrize(
    ("text", "emails"),
    [
        (
            "kim@example.org, kim.lee+work@mail.example.co.uk.",
            ["kim@example.org", "kim.lee+work@mail.example.co.uk"],
        ),
        ("@kim kim@ kim@localhost a@b..c 5@6", []),
        ("<kim@example.org>", ["kim@example.org"]),
    ],
)
def test_emails(text: str, emails: list[str]) -> None:
    assert values(text, "email") == emails


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("see https://x.org/a_(b)?q=1&r=2#s.", ["https://x.org/a_(b)?q=1&r=2#s"]),
        (
            "(http://localhost:8000/) and www.x.org, or x://y",
            ["http://localhost:8000/", "www.x.org"],
        ),
        ("https:// www.", []),
    ],
)
def test_urls(text: str, urls: list[str]) -> None:
    assert values(text, "url") == urls


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("\"a b\" 'c d' “e f” ‘g’ «h» `i` „j“", ["a b", "c d", "e f", "g", "h", "i", "j"]),
        ("it's the dogs' bowl, isn't it", []),
        ("'it's fine'", ["it's fine"]),
        ('5" and 6", rock \'n\' roll, "" ', ["n"]),
        ('"open', []),
    ],
)
def test_quotes(text: str, quotes: list[str]) -> None:
    assert values(text, "quoted") == quotes


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ('[{"a": 1}] and [2, 3.5]', [[{"a": 1}], [2, 3.5]]),
        ('[{"a": "x]}"}]', [[{"a": "x]}"}]]),
        ("[{'a': 'it is', b: True,}, None]", [[{"a": "it is", "b": True}, None]]),
        ("['a\\'b', 'caf\\u00e9']", [["a'b", "café"]]),
        ('["\\u00e9\\n"]', [["é\n"]]),
        ("[see below] [a, b] [1, 2 [NaN] [1e999]", []),
        ("[0.1, 0.12345678901234567891]", [[0.1, Decimal("0.12345678901234567891")]]),
        ("[[1], [2]] []", [[[1], [2]], []]),
    ],
)
def test_json_arrays(text: str, blocks: list[Any]) -> None:
    assert values(text, "array") == blocks


def test_json_that_is_nested_too_deeply_is_unreadable_as_a_whole() -> None:
    deep = "[" * 70 + "1" + "]" * 70
    assert values(deep, "array") == []
    assert found(deep, "unreadable") == [(deep, "the JSON is nested too deeply")]


def test_json_objects() -> None:
    text = 'set {"a": {"b": [1]}} or {c: 2}'
    assert found(text, "object") == [
        ('{"a": {"b": [1]}}', {"a": {"b": [1]}}),
        ("{c: 2}", {"c": 2}),
    ]


def test_what_is_inside_a_block_is_none_of_the_texts_own() -> None:
    text = '[5] "6" kim7@x.org https://x.org/8 9'
    assert values(text, "number") == [9]


def test_formats_of_dates() -> None:
    reading = ParsedText("as DD/MM/YYYY, %d %B %Y, d. m. yyyy or US format; mm, d", NOW, "mdy")
    assert [span.value for span in reading.date_formats] == [
        "DD/MM/YYYY",
        "%d %B %Y",
        "d. m. yyyy",
        "MM/DD/YYYY",
        "mm, d",
    ]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("on the 21st", "2025-03-21"),
        ("by 3rd", "2025-04-03"),
        ("until the 5th, please", "2025-03-05"),
        ("since the 20th", "2025-02-20"),
        ("on the 31st of next month", None),
        ("on the 30th of next month", "2025-04-30"),
        ("on the 1st of the month", "2025-03-01"),
        ("on the 3rd floor", None),
        ("the 21st", None),
        ("on the 32nd", None),
    ],
)
def test_a_day_of_a_month_is_said_by_its_number(text: str, day: str | None) -> None:
    assert [each.isoformat() for each in values(text, "date")] == ([day] if day else [])
