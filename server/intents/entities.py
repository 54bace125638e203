"""The kinds of entity a pack can declare: what each reads from a question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final, NamedTuple, Protocol

from server.intents.dates import DateRules, join, read_dates
from server.intents.numbers import parse_int
from server.intents.patterns import PackPattern, Spans
from server.intents.phrases import PhraseHit
from server.intents.question_state import QuestionState
from server.text.normalizer import Normalizer, starts_of

Span = tuple[int, int]
"""Characters of the question."""

_MOST: Final = 32
"""Matches of one pattern that are looked at in one question."""


class Found(NamedTuple):
    value: Any
    spans: tuple[Span, ...] = ()


class EntityKind(Protocol):
    def read(self, reading: QuestionState) -> Found | None: ...


@dataclass(frozen=True, slots=True)
class PackEntity:
    """`intents` and `operations` are those it belongs to; None is all of them."""

    name: str
    kind: EntityKind
    intents: frozenset[str] | None = None
    operations: frozenset[str] | None = None
    default: Any = None
    claims: bool = True


@dataclass(frozen=True, slots=True)
class Capture:
    """A pattern, and the value it stands for when that is not the text it captures."""

    pattern: PackPattern
    group: int = 0
    constant: Any = None


def group_of(name: str) -> str:
    """Under which name the phrases of an entity are found."""
    return f"entity {name}"


@dataclass(frozen=True, slots=True)
class NumberKind:
    """A whole number between bounds, in digits, number words or ordinals."""

    name: str
    captures: tuple[Capture, ...]
    least: int | None = None
    most: int | None = None
    ordinals: Mapping[str, int] = field(default_factory=dict)

    def read(self, reading: QuestionState) -> Found | None:
        for capture in self.captures:
            if capture.pattern.number not in reading.matching:
                continue
            for spans in capture.pattern.all(reading.data, _MOST):
                start, end = spans[capture.group]
                if not reading.free_bytes(start, end):
                    continue
                value = self._value(capture, reading.data[start:end].decode())
                if value is None or self.beyond(value):
                    reading.out_of_range.setdefault(self.name, reading.characters(start, end))
                    continue
                return Found(value, (reading.characters(*spans[0]),))
        return None

    def _value(self, capture: Capture, text: str) -> int | None:
        if capture.constant is not None:
            return int(capture.constant)
        return self.ordinals[text] if text in self.ordinals else parse_int(text)

    def beyond(self, value: int) -> bool:
        """Whether a number is out of bounds."""
        too_small = self.least is not None and value < self.least
        return too_small or (self.most is not None and value > self.most)


@dataclass(frozen=True, slots=True)
class PatternKind:
    """Captured text, put into `form` where `{value}` or a named group stands."""

    captures: tuple[Capture, ...]
    reader: Normalizer
    form: str = "{value}"
    case: str = "as_written"
    every: bool = False

    def read(self, reading: QuestionState) -> Found | None:
        values: list[Any] = []
        places: list[Span] = []
        for capture in self.captures:
            if capture.pattern.number not in reading.matching:
                continue
            for spans in capture.pattern.all(reading.data, _MOST):
                place = reading.characters(*spans[0])
                if not reading.free(*place):
                    continue
                value = self._value(reading, capture, spans)
                if not self.every:
                    return Found(value, (place,))
                if value not in values:
                    values.append(value)
                    places.append(place)
        return Found(values, tuple(places)) if values else None

    def _value(self, reading: QuestionState, capture: Capture, spans: Spans) -> Any:
        if capture.constant is not None:
            return capture.constant
        value = self.form
        for name, group in (("value", capture.group), *capture.pattern.names.items()):
            if f"{{{name}}}" in value and spans[group][0] >= 0:
                start, end = reading.characters(*spans[group])
                value = value.replace(f"{{{name}}}", self.cased(reading.text.clean[start:end]))
        return value

    def cased(self, text: str) -> str:
        """Captured text as the entity has it."""
        polished = self.reader.polish(text.strip())
        if self.case == "as_written":
            return polished
        return polished.lower() if self.case == "lower" else polished.upper()


@dataclass(frozen=True, slots=True)
class ValuesKind:
    """Listed values that a question names by one of their words, phrases of the `group`."""

    group: str
    patterns: tuple[Capture, ...] = ()
    every: bool = False
    choose: str = "longest"
    values: tuple[str, ...] = ()

    def read(self, reading: QuestionState) -> Found | None:
        hits = [h for h in reading.hits.get(self.group, ()) if reading.free_hit(h)]
        if hits and self.every:
            values = list(dict.fromkeys(hit.entry.key for hit in hits))
            return Found(values, tuple(reading.text.span(h.first, h.last) for h in hits))
        if hits:
            best = _chosen(hits, self.choose)
            return Found(best.entry.key, (reading.text.span(best.first, best.last),))
        for capture in self.patterns:
            if capture.pattern.number in reading.matching:
                spans = capture.pattern.search(reading.data)
                if spans is not None and reading.free_bytes(*spans[0]):
                    value = [capture.constant] if self.every else capture.constant
                    return Found(value, (reading.characters(*spans[0]),))
        return None


def _chosen(hits: Sequence[PhraseHit], choose: str) -> PhraseHit:
    if choose == "first_declared":
        return min(hits, key=lambda hit: hit.entry.order)
    if choose == "first_written":
        return hits[0]
    return max(hits, key=lambda hit: (hit.last - hit.first, hit.size, -hit.entry.order))


@dataclass(frozen=True, slots=True)
class DateRangeKind:
    """`{start, end}` in ISO 8601, both days included.

    Nothing is read where one of the dates cannot be: the others say something else without it.
    """

    name: str
    rules: DateRules
    earliest: date

    def read(self, reading: QuestionState) -> Found | None:
        rules, data, today = self.rules, reading.data, reading.today
        atoms, impossible = read_dates(rules, data, reading.matching, today, reading.free_bytes)
        if impossible is not None:
            reading.out_of_range.setdefault(self.name, reading.characters(*impossible))
            return None
        found = join(rules, data, atoms, today, self.earliest)
        if found is None:
            return None
        start, end = found.period
        value = {"start": start.isoformat(), "end": end.isoformat()}
        return Found(value, (reading.characters(found.start, found.end),))


@dataclass(frozen=True, slots=True)
class Series:
    """Things of one kind: every `item` in what `pattern` spans, or in the whole question
    without one; or the values of an entity, by the group of their phrases.
    """

    name: str
    pattern: PackPattern | None = None
    item: PackPattern | None = None
    values_of: str | None = None


@dataclass(frozen=True, slots=True)
class SeriesKind:
    """Two or more things of the first kind that the question names so many of."""

    series: tuple[Series, ...]

    def read(self, reading: QuestionState) -> Found | None:
        for series in self.series:
            names, spans = _listed(series, reading)
            if len(names) > 1:
                return Found(f"{series.name}:{','.join(names)}", spans)
        return None


def _listed(series: Series, reading: QuestionState) -> tuple[list[str], tuple[Span, ...]]:
    if series.values_of is not None:
        hits = [h for h in reading.hits.get(series.values_of, ()) if reading.free_hit(h)]
        names = list(dict.fromkeys(str(hit.entry.key) for hit in hits))
        return names, tuple(reading.text.span(hit.first, hit.last) for hit in hits)
    pattern, item = series.pattern, series.item
    if item is None or item.number not in reading.matching:
        return [], ()
    group = item.inner
    data = reading.data
    if pattern is None:
        found = [spans[group] for spans in item.all(data, _MOST)]
        places = tuple(reading.characters(*span) for span in found)
    elif pattern.number in reading.matching and (within := pattern.search(data)) is not None:
        start, end = within[0]
        data = data[start:end]
        found = [spans[group] for spans in item.all(data, _MOST)]
        places = (reading.characters(start, end),)
    else:
        return [], ()
    return list(dict.fromkeys(data[start:end].decode() for start, end in found)), places


@dataclass(frozen=True, slots=True)
class Marker:
    """Where text begins: at the end of the pattern's first group, or of all of it.

    `known` takes listed values only.
    """

    pattern: PackPattern
    known: bool = False


@dataclass(frozen=True, slots=True)
class TextKind:
    """`group` has the phrases of its values. `values` maps folded words to the value they
    stand for; other text stays as it is.

    `edges` are words that do not begin or end a value, and `reject` whole texts that
    are none ("this"); none begins with a word of `reject_first`.
    """

    group: str
    reader: Normalizer
    after: tuple[Marker, ...]
    until: PackPattern | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    reject: frozenset[str] = frozenset()
    reject_first: frozenset[str] = frozenset()
    edges: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()
    longest_prefix: int = 0
    max_words: int = 6

    def read(self, reading: QuestionState) -> Found | None:
        matching, names_value = reading.matching, self.group in reading.hits
        for marker in self.after:
            pattern = marker.pattern
            if pattern.number not in matching or (marker.known and not names_value):
                continue
            spans = pattern.search(reading.data)
            if spans is None:
                continue
            here = spans[pattern.inner][1]
            start = reading.character(here)
            found = (
                self._known(reading, start) if marker.known else self._free(reading, start, here)
            )
            if found is not None:
                return found
        return None

    def _known(self, reading: QuestionState, start: int) -> Found | None:
        """The longest listed value that begins at `start`."""
        best: Found | None = None
        for hit in reading.hits.get(self.group, ()):
            span = reading.text.span(hit.first, hit.last)
            longer = best is None or span[1] > best.spans[0][1]
            if span[0] + hit.prefix == start and longer and reading.free_hit(hit):
                best = Found(hit.entry.key, (span,))
        return best

    def _free(self, reading: QuestionState, start: int, start_byte: int) -> Found | None:
        end = self._end(reading, start, start_byte)
        text = reading.text
        words = self.reader.words_in(text, start, end)[: self.max_words]
        first, last = 0, len(words)
        while first < last and words[first] in self.edges:
            first += 1
        while first < last and (words[last - 1] in self.edges or words[last - 1] in self.prefixes):
            last -= 1
        folded = " ".join(words[first:last])
        if not folded or folded in self.reject or words[first] in self.reject_first:
            return None
        starts = starts_of(words[:last], text.folded, start)
        begin, finish = starts[first], starts[-1] + len(words[last - 1])
        value = self._listed(folded) or self.reader.polish(text.clean[begin:finish])
        return Found(value, ((begin, finish),))

    def _end(self, reading: QuestionState, start: int, start_byte: int) -> int:
        end = len(reading.text.clean)
        for claim in reading.claims:
            if start <= claim.start < end:
                end = claim.start
        if self.until is not None and self.until.number in reading.matching:
            stop = self.until.search(reading.data, start_byte)
            if stop is not None:
                end = min(end, reading.character(stop[0][0]))
        return end

    def _listed(self, folded: str) -> str | None:
        """The value of listed words, also behind letters that are attached to them."""
        if folded in self.values:
            return self.values[folded]
        for length in range(1, self.longest_prefix + 1):
            if folded[:length] in self.prefixes and folded[length:] in self.values:
                return self.values[folded[length:]]
        return None
