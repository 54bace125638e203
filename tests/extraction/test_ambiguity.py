"""A date with two readings says which one was taken."""

import pytest

from server.core.tools import Source
from server.extraction.values import note_ambiguous_dates
from server.text.tokens import DateOrder


@pytest.mark.parametrize(
    ("text", "value", "order", "note"),
    [
        ("03/04/2025", "2025-03-04", "mdy", "03/04/2025 was read as 2025-03-04, month first"),
        ("3-4-25", "2025-04-03", "dmy", "3-4-25 was read as 2025-04-03, day first"),
        ("3.4.2025", "2025-04-03", "mdy", None),
        ("13/04/2025", "2025-04-13", "mdy", None),
        ("04/04/2025", "2025-04-04", "mdy", None),
        ("2025-03-04", "2025-03-04", "mdy", None),
        ("tomorrow", "2025-03-04", "mdy", None),
        ("03/04-2025", "2025-03-04", "mdy", None),
        ("03/04/2025", "03/04/2025", "mdy", None),
    ],
)
def test_only_what_reads_two_ways_is_noted(
    text: str, value: str, order: DateOrder, note: str | None
) -> None:
    source = Source("recognizer", (0, len(text)), text)
    assert note_ambiguous_dates({"date": value}, {"date": source}, order)["date"].note == note


def test_a_default_has_nothing_to_note() -> None:
    assert note_ambiguous_dates({}, {"date": Source("default")}, "mdy") == {
        "date": Source("default")
    }
