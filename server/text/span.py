"""What a recogniser finds."""

from typing import Any, Literal, NamedTuple

Kind = Literal[
    "number",  # int, float or Decimal; `unit` is %, a currency, a unit of time, or empty
    "currency",  # ISO 4217 code
    "date",  # datetime.date
    "datetime",  # datetime.datetime, naive or aware as it was written
    "time",  # datetime.time
    "duration",  # Duration; `unit` is "-" when it counts backwards
    "offset",  # datetime.date that a duration leads to: in 3 days, 2 weeks ago
    "anchor",  # datetime.date that a word implies: the "ago" of 2 weeks ago is today
    "email",
    "url",
    "date_format",  # how a date is to be written
    "quoted",  # the text between the quotes
    "array",  # JSON
    "object",  # JSON
    "unreadable",  # looks like a value of kind `unit`, and is none; `value` says why
]

DateOrder = Literal["mdy", "dmy"]
"""Which part of 03/04/2025 is the month: the first, or the second."""


class Span(NamedTuple):
    """A value and where it stands: characters `start` to `end`, words `first` to `last`.

    A tuple and no dataclass because each question makes dozens of them.
    """

    kind: Kind
    start: int
    end: int
    first: int
    last: int
    value: Any
    unit: str = ""
    weak: bool = False
    """Reads as a value only where nothing better stands."""
