"""Everything a text says that reads as a value, found once and shared by all templates."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from functools import cached_property
from typing import Any, Final

from server.text.blocks import find_emails, find_quotes, find_urls
from server.text.dates import find_date_formats
from server.text.json_blocks import find_json
from server.text.relative_dates import PRESENT
from server.text.scanner import scan
from server.text.span import DateOrder, Kind, Span
from server.text.tokens import Tokens

MAX_CHARS: Final = 1_000_000
"""A text of more characters is not read at all."""

MANY: Final = 200
"""Values of a kind that are considered for a single argument; bounds hostile text."""

_SILENT: Final = frozenset({"anchor", "currency"})
"""Kinds that say something only together with another value."""


class ParsedText:
    """A text, its words and its values.

    `spans` may overlap: "3 days ago" is a number, a duration and a date. A number
    within a date, a quote, JSON, a URL or an email is none of its own.
    """

    def __init__(self, text: str, now: datetime, date_order: DateOrder) -> None:
        self.text = text
        self.now = now
        self.date_order = date_order
        clean = _without_surrogates(text) if len(text) <= MAX_CHARS else ""
        self.clean = clean
        """The text that patterns may run on: same places, but always valid Unicode."""
        blocks = _blocks(clean)
        self.tokens = Tokens(clean, blocks)
        self.spans: Sequence[Span] = self._placed(blocks) + scan(
            self.tokens, now.date(), date_order
        )
        self.too_long = self.tokens.too_many or len(text) > MAX_CHARS
        self.memo: dict[tuple[str, str], Any] = {}
        """What was worked out of this text before, by purpose and name."""
        self.by_kind: dict[Kind, list[Span]] = {}
        for span in self.spans:
            self.by_kind.setdefault(span.kind, []).append(span)

    @property
    def today(self) -> date:
        return self.now.date()

    def of(self, kind: Kind) -> Sequence[Span]:
        """Values of one kind, in order of mention, as many as one argument may be among."""
        found = self.by_kind.get(kind, ())
        return found if len(found) <= MANY else found[:MANY]

    def every(self, kind: Kind) -> Sequence[Span]:
        """All values of one kind, however many: the members of a list."""
        return self.by_kind.get(kind, ())

    @cached_property
    def outside_json(self) -> str:
        """The clean text with every block of JSON blanked out."""
        pieces, position = list[str](), 0
        for span in self.spans:
            if span.kind in ("array", "object") or span.unit in ("array", "object"):
                pieces += self.clean[position : span.start], "\0" * (span.end - span.start)
                position = span.end
        return "".join((*pieces, self.clean[position:])) if pieces else self.clean

    @cached_property
    def moments(self) -> frozenset[int]:
        """The words that belong to a date, a time or a duration."""
        return frozenset(
            index
            for kind in _MOMENTS
            for span in self.every(kind)
            if not span.weak
            for index in range(span.first, span.last)
        )

    @cached_property
    def date_formats(self) -> Sequence[Span]:
        return find_date_formats(self.tokens)

    @cached_property
    def values(self) -> tuple[tuple[int, int], ...]:
        """Where the text holds a value, each place once, in order."""
        places = sorted(
            (span.start, span.end)
            for span in self.spans
            if not (span.weak or span.kind in _SILENT or self.is_present(span))
        )
        merged: list[tuple[int, int]] = []
        for start, end in places:
            if merged and start < merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return tuple(merged)

    def is_present(self, span: Span) -> bool:
        """Whether it is a "today" or "now", which may say nothing in particular."""
        return span.last - span.first == 1 and self.tokens.words[span.first] in PRESENT

    def quoted(self, kind: Kind) -> Iterator[Span]:
        """Values of one kind that fill a quote: the date of "2025-03-05"."""
        for quote in self.of("quoted"):
            yield from self._inside(quote, kind)

    def _inside(self, quote: Span, kind: Kind) -> Iterator[Span]:
        if len(quote.value) > 100:
            return
        inner = ParsedText(quote.value.strip(), self.now, self.date_order)
        for span in inner.of(kind):
            if span.start == 0 and span.end == len(inner.text):
                yield quote._replace(kind=kind, value=span.value, unit=span.unit)
                return

    def _placed(self, blocks: Sequence[Span]) -> list[Span]:
        """The blocks, with the words that stand for them."""
        placed = []
        for block in blocks:
            index = self.tokens.index_at(block.start)
            if index < len(self.tokens) and self.tokens.starts[index] == block.start:
                placed.append(block._replace(first=index, last=index + 1))
        return placed


_MOMENTS: Final[tuple[Kind, ...]] = ("date", "datetime", "time", "duration", "offset")


def _without_surrogates(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def _blocks(text: str) -> list[Span]:
    """JSON, quotes, URLs and emails, none inside another, in order."""
    blocks: list[Span] = []
    if "[" in text or "{" in text:
        blocks = find_json(text)
    for find in (find_quotes, find_urls, find_emails):
        more = [
            span._replace(start=span.start + start, end=span.end + start)
            for start, end in _gaps(len(text), blocks)
            for span in find(text[start:end])
        ]
        if more:
            blocks = sorted(blocks + more, key=_start)
    return blocks


def _start(span: Span) -> int:
    return span.start


def _gaps(length: int, blocks: Sequence[Span]) -> list[tuple[int, int]]:
    gaps, position = [], 0
    for block in blocks:
        if block.start > position:
            gaps.append((position, block.start))
        position = block.end
    gaps.append((position, length))
    return gaps
