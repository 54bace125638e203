"""Values: candidates and where they stand, what a tool takes, and why it cannot be taken."""

import re
from bisect import bisect_left, insort
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, time
from decimal import Decimal
from typing import Any, Final, NamedTuple

from server.core.decision import ArgumentCoverage, MissingParameter
from server.core.tools import Source, SourceKind
from server.library.model import Parameter
from server.library.parameter_types import Constraints
from server.text.decimals import Number, as_decimal, opposite, plain_number, read_plain
from server.text.durations import Duration
from server.text.senses import Clause
from server.text.tokens import DateOrder, Span, Tokens

_LONGEST_QUOTE: Final = 60


class InvalidValue(ValueError):
    """A value that stands in the question and cannot be given to the tool."""


def written(value: Any) -> Any:
    """A recognised value as tools take it: dates and times as ISO 8601 text."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.isoformat("seconds" if value.second else "minutes")
    return value.to_iso() if isinstance(value, Duration) else value


def number(value: Any) -> Number:
    """Return `value` as an exact number, or raise `InvalidValue`."""
    found: Number | None = None
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        found = plain_number(as_decimal(value))
    elif isinstance(value, str):
        found = read_plain(value.strip(" ,.%$€£").replace(",", ""))
    if found is None:
        raise InvalidValue(f"{show_value(value)} is not a number")
    return found


def show_value(value: Any) -> str:
    """`value` short enough for a sentence."""
    text = str(value)
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"


HINT: Final = 3
"""Least score at which the words around a value say whose it is."""
SURE: Final = 8
BESIDE_ITS_VALUE: Final = 5


class Candidate(NamedTuple):
    """A value for a parameter, and where it stands: in characters, and in words.

    A lower `rank` is tried first. `hinted` ones need words around them that say whose they are;
    `fit` is how much the value itself says so. One with a `problem` is never taken. A text is
    `doubtful` when no known edge settles where it begins and ends. A `slip` is a known value but
    for a letter.
    """

    start: int
    end: int
    first: int
    last: int
    value: Any
    kind: SourceKind = "recognizer"
    rank: int = 0
    hinted: bool = False
    problem: str = ""
    fit: int = 0
    doubtful: bool = False
    slip: bool = False

    def overlaps(self, other: "Candidate") -> bool:
        return self.start < other.end and other.start < self.end

    def is_within(self, other: "Span | Candidate") -> bool:
        """Whether it is but a part of the other's place."""
        shorter = self.end - self.start < other.end - other.start
        return shorter and other.start <= self.start and self.end <= other.end


def from_span(span: Span, value: Any, *, rank: int = 0, fit: int = 0) -> Candidate:
    """Return `value` as a candidate at the place of `span`."""
    return Candidate(span.start, span.end, span.first, span.last, value, rank=rank, fit=fit)


def from_words(
    tokens: Tokens,
    first: int,
    last: int,
    value: Any,
    kind: SourceKind = "recognizer",
    *,
    rank: int = 0,
) -> Candidate:
    """Return `value` as a candidate at the words from `first` up to `last`."""
    start, end = tokens.starts[first], tokens.ends[last - 1]
    return Candidate(start, end, first, last, value, kind, rank)


@dataclass(slots=True)
class SpanSet:
    """Places in a text, none overlapping another."""

    _places: list[tuple[int, int]] = field(default_factory=list)

    def add(self, start: int, end: int) -> None:
        insort(self._places, (start, end))

    def is_free(self, start: int, end: int) -> bool:
        """Whether nothing between `start` and `end` is taken."""
        at = bisect_left(self._places, (start, start))
        if at < len(self._places) and self._places[at][0] < end:
            return False
        return at == 0 or self._places[at - 1][1] <= start

    def has_room(self, tokens: Tokens, first: int, last: int) -> bool:
        """Whether none of the words from `first` up to `last` is taken."""
        return self.is_free(tokens.starts[first], tokens.ends[last - 1])


class ValueChecker:
    def __init__(
        self, parameter: Parameter, *, closed: bool = True, is_numeric: bool = False
    ) -> None:
        """`closed` says that there are no values but those of the enum."""
        self._parameter, self._is_numeric = parameter, is_numeric
        listed = closed and parameter.descriptor.json_type != "array"
        found = parameter.constraints
        self._constraints = found if listed else replace(found, enum=())
        self.takes_anything = self._constraints == Constraints()

    def numeric(self, value: Number) -> Number:
        """Return `value` if the parameter takes such a number, else raise `InvalidValue`.

        A parameter that only takes numbers below zero takes "30 days ago" as -30.
        """
        parameter = self._parameter
        expected = parameter.descriptor.expected(value)
        if expected is not None:
            raise InvalidValue(f"{value} is not {expected}")
        if parameter.le is not None and parameter.le <= 0 < value:
            value = opposite(value)
        self.check(value)
        return value

    def check(self, value: Any) -> None:
        """Raise `InvalidValue` when `value` is outside what the parameter allows."""
        problem = self._constraints.problem(value)
        if problem is not None:
            raise InvalidValue(f"{show_value(value)} {problem}")

    def checked(self, candidate: Candidate) -> Candidate:
        """Return the candidate as the parameter takes it, or with the problem that it has."""
        try:
            if self._is_numeric:
                return candidate._replace(value=self.numeric(candidate.value))
            self.check(candidate.value)
        except InvalidValue as refused:
            return candidate._replace(problem=str(refused))
        return candidate


@dataclass(frozen=True, slots=True)
class Extraction:
    """The arguments a question gives to a template.

    `arguments` and `sources` have the same keys, in the order of the parameters. `missing` are
    parameters without a usable value, `sure` those whose value is no other's. `doubtful` are
    texts of which no known edge settles where they begin and end, and `by_order` those whose role
    rests on the order of mention alone, though another value was there that they could have been
    confused with, or though a value that they need is asked for instead of given.
    """

    arguments: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    missing: tuple[MissingParameter, ...] = ()
    grounding: ArgumentCoverage = field(default_factory=ArgumentCoverage)
    sure: frozenset[str] = field(default=frozenset(), compare=False)
    doubtful: frozenset[str] = field(default=frozenset(), compare=False)
    by_order: frozenset[str] = field(default=frozenset(), compare=False)
    refused: tuple[tuple[int, int], ...] = field(default=(), compare=False)
    """Where values stand that a parameter was meant to have, and cannot: they are asked about."""
    asides: tuple[Clause, ...] = field(default=(), compare=False)
    """The clauses that only tell something beside what is asked for."""


@dataclass(frozen=True, slots=True)
class PlacedValue:
    """What stands at a place of a text, read as a value of one parameter.

    `problem` says why it cannot be used.
    """

    value: Any
    problem: str
    span: tuple[int, int]
    is_text: bool = False
    is_sentence: bool = False
    is_name: bool = False


_NUMERIC: Final = re.compile(r"(\d{1,2})([/\-])(\d{1,2})\2\d{2,4}")
_FIRST: Final[Mapping[DateOrder, str]] = {"mdy": "month first", "dmy": "day first"}


def note_ambiguous_dates(
    arguments: Mapping[str, Any], sources: Mapping[str, Source], date_order: DateOrder
) -> Mapping[str, Source]:
    """`sources`, each that holds a date with two readings saying which one was taken.

    03/04/2025 is such a date; 13/04/2025 and 04/04/2025 are not, and with dots the day is first.
    """
    noted = dict(sources)
    for name, source in sources.items():
        value = arguments.get(name)
        found = _NUMERIC.fullmatch((source.text or "").strip())
        if found is None or not isinstance(value, str) or value == source.text:
            continue
        first, second = int(found.group(1)), int(found.group(3))
        if first != second and 1 <= first <= 12 and 1 <= second <= 12:
            note = f"{source.text} was read as {value}, {_FIRST[date_order]}"
            noted[name] = replace(source, note=note)
    return noted
