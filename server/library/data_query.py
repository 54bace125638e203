"""A question to tables as plain data: what is shown, of which rows, put together and in order."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Path = Annotated[str, Field(min_length=1)]
"""The way to a column from the table of the query: `InvoiceId.CustomerId.Country`."""

Operation = Literal["count", "sum", "average", "lowest", "highest", "value"]
"""`value` is that of each row, in another unit."""
Comparison = Literal[
    "is",
    "not",
    "in",
    "more",
    "least",
    "less",
    "most",
    "from",
    "until",
    "contains",
    "begins",
    "ends",
    "lacks",
    "given",
]
"""`least` and `most` are bounds that count, `more` and `less` do not. `from` and `until` are days,
`until` the first one that does not count; `given` is whether there is a value at all."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Span(_Part):
    """The part of the calendar in which a column of days is.

    `weekday` and `calendar_month` are those of any week and any year, as names in English.
    """

    column: Path
    each: Literal["day", "month", "quarter", "year", "weekday", "calendar_month"]


class Figure(_Part):
    """What many rows come to. `of` is a column, or the name of a measure; nothing counts rows."""

    operation: Operation
    of: str = ""
    since: str = ""
    """A column of days before `of`: what it is then about are the days from one to the other."""
    distinct: bool = False
    scale: float = 1
    """What it is divided by: milliseconds that are asked for in minutes."""
    unit: str = ""
    """What it then counts."""
    per: Path | Span | None = None
    """What an average is for each of: orders, where `of` tells something of their lines."""
    running: Span | None = None
    """In what order it is added up from one group to the next."""
    share: bool = False
    """Whether it is told in percent: of rows of which `where` is true among all, or without
    `where` of each group among all groups."""
    where: tuple["Test", ...] = ()


class Average(_Part):
    """The average of a column over the rows of its table of which something is true."""

    table: str
    of: Path
    tests: tuple["Test", ...] = ()


class Test(_Part):
    """What is true of a row, or, of a figure, of rows that are put together."""

    of: Path | Figure | Span
    comparison: Comparison
    value: Any = None
    than: str = ""
    """Another column, in place of a value."""
    average: Average | None = None
    """An average, in place of a value."""


class Lacking(_Part):
    """There is no row of another table that belongs to this one, and of which all this is true.

    `up` leads from that table to the one that both know, `own` from the table of the query. With
    `same`, the rows belong together that have the same in a column of each: that of the other
    table, and that of the table of the query.
    """

    table: str
    up: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    same: tuple[Path, Path] | None = None
    is_there: bool = False
    """Whether there is such a row, after all."""
    tests: tuple[Test, ...] = ()


class Order(_Part):
    by: Path | Figure | Span
    descending: bool = False


class DataQuery(_Part):
    """One query. With figures, what is not one is what rows are put together by."""

    table: str
    select: tuple[Path | Figure | Span, ...] = Field(min_length=1)
    tests: tuple[Test, ...] = ()
    lacking: tuple[Lacking, ...] = ()
    group: tuple[Path | Span, ...] = ()
    order: tuple[Order, ...] = ()
    limit: int | None = Field(default=None, ge=1, le=1_000)
    ties: bool = False
    """Whether rows that are as good as the last one are shown too, beyond the limit."""
    each: tuple[Path | Span, ...] = ()
    """What the limit holds for, each by itself: the cheapest product of every category."""
    distinct: bool = False
    counted: str = ""
    """The table that each row stands for, where only their number is asked for: of customers with
    five orders."""
