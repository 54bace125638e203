"""The kinds of entity that a pack can declare: what each reads from a question."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, NamedTuple

from server.core.suggestions import did_you_mean
from server.intents import spec as specs
from server.intents.dates import DateRules, join, read_dates
from server.intents.numbers import parse_int
from server.intents.patterns import PackPattern, Spans
from server.intents.phrases import PhraseHit
from server.intents.question_state import QuestionState, Span
from server.text.normalizer import NUMBER_MARK, Normalizer, starts_of

_MOST: Final = 32
"""Matches of one pattern that are looked at in one question."""


class ExtractedEntity(NamedTuple):
    value: Any
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityExtractor(ABC):
    """Reads one entity of a pack from questions."""

    spec: specs.EntityBase

    @property
    def name(self) -> str:
        return self.spec.name

    def belongs_to(self, intent: str, question: QuestionState) -> bool:
        """Whether an intent carries what was read of a question."""
        is_free = self.name in question.free_texts
        intents = self._free_text_intents if is_free else self.spec.intents
        return intents is None or intent in intents

    @property
    def _free_text_intents(self) -> Sequence[str] | None:
        return self.spec.intents

    @abstractmethod
    def extract(self, question: QuestionState) -> ExtractedEntity | None:
        """Return the entity's value and where it was read; None when there is none."""

    def value_problem(self, value: Any) -> str | None:
        """Return why no question can name `value`; None when one can."""
        if self.spec.default is not None and value == self.spec.default:
            return None
        if not getattr(self.spec, "all", False):
            return self._item_problem(value)
        if not isinstance(value, list) or not value:
            return "it is a list of values, so each value to compare with is a list too"
        return next((why for item in value if (why := self._item_problem(item)) is not None), None)

    @abstractmethod
    def _item_problem(self, value: Any) -> str | None:
        """Return why the entity, or an item of its list, is never `value`."""


@dataclass(frozen=True, slots=True)
class Capture:
    """A pattern, and the value it stands for when that is not the text it captures."""

    pattern: PackPattern
    group: int = 0
    constant: Any = None


def phrase_group(entity: str) -> str:
    """Return the group of the phrases of an entity."""
    return f"entity {entity}"


def _is_within_word(data: bytes, start: int) -> bool:
    """Whether digits are the tail of a name such as N4."""
    return data[start - 1 : start].isalnum()


def _matches(
    question: QuestionState, captures: Sequence[Capture]
) -> Iterator[tuple[Capture, Spans]]:
    for capture in captures:
        if capture.pattern.number in question.matching:
            for spans in capture.pattern.all(question.data, _MOST):
                yield capture, spans


def _listed_problem(value: Any, known: Sequence[Any]) -> str | None:
    return None if value in known else did_you_mean(value, list(dict.fromkeys(map(str, known))))


@dataclass(frozen=True, slots=True)
class NumberExtractor(EntityExtractor):
    """A whole number between bounds, in digits, number words or ordinals."""

    spec: specs.NumberEntitySpec
    captures: tuple[Capture, ...]
    ordinals: Mapping[str, int]
    negatives: frozenset[str] = frozenset()
    leads: tuple[PackPattern, ...] = ()

    def extract(self, question: QuestionState) -> ExtractedEntity | None:
        named = self._named(question)
        if named is not None:
            return named
        for capture, spans in _matches(question, self.captures):
            start, end = spans[capture.group]
            if not question.bytes_are_free(start, end):
                continue
            if _is_within_word(question.data, start):
                continue
            if self._is_no_whole_number(question.data, start, end):
                question.out_of_range.setdefault(self.name, question.characters(start, end))
                continue
            text = question.data[start:end].decode()
            value = self.ordinals.get(text, parse_int(text))
            if capture.constant is not None:
                value = int(capture.constant)
            if value is not None and self._is_in_range(value):
                return ExtractedEntity(value, (question.characters(*spans[0]),))
            question.out_of_range.setdefault(self.name, question.characters(start, end))
        return None

    def _item_problem(self, value: Any) -> str | None:
        if not isinstance(value, int) or isinstance(value, bool):
            return "it is a whole number"
        if self._is_in_range(value):
            return None
        least = "" if self.spec.min is None else f" from {self.spec.min}"
        most = "" if self.spec.max is None else f" to {self.spec.max}"
        return f"it is a number{least}{most}"

    def _named(self, question: QuestionState) -> ExtractedEntity | None:
        """Read a name right behind one of the leads; of several, the longest."""
        hits = question.free_hits(phrase_group(self.name)) if self.spec.names else []
        for lead in self.leads if hits else ():
            if lead.number not in question.matching:
                continue
            for spans in lead.all(question.data, _MOST):
                start, end = question.characters(*spans[0])
                here = [hit for hit in hits if question.hit_span(hit)[0] == end]
                last = max((hit.last for hit in here), default=0)
                numbers = sorted({hit.entry.key for hit in here if hit.last == last})
                if len(numbers) == 1:
                    return ExtractedEntity(numbers[0], ((start, self._end(question, last)),))
                if numbers:
                    place = start, self._end(question, last)
                    question.ambiguous.setdefault(self.name, (place, numbers))
        return None

    def _end(self, question: QuestionState, last: int) -> int:
        return question.text.span(last - 1, last)[1]

    def _is_no_whole_number(self, data: bytes, start: int, end: int) -> bool:
        """Whether the digits are but a part of a decimal number, or of one below zero."""
        before, after = data[:start].decode(), data[end : end + 2].decode(errors="ignore")
        if re.match(r"[.]\d", after) or re.search(r"\d[.]$", before):
            return True
        return (before.rstrip(NUMBER_MARK).split() or [""])[-1].strip("-") in self.negatives

    def _is_in_range(self, value: int) -> bool:
        least, most = self.spec.min, self.spec.max
        return (least is None or value >= least) and (most is None or value <= most)


@dataclass(frozen=True, slots=True)
class PatternExtractor(EntityExtractor):
    """Captured text, put into `form` where `{value}` or a named group stands."""

    spec: specs.PatternEntitySpec
    captures: tuple[Capture, ...]
    normalizer: Normalizer

    def extract(self, question: QuestionState) -> ExtractedEntity | None:
        values: list[Any] = []
        places: list[Span] = []
        for capture, spans in _matches(question, self.captures):
            place = question.characters(*spans[0])
            if not question.is_free(*place):
                continue
            value = self._captured_value(question, capture, spans)
            if not self.spec.all:
                return ExtractedEntity(value, (place,))
            if value not in values:
                values.append(value)
                places.append(place)
        return ExtractedEntity(values, tuple(places)) if values else None

    def _item_problem(self, value: Any) -> str | None:
        constants = [c.constant for c in self.captures if c.constant is not None]
        if value in constants:
            return None
        if len(constants) == len(self.captures):
            return _listed_problem(value, constants)
        if not isinstance(value, str):
            return "it is text"
        if self.spec.case != "as_written" and value != (cased := self._in_case(value)):
            return f"did you mean {cased!r}?"
        return None

    def _captured_value(self, question: QuestionState, capture: Capture, spans: Spans) -> Any:
        if capture.constant is not None:
            return capture.constant
        value = self.spec.form
        for name, group in (("value", capture.group), *capture.pattern.names.items()):
            if f"{{{name}}}" in value and spans[group][0] >= 0:
                start, end = question.characters(*spans[group])
                value = value.replace(f"{{{name}}}", self._in_case(question.text.clean[start:end]))
        return value

    def _in_case(self, text: str) -> str:
        polished = self.normalizer.polish(text.strip())
        if self.spec.case == "as_written":
            return polished
        return polished.lower() if self.spec.case == "lower" else polished.upper()


@dataclass(frozen=True, slots=True)
class ValuesExtractor(EntityExtractor):
    """Listed values that a question names by one of their words."""

    spec: specs.ValuesEntitySpec
    captures: tuple[Capture, ...]
    unknown: tuple[PackPattern, ...] = ()
    otherwise: "TextExtractor | None" = None

    def extract(self, question: QuestionState) -> ExtractedEntity | None:
        self._note_unknown(question)
        found = self._listed(question)
        if found is not None or self.otherwise is None:
            return found
        text = self.otherwise.extract(question)
        if text is None:
            return None
        question.free_texts.add(self.name)
        return ExtractedEntity(self._whole(text.value), text.spans)

    @property
    def _free_text_intents(self) -> Sequence[str] | None:
        free = self.spec.otherwise
        return self.spec.intents if free is None or free.intents is None else free.intents

    def _note_unknown(self, question: QuestionState) -> None:
        """Note the first text that names a value, and none of those that are listed."""
        if not self.unknown:
            return
        known = [question.hit_span(hit) for hit in question.hits.get(phrase_group(self.name), ())]
        for pattern in self.unknown:
            if pattern.number not in question.matching:
                continue
            for spans in pattern.all(question.data, _MOST):
                place = question.characters(*spans[pattern.inner])
                if not any(start < place[1] and place[0] < end for start, end in known):
                    question.unlisted.setdefault(self.name, place)
                    return

    def _whole(self, value: Any) -> Any:
        return [value] if self.spec.all else value

    def _listed(self, question: QuestionState) -> ExtractedEntity | None:
        hits = question.free_hits(phrase_group(self.name))
        if hits and self.spec.all:
            values = list(dict.fromkeys(hit.entry.key for hit in hits))
            return ExtractedEntity(values, tuple(map(question.hit_span, hits)))
        if hits:
            best = self._choose(hits)
            return ExtractedEntity(best.entry.key, (question.hit_span(best),))
        for capture in self.captures:
            if capture.pattern.number in question.matching:
                spans = capture.pattern.search(question.data)
                if spans is not None and question.bytes_are_free(*spans[0]):
                    value = [capture.constant] if self.spec.all else capture.constant
                    return ExtractedEntity(value, (question.characters(*spans[0]),))
        return None

    def _item_problem(self, value: Any) -> str | None:
        if self.otherwise is not None:
            return None if isinstance(value, str) and value.strip() else "it is text"
        constants = (capture.constant for capture in self.captures)
        return _listed_problem(value, [*self.spec.values, *constants])

    def _choose(self, hits: Sequence[PhraseHit]) -> PhraseHit:
        if self.spec.choose == "first_declared":
            return min(hits, key=lambda hit: hit.entry.order)
        if self.spec.choose == "first_written":
            return hits[0]
        return max(hits, key=lambda hit: (hit.last - hit.first, hit.size, -hit.entry.order))


@dataclass(frozen=True, slots=True)
class DateRangeExtractor(EntityExtractor):
    """`{start, end}` in ISO 8601, both days included.

    Nothing is read where one of the dates cannot be: the others mean something else without it.
    """

    spec: specs.DateRangeEntitySpec
    rules: DateRules
    earliest: date

    def extract(self, question: QuestionState) -> ExtractedEntity | None:
        dates, impossible = read_dates(self.rules, question)
        if impossible is not None:
            question.out_of_range.setdefault(self.name, question.characters(*impossible))
            return None
        joined = join(self.rules, question, dates, self.earliest)
        if joined is None:
            return None
        value = dict(zip(("start", "end"), map(date.isoformat, joined.period), strict=True))
        return ExtractedEntity(value, (question.characters(joined.start, joined.end),))

    def _item_problem(self, value: Any) -> str | None:
        why = "it is {start: …, end: …}, dates in ISO 8601"
        if not isinstance(value, dict) or value.keys() != {"start", "end"}:
            return why
        try:
            is_range = all(date.fromisoformat(day).isoformat() == day for day in value.values())
        except (TypeError, ValueError):
            is_range = False
        return None if is_range else why


@dataclass(frozen=True, slots=True)
class Series:
    """Things of one kind: every `item` in the match of `pattern`, or in the whole question
    without one; or the values of another entity.
    """

    name: str
    pattern: PackPattern | None = None
    item: PackPattern | None = None
    values_of: str | None = None

    def items(self, question: QuestionState) -> tuple[list[str], tuple[Span, ...]]:
        """Return the things that a question names, and where."""
        if self.values_of is not None:
            hits = question.free_hits(phrase_group(self.values_of))
            names = list(dict.fromkeys(str(hit.entry.key) for hit in hits))
            return names, tuple(map(question.hit_span, hits))
        data, item, pattern = question.data, self.item, self.pattern
        if item is None or item.number not in question.matching:
            return [], ()
        whole: tuple[Span, ...] = ()
        if pattern is not None:
            within = pattern.search(data) if pattern.number in question.matching else None
            if within is None:
                return [], ()
            start, end = within[0]
            data, whole = data[start:end], (question.characters(start, end),)
        found = list(item.all(data, _MOST))
        spans = [spans[item.inner] for spans in found]
        names = list(dict.fromkeys(data[start:end].decode() for start, end in spans))
        return names, whole or tuple(question.characters(*spans[0]) for spans in found)


@dataclass(frozen=True, slots=True)
class SeriesExtractor(EntityExtractor):
    """Two or more things of the first kind that the question names so many of."""

    spec: specs.SeriesEntitySpec
    series: tuple[Series, ...]

    def extract(self, question: QuestionState) -> ExtractedEntity | None:
        for series in self.series:
            items, spans = series.items(question)
            if len(items) > 1:
                return ExtractedEntity(f"{series.name}:{','.join(items)}", spans)
        return None

    def _item_problem(self, value: Any) -> str | None:
        names = [series.name for series in self.series]
        name, _, items = value.partition(":") if isinstance(value, str) else ("", "", "")
        if name not in names or "," not in items:
            return f"it is written as {names[0] if names else 'name'}:first,second"
        return None


@dataclass(frozen=True, slots=True)
class Marker:
    """Where text begins: at the end of the pattern's first group, or of all of it.

    `known` takes listed values only.
    """

    pattern: PackPattern
    known: bool = False


@dataclass(frozen=True, slots=True)
class TextExtractor(EntityExtractor):
    """Free text after a marker.

    `values` maps folded words to the value they stand for; other text stays as it is.
    `edges` are words that do not begin or end a value, and `reject` whole texts that
    are none ("this"); none begins with a word of `reject_first`.
    """

    spec: specs.TextEntitySpec
    normalizer: Normalizer
    after: tuple[Marker, ...]
    until: tuple[PackPattern, ...]
    values: Mapping[str, str]
    reject: frozenset[str]
    reject_first: frozenset[str]
    edges: frozenset[str]
    prefixes: tuple[str, ...]

    def extract(self, question: QuestionState) -> ExtractedEntity | None:
        names_value = phrase_group(self.name) in question.hits
        for marker in self.after:
            pattern = marker.pattern
            if pattern.number not in question.matching or (marker.known and not names_value):
                continue
            spans = pattern.search(question.data)
            if spans is None:
                continue
            start_byte = spans[pattern.inner][1]
            start, _ = question.characters(start_byte, start_byte)
            if marker.known:
                extracted = self._read_known(question, start)
            else:
                extracted = self._read_free(question, start, start_byte)
            if extracted is not None:
                return extracted
        return None

    def _item_problem(self, value: Any) -> str | None:
        return None if isinstance(value, str) and value.strip() else "it is text"

    def _read_known(self, question: QuestionState, start: int) -> ExtractedEntity | None:
        hits = question.free_hits(phrase_group(self.name))
        here = [hit for hit in hits if question.hit_span(hit)[0] + hit.prefix == start]
        if not here:
            return None
        longest = max(here, key=lambda hit: hit.last)
        return ExtractedEntity(longest.entry.key, (question.hit_span(longest),))

    def _read_free(
        self, question: QuestionState, start: int, start_byte: int
    ) -> ExtractedEntity | None:
        text = question.text
        end = self._end(question, start, start_byte)
        words = self.normalizer.words_in(text, start, end)[: self.spec.max_words]
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
        value = self._listed_value(folded) or self.normalizer.polish(text.clean[begin:finish])
        return ExtractedEntity(value, ((begin, finish),))

    def _end(self, question: QuestionState, start: int, start_byte: int) -> int:
        ends = [claim.start for claim in question.claims if claim.start >= start]
        for pattern in self.until:
            if pattern.number in question.matching:
                stop = pattern.search(question.data, start_byte)
                if stop is not None:
                    ends.append(question.characters(*stop[0])[0])
        return min(ends, default=len(question.text.clean))

    def _listed_value(self, folded: str) -> str | None:
        """Return the value of listed words, also behind letters that are attached to them."""
        for prefix in ("", *self.prefixes):
            if folded.startswith(prefix) and folded[len(prefix) :] in self.values:
                return self.values[folded[len(prefix) :]]
        return None
