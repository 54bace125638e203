"""What the steps of extraction hand on: candidates, places taken, arguments found."""

from bisect import bisect_left, insort
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from server.core.decision import ArgumentCoverage, MissingParameter
from server.core.tools import Source, SourceKind
from server.extraction.plan import NUMERIC, ParameterPlan
from server.extraction.values import InvalidValue
from server.text.tokens import Span, Tokens

HINT: Final = 3
"""Least score at which the words around a value say whose it is."""
SURE: Final = 8
CURRENCY_OF_AMOUNT: Final = 5


class ValueCandidate(NamedTuple):
    """A value for a parameter, and where it stands: in characters, and in words.

    A lower `rank` is tried first. `hinted` ones count only when the words around them
    say that they belong to the parameter; `fit` is how much the value itself says so,
    as 15% does for a percentage. `problem` says why the value cannot be used;
    such a candidate is never taken, but can be complained about.
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

    def overlaps(self, other: "ValueCandidate") -> bool:
        return self.start < other.end and other.start < self.end

    def is_within(self, other: "Span | ValueCandidate") -> bool:
        """Whether it is but a part of the other's place."""
        shorter = self.end - self.start < other.end - other.start
        return shorter and other.start <= self.start and self.end <= other.end


def from_span(span: Span, value: Any, *, rank: int = 0, fit: int = 0) -> ValueCandidate:
    """Return `value` as a candidate at the place of `span`."""
    return ValueCandidate(span.start, span.end, span.first, span.last, value, rank=rank, fit=fit)


def from_words(
    tokens: Tokens,
    first: int,
    last: int,
    value: Any,
    kind: SourceKind = "recognizer",
    *,
    rank: int = 0,
) -> ValueCandidate:
    """Return `value` as a candidate at the words from `first` up to `last`."""
    start, end = tokens.starts[first], tokens.ends[last - 1]
    return ValueCandidate(start, end, first, last, value, kind, rank)


def checked(plan: ParameterPlan, candidate: ValueCandidate) -> ValueCandidate:
    """Return the candidate as the parameter takes it, or with the problem that it has."""
    try:
        if plan.role in NUMERIC:
            return candidate._replace(value=plan.checker.numeric(candidate.value))
        plan.checker.check(candidate.value)
    except InvalidValue as refused:
        return candidate._replace(problem=str(refused))
    return candidate


@dataclass(frozen=True, slots=True)
class Extraction:
    """The arguments a question gives to a template.

    `arguments` and `sources` have the same keys, in the order of the parameters.
    `missing` has what must still be asked for: required parameters without a value,
    and parameters whose value cannot be used, which then say why in `problem`. `sure` are
    those whose value the words around it, or a pattern, gave to them and no other.
    """

    arguments: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    missing: tuple[MissingParameter, ...] = ()
    grounding: ArgumentCoverage = field(default_factory=ArgumentCoverage)
    sure: frozenset[str] = field(default=frozenset(), compare=False)


@dataclass(frozen=True, slots=True)
class PlacedValue:
    """What stands at a place of a text, read as a value of one parameter.

    `problem` says why it cannot be used. Free text is a text; its examples tell whether it
    is a sentence, or a name that is written with a capital letter.
    """

    value: Any
    problem: str
    span: tuple[int, int]
    is_text: bool = False
    is_sentence: bool = False
    is_name: bool = False


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
