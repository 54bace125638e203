"""Date formats: strftime, the friendly notation, and names."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.errors import ArgumentsInvalid
from server.text.date_formats import NAMED, read_format

MOMENT = datetime(2025, 3, 4, 15, 6, 7, 89_000, tzinfo=timezone(timedelta(hours=2, minutes=30)))


@pytest.mark.parametrize(
    ("notation", "written"),
    [
        ("iso", "2025-03-04T15:06:07.089000+02:30"),
        ("Long", "March 4, 2025"),
        ("full", "Tuesday, March 4, 2025"),
        ("short", "Mar 4, 2025"),
        ("us", "03/04/2025"),
        ("eu", "04/03/2025"),
        ("time12", "3:06 PM"),
        ("rfc2822", "Tue, 04 Mar 2025 15:06:07 +0230"),
        ("unix", "1741091767"),
        ("quarter", "1"),
        ("%d.%m.%Y %H:%M:%S.%f", "04.03.2025 15:06:07.089000"),
        ("%-d %B, 100%%", "4 March, 100%"),
        ("%c", "Tue Mar  4 15:06:07 2025"),
        ("YYYY-MM-DD", "2025-03-04"),
        ("YYYY-MM-DDTHH:mm:ssZ", "2025-03-04T15:06:07+02:30"),
        ("yyyy-mm-dd hh:mm:ss", "2025-03-04 15:06:07"),
        ("dd/mm/yy HH:MM", "04/03/25 15:06"),
        ("hh:mm a", "03:06 pm"),
        ("h A", "3 PM"),
        ("mm:ss.SSS", "06:07.089"),
        ("dddd, MMMM Do YYYY", "Tuesday, March 4th 2025"),
        ("ddd D MMM", "Tue 4 Mar"),
        ("Do [day of] MMMM", "4th day of March"),
        ("D. 'of' MMMM [YYYY", "4. 'of' March [2025"),
        ("Q/YYYY ZZ", "1/2025 +0230"),
    ],
)
def test_a_moment_is_written_as_asked(notation: str, written: str) -> None:
    assert read_format(notation, "format").write(MOMENT) == written


def test_a_day_has_no_time_in_iso_and_midnight_elsewhere() -> None:
    day = date(5, 1, 2)
    assert read_format("iso", "format").write(day) == "0005-01-02"
    assert read_format("%Y %H:%M%z", "format").write(day) == "0005 00:00"


@pytest.mark.parametrize(
    ("number", "ordinal"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (22, "22nd")]
)
def test_days_have_ordinals(number: int, ordinal: str) -> None:
    assert read_format("Do", "format").write(date(2025, 1, number)) == ordinal


@pytest.mark.parametrize(
    ("notation", "problem"),
    [
        (5, "format must be text, not a number"),
        ("x" * 101, "format is longer than 100 characters"),
        ("%q", "format has the unknown directive '%q'; known are %%, %A, %a, "),
        ("%", "format has the unknown directive '%'; known are "),
        ("%1000000d", "format has the unknown directive '%1'; known are "),
        ("%-%", "format has the unknown directive '%-%'; known are "),
        ("100%%", "format '100%%' has nothing of a date in it; write it as YYYY-MM-DD, "),
        ("hello", "format 'hello' has nothing of a date in it; write it as YYYY-MM-DD, "),
        ("", "format '' has nothing of a date in it; write it as YYYY-MM-DD, "),
    ],
)
def test_what_is_no_format_is_refused(notation: Any, problem: str) -> None:
    with pytest.raises(ArgumentsInvalid) as refused:
        read_format(notation, "format")
    assert str(refused.value).startswith(problem)


@pytest.mark.parametrize(
    ("notation", "text", "value"),
    [
        ("%d/%m/%Y", "4/3/2025", date(2025, 3, 4)),
        ("DD.MM.YYYY HH:mm", "04.03.2025 15:06", datetime(2025, 3, 4, 15, 6)),
        ("MMMM D, YYYY", "March 4, 2025", date(2025, 3, 4)),
        ("dd mmm yyyy", "04 Mar 2025", date(2025, 3, 4)),
        ("d mmmm yyyy", "4 March 2025", date(2025, 3, 4)),
        ("%Y-%m-%dT%H:%M%z", "2025-03-04T15:06Z", datetime(2025, 3, 4, 15, 6, tzinfo=UTC)),
        ("long", "March 4, 2025", date(2025, 3, 4)),
        ("%Y 100%%", "2025 100%", date(2025, 1, 1)),
    ],
)
def test_a_format_can_be_read_back(notation: str, text: str, value: date) -> None:
    read = read_format(notation, "format").read(text)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("notation", "text", "problem"),
    [
        ("%d/%m/%Y", "2025-03-04", "'2025-03-04' is not written as '%d/%m/%Y'"),
        ("%d/%m/%Y", "31/02/2025", "'31/02/2025' is not written as '%d/%m/%Y'"),
        ("%Y %Y", "2025 2025", "'2025 2025' is not written as '%Y %Y'"),
        ("%d %B", "4 March", "format '%d %B' has no year"),
        (
            "Do MMMM YYYY",
            "4th March 2025",
            "format 'Do MMMM YYYY' can be written, but not read back",
        ),
    ],
)
def test_what_cannot_be_read_back_is_refused(notation: str, text: str, problem: str) -> None:
    with pytest.raises(ArgumentsInvalid) as refused:
        read_format(notation, "format").read(text)
    assert str(refused.value) == problem


@given(
    st.datetimes(min_value=datetime(1000, 1, 1)),
    st.sampled_from(list("YymBbdjHIMSfpAauwUWVGeh")),
)
def test_directives_mean_what_strftime_says(moment: datetime, letter: str) -> None:
    assert read_format(f"%{letter}", "format").write(moment) == moment.strftime(f"%{letter}")


@given(st.datetimes(), st.sampled_from(["%Y-%m-%d %H:%M:%S.%f", "DD/MM/YYYY hh:mm:ss A"]))
def test_what_is_written_is_read_back(moment: datetime, notation: str) -> None:
    shape = read_format(notation, "format")
    kept = moment if "%f" in notation else moment.replace(microsecond=0)
    assert shape.read(shape.write(moment)) == kept


@given(st.text(max_size=120), st.datetimes(timezones=st.timezones() | st.none()))
def test_any_text_is_a_format_or_is_refused(notation: str, moment: datetime) -> None:
    try:
        written = read_format(notation, "format").write(moment)
    except ArgumentsInvalid:
        return
    assert len(written) <= 50 * len(notation)


def test_every_name_is_a_format() -> None:
    assert all(read_format(name, "format").write(MOMENT) for name in NAMED)
