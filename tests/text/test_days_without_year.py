"""A day and a month in digits, without a year."""

from datetime import UTC, datetime

import pytest

from server.text.parsed_text import ParsedText


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("on 12/12", ["2025-12-12"]),
        ("from 1/1 to 31/1", ["2025-01-01", "2025-01-31"]),
        ("to 14/12 at 7 pm", ["2025-12-14"]),
        ("on 3/4", ["2025-03-04"]),  # the month first, as everywhere in such a domain
        ("what is 20/6", []),
        ("divide 10 by 1/2", []),
        ("open 24/7", []),
        ("for 1/2 hour", []),
    ],
)
def test_a_day_and_a_month_without_a_year_need_words_that_say_so(
    text: str, found: list[str]
) -> None:
    now = datetime(2025, 3, 5, 12, tzinfo=UTC)
    assert [str(span.value) for span in ParsedText(text, now, "mdy").of("date")] == found
