"""JSON in a question, as the data that a parameter takes."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from server.extraction.candidate import Candidate, at, checked
from server.extraction.moments import unreadable
from server.extraction.plan import ParameterPlan
from server.extraction.recognizers.reading import Reading
from server.extraction.recognizers.span import Span

_BETWEEN_ROWS = frozenset({",", "and", ";"})


def find_data(plan: ParameterPlan, reading: Reading) -> Iterator[Candidate]:
    """Every array or object that could be the value of `plan`, in order of mention."""
    if plan.role == "object":
        spans = reading.of("object")
    else:
        items = (plan.parameter.items or {}).get("type")
        spans = [
            span
            for span in reading.of("array")
            if items != "object" or all(isinstance(item, dict) for item in span.value)
        ]
    for span in spans:
        yield checked(plan, at(span, span.value))
    yield from unreadable(reading, "object" if plan.role == "object" else "array")
    if plan.role == "records" and not spans:
        rows = reading.of("object")
        if _in_a_row(rows, reading):
            whole = rows[0]._replace(end=rows[-1].end, last=rows[-1].last)
            yield checked(plan, at(whole, [row.value for row in rows]))


def _in_a_row(rows: Sequence[Span], reading: Reading) -> bool:
    """Whether all objects could be rows of one table whose brackets were left out."""
    words = reading.tokens.words
    return bool(rows) and all(
        _BETWEEN_ROWS.issuperset(words[one.last : two.first]) for one, two in pairwise(rows)
    )
