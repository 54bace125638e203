"""The English words of the calendar."""

from collections.abc import Mapping
from typing import Final

MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS: Final = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)

MONTH_NUMBERS: Final[Mapping[str, int]] = {
    word: number
    for number, month in enumerate(MONTHS, start=1)
    for word in (month.casefold(), month[:3].casefold())
} | {"sept": 9}
"""Month 1 to 12 by name and abbreviation, folded."""

WEEKDAY_NUMBERS: Final[Mapping[str, int]] = {
    word: number
    for number, weekday in enumerate(WEEKDAYS)
    for word in (weekday.casefold(), weekday[:3].casefold())
} | {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}
"""Weekday 0 (Monday) to 6 by name and abbreviation, folded."""

MONTH_PATTERN: Final = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
WEEKDAY_PATTERN: Final = "|".join(sorted(WEEKDAY_NUMBERS, key=len, reverse=True))
"""Any of the words, the longest first, for use inside a group."""
