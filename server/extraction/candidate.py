"""A place of a question that could be the value of a parameter."""

from typing import Any, Final, NamedTuple

from server.core.tools import SourceKind
from server.extraction.plan import NUMERIC, ParameterPlan
from server.extraction.recognizers.span import Span
from server.extraction.values import Unusable

HINT: Final = 3
"""Least score at which the words around a value say whose it is."""
SURE: Final = 8
CURRENCY_OF_AMOUNT: Final = 5


class Candidate(NamedTuple):
    """A value for a parameter, and where it stands.

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

    def overlaps(self, other: "Candidate") -> bool:
        return self.start < other.end and other.start < self.end


def at(span: Span, value: Any, rank: int = 0, *, hinted: bool = False, fit: int = 0) -> Candidate:
    return Candidate(
        span.start, span.end, span.first, span.last, value, "recognizer", rank, hinted, "", fit
    )


def checked(plan: ParameterPlan, candidate: Candidate) -> Candidate:
    try:
        if plan.role in NUMERIC:
            return candidate._replace(value=plan.checker.numeric(candidate.value))
        plan.checker.check(candidate.value)
    except Unusable as refused:
        return candidate._replace(problem=str(refused))
    return candidate
