"""What a question asks for, before it is decided which of several columns or values is meant."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final, Literal, NamedTuple

from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.meanings import Column, Columns, Degree, Value
from server.library.data_query import Comparison, Operation
from server.text.periods import SpokenPeriod

Each = Literal["day", "month", "quarter", "year", "weekday", "calendar_month"]
EACH: Final[tuple[Each, ...]] = (
    "month", "year", "day", "quarter", "weekday", "calendar_month",
)  # fmt: skip
MeasureKind = Literal["money", "units", "stock", "discount"]


class NotHeld(Exception):
    """What is asked for is clear, and nothing of it is in the data: what an employee earns."""


class Unclear(Exception):
    """The question cannot be read as one query."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A figure that is asked for, compared or put in order: of a measure, a column or rows."""

    operation: Operation
    measure: Literal["", MeasureKind] = ""
    columns: Columns = ()
    rows: Need | None = None
    done: tuple[str, ...] = ()
    """Tables whose rows come to be when something is done, of which one is meant."""
    distinct: bool = False
    since: Column | None = None
    """The day before that of the column, from which days are counted."""
    per: Need | Each | None = None
    """What an average is for each of: the value of an order."""


class Ends(NamedTuple):
    """The degrees of one superlative, of which one fits what is asked for."""

    degrees: tuple[Degree, ...]

    @property
    def columns(self) -> Columns:
        return tuple(column for degree in self.degrees for column in degree.columns)


class Ordered(NamedTuple):
    """What rows are in order by."""

    by: Asked | Ends | Columns
    descending: bool


class Having(NamedTuple):
    """A bound of a figure."""

    asked: Asked
    comparison: Comparison
    value: Any


class Bound(NamedTuple):
    """A bound without a name, of the one amount that the rows have."""

    comparison: Comparison
    value: Any
    of: Need | None = None
    """What it is said of: an invoice of more than 15."""


class Against(NamedTuple):
    """A column that is compared with another one of the same table."""

    mine: Column
    theirs: Column
    comparison: Comparison


class OverAverage(NamedTuple):
    """A column that is compared with its own average, over all rows or those of one kind."""

    columns: Columns
    comparison: Comparison
    kind: "Named | None" = None


@dataclass(frozen=True, slots=True)
class Condition:
    """What a column is compared with; one of several columns is meant."""

    columns: Columns
    comparison: Comparison
    value: Any


@dataclass(frozen=True, slots=True)
class Named:
    """Rows that a value names; one of several is meant."""

    values: tuple[Value, ...]
    negated: bool = False
    need: Need | None = None
    """The table as what the value is of, where that is told."""


@dataclass(frozen=True, slots=True)
class Days:
    """A stretch of days, and the columns that it may be of where that is told."""

    period: SpokenPeriod
    columns: Columns = ()


class InCalendar(NamedTuple):
    """Days of any week, or months of any year, by their names."""

    each: Literal["weekday", "calendar_month"]
    names: tuple[str, ...]
    columns: Columns = ()
    """The columns that it may be of where that is told."""


@dataclass(frozen=True, slots=True)
class Absent:
    """Rows that are not there."""

    tables: tuple[str, ...]
    also: list[Need] = field(default_factory=list)
    """Tables that are named besides: what no customer from Canada bought."""
    named: list[Named] = field(default_factory=list)
    days: list[Days] = field(default_factory=list)
    is_there: bool = False
    """Whether they are there, after all: cities of customers and of suppliers at once."""
    same: Columns = ()
    """The columns in which they have the same: in a city where we have a supplier."""


@dataclass(slots=True)
class DataRequest:
    """All that a question asks for, as far as its words tell."""

    today: date = date.min
    target: Need | None = None
    """What is listed."""
    plural: bool = False
    """Whether several are asked for."""
    counted: Need | None = None
    """What is counted, in place of being listed."""
    figures: list[Asked] = field(default_factory=list)
    shown: list[Columns] = field(default_factory=list)
    """Columns that are asked for."""
    shown_names: list[Need] = field(default_factory=list)
    """What is shown by its name beside the target."""
    listed: Columns = ()
    """The column whose different values are listed: which countries customers come from."""
    everything: bool = False
    """Whether all of what is meant is listed, whatever it is."""
    must_show: list[Need] = field(default_factory=list)
    """Those of them that are asked for beside it: the film and the customer."""
    one: Need | None = None
    """The one greatest thing whose people are asked for: who placed the biggest order."""
    who: bool = False
    sellers: bool = False
    """Whether those are asked for who sell, and not who buy."""
    when: bool = False
    newly: bool = False
    """Whether those are asked for who came then: new customers."""
    shows_days: bool = False
    """Whether the day of what is listed is asked for besides."""
    end_of_days: Literal["", "lowest", "highest"] = ""
    """Whether the first or the last day is asked for."""

    groups: list[Columns | Need | Each] = field(default_factory=list)
    spans: tuple[str, ...] = ()
    """The months or years that are told side by side; all where there are none."""
    compares: bool = False
    """Whether the values that are named are told side by side."""
    distinct: bool = False
    each_of_them: bool = False
    """Whether what is asked for has to do with every one of the names: both of them."""
    either: bool = False
    """Whether one of the names will do."""
    running: bool = False
    """Whether figures are added up from one stretch of days to the next."""
    share: bool = False
    """Whether figures are told in percent."""

    named: list[Named] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)
    against: list[Against] = field(default_factory=list)
    over_average: list[OverAverage] = field(default_factory=list)
    contained: list[tuple[Comparison, str]] = field(default_factory=list)
    """Texts that the name of what is asked for contains, begins or ends with."""
    numbered: Need | None = None
    """What one row is of, that its number tells."""
    days: list[Days] = field(default_factory=list)
    calendar: InCalendar | None = None
    having: list[Having] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    facts: list[tuple[str, ...]] = field(default_factory=list)
    """What was done, as tables of which one is meant."""
    also: list[Need] = field(default_factory=list)
    """Tables that are named besides."""

    order: list[Ordered] = field(default_factory=list)
    top: bool = False
    """Whether an order is asked for, and not said by what."""
    top_down: bool = True
    direction: Literal["", "asc", "desc"] = ""
    by_days: bool = False
    """Whether the order that is asked for is one of days: newest first."""
    by_ends: Ends | None = None
    """What the order that is asked for is of: cheapest first."""
    alphabetical: bool = False
    sorts: list[Columns] = field(default_factory=list)
    """Columns that all rows are in order by, those without a value among them."""
    limit: int | None = None
    unit: str = ""
    """The unit in which figures are asked for."""

    @property
    def subject(self) -> Need | None:
        """What is listed or counted."""
        return self.target or self.counted

    def all_asked(self) -> Iterator[Asked]:
        """Every figure: those that are asked for, those with bounds and those of an order."""
        yield from self.figures
        for bound in self.having:
            yield bound.asked
        for one in self.order:
            if isinstance(one.by, Asked):
                yield one.by

    def times(self, done: Sequence[str]) -> Asked:
        """How often something was done."""
        self.facts.append(tuple(done))
        return Asked("count", done=tuple(done))
