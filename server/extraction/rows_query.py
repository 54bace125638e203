"""What a question asks about the rows beside it, as one value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from server.core.tools import Source
from server.extraction.values import Candidate
from server.text.parsed_text import ParsedText
from server.text.rows.reader import RowReading, read_row_question
from server.text.tokens import Span


@dataclass(frozen=True, slots=True)
class FoundQuery:
    """A query, the stretches of text it was read from, and how columns were found."""

    candidate: Candidate
    places: Sequence[tuple[int, int]]
    note: str
    source: Source


def find_query(
    data: Candidate, reading: ParsedText, synonyms: Mapping[str, Sequence[str]]
) -> FoundQuery | None:
    """Return what is asked about rows; None where a word that matters is not understood."""
    block = block_of(data, reading)
    found = read_row_question(reading, block, synonyms) if block else None
    if block is None or found is None or found.query is None or not found.read:
        return None
    places = _stretches(found, reading, block)
    start, end = places[0][0], places[-1][1]
    first, last = min(found.read), max(found.read) + 1
    note = f"Read {' and '.join(found.notes)}" if found.notes else ""
    candidate = Candidate(start, end, first, last, dict(found.query))
    source = Source("recognizer", (start, end), reading.text[start:end], note or None)
    return FoundQuery(candidate, places, note, source)


def asks_of_rows(reading: ParsedText) -> bool:
    """Whether all of a text is a question about rows that it holds."""
    blocks = reading.of("array")
    return len(blocks) == 1 and read_row_question(reading, blocks[0]).query is not None


def block_of(data: Candidate, reading: ParsedText) -> Span | None:
    """The rows that an argument was read from."""
    spans = (s for s in reading.spans if s.kind == "array" and s.start == data.start)
    return next(spans, None)


def _stretches(found: RowReading, reading: ParsedText, block: Span) -> list[tuple[int, int]]:
    """From the first word to the last, before the rows and after them."""
    tokens = reading.tokens
    sides = (
        [at for at in found.read if at < block.first],
        [at for at in found.read if at >= block.last],
    )
    return [(tokens.starts[min(side)], tokens.ends[max(side)]) for side in sides if side]
