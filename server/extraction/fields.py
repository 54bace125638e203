"""Keys of the JSON data in a question that the question names, and what they are compared with."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from server.extraction.assignment import ContextWords, context_score
from server.extraction.candidates import unreadable
from server.extraction.free_text import name_from
from server.extraction.plan import ParameterPlan
from server.extraction.values import Candidate, SpanSet, from_span, from_words, written
from server.text.language import load_language
from server.text.parsed_text import ParsedText
from server.text.phrases import PhraseTable
from server.text.stems import inflections
from server.text.tokens import Kind

_ENGLISH: Final = load_language("en")
_group: Final = _ENGLISH.group
_MAX_ROWS = _MAX_VALUES = 200
_BETWEEN_ROWS: Final = frozenset({",", "and", ";"})
_LIST_SIGNS: Final = frozenset({"and", "or", *",&"})
_LEADS, _WEAKER_LEADS, _NAMING = _group("key_leads"), _group("weak_key_leads"), _group("key_nouns")
_SKIPPED = _group("comparison_fillers")


class Keys:
    """The keys of some data, as a question may name them."""

    def __init__(self, data: Any, synonyms: Mapping[str, Sequence[str]]) -> None:
        self._data = data
        names = {key: key for row in _rows(data) for key in row}
        for key in list(names):
            for other in (*sorted(inflections(key)), *synonyms.get(key.lower(), ())):
                names.setdefault(other, key)
        self.table = PhraseTable(names)

    def column(self, key: str) -> list[Any]:
        """What the data has under `key`, without blanks."""
        return [row[key] for row in _rows(self._data) if row.get(key) is not None]


def _rows(data: Any) -> list[dict[str, Any]]:
    rows = data if isinstance(data, list) else [data]
    return [row for row in rows[:_MAX_ROWS] if isinstance(row, dict)]


def named_keys(keys: Keys, reading: ParsedText, taken: SpanSet) -> list[Candidate]:
    """The keys that the question names, in order of mention."""
    tokens = reading.tokens
    found = [
        from_words(tokens, phrase.first, phrase.last, phrase.value, rank=int(phrase.weak))
        for phrase in keys.table.find(tokens)
    ]
    for quote in reading.of("quoted"):
        known, key = keys.table.lookup(quote.value)
        if known:
            found.append(from_span(quote, key))
    found.sort(key=lambda candidate: candidate.start)
    return [key for key in found if taken.is_free(key.start, key.end)]


def find_field(
    plan: ParameterPlan,
    named: Sequence[Candidate],
    reading: ParsedText,
    context: ContextWords,
    claimed: Collection[int] = (),
) -> Candidate | None:
    """Return the key that is most clearly meant: named after "by" or "where", else first.

    A key before one of `claimed`, where comparisons begin, is compared: "stock is less than 5".
    """
    tokens = reading.tokens
    best: tuple[int, int, Candidate] | None = None
    for candidate in named:
        before, after = tokens.word(candidate.first - 1), tokens.word(candidate.last)
        if before == "the":
            before = tokens.word(candidate.first - 2)
        points = max(context_score(plan, candidate, tokens, context), 1)
        if before in _LEADS | _NAMING or after in _NAMING:
            points = max(points, 5)
        elif before in _WEAKER_LEADS:
            points = max(points, 2)
        if candidate.last in claimed:
            points = max(points, 4)
        if candidate.rank and points < 4:
            continue  # a key called "a" or "is" must be announced
        if best is None or (points, -candidate.start) > best[:2]:
            best = (points, -candidate.start, candidate)
    return best[2] if best else None


def find_fields(named: Sequence[Candidate], reading: ParsedText) -> Candidate | None:
    """All the keys that the question names, each once; they stand as one list."""
    tokens = reading.tokens
    beside = _LIST_SIGNS | _NAMING
    kept = [
        c for c in named if not c.rank or {tokens.word(c.first - 1), tokens.word(c.last)} & beside
    ]
    if not kept:
        return None
    values = list(dict.fromkeys(candidate.value for candidate in kept))
    first, last = kept[0], kept[-1]
    return Candidate(first.start, last.end, first.first, last.last, values)


def find_cell(
    column: Sequence[Any] | None, reading: ParsedText, taken: SpanSet, after: int
) -> Candidate | None:
    """What a field is compared with, of the type that the data has there.

    A value behind `after`, where the comparison ends, is preferred.
    """
    numeric = _all(column, int | float) and not _all(column, bool)
    values = _comparable_values(column or (), reading, numeric=numeric)
    found = [value for value in values if taken.is_free(value.start, value.end)]
    found.sort(key=lambda candidate: (candidate.start < after, candidate.start))
    if found:
        return found[0]
    if numeric or not after:
        return None
    first = reading.tokens.index_at(after)
    place = name_from(reading, taken, first, skip=_SKIPPED)
    if place is None:
        return None
    words = from_words(reading.tokens, *place, None)
    text = reading.text[words.start : words.end]
    if column and _has_digits(text) and not any(map(_has_digits, column[:_MAX_VALUES])):
        return None  # "items under 2 dollars" means no name of an item
    return words._replace(value=text)


def _has_digits(value: Any) -> bool:
    return any(map(str.isdigit, str(value)))


def _comparable_values(
    column: Sequence[Any], reading: ParsedText, *, numeric: bool
) -> Iterable[Candidate]:
    if numeric:
        for span in (*reading.of("number"), *reading.quoted("number")):
            yield from_span(span, span.value)
        return
    for span in reading.of("quoted"):
        yield Candidate(span.start + 1, span.end - 1, span.first, span.last, span.value)
    if _all(column, bool):
        for index, word in enumerate(reading.tokens.words):
            if word in ("true", "false"):
                yield from_words(reading.tokens, index, index + 1, word == "true")
        return
    texts = {value: value for value in column[:_MAX_VALUES] if isinstance(value, str)}
    for phrase in PhraseTable(texts).find(reading.tokens):
        yield from_words(reading.tokens, phrase.first, phrase.last, phrase.value)
    kinds: tuple[Kind, ...] = ("datetime", "date", "email", "url")
    for kind in kinds if column else (*kinds, "number"):
        for span in reading.of(kind):
            yield from_span(span, written(span.value))


def _all(values: Sequence[Any] | None, kind: Any) -> bool:
    return bool(values) and all(isinstance(value, kind) for value in values or ())


def find_data(plan: ParameterPlan, reading: ParsedText) -> Iterator[Candidate]:
    """Every array or object that could be the value of `plan`, in order of mention."""
    kind: Kind = "object" if plan.role == "object" else "array"
    spans = reading.of(kind)
    if kind == "array" and (plan.parameter.items or {}).get("type") == "object":
        spans = [s for s in spans if all(isinstance(item, dict) for item in s.value)]
    for span in spans:
        yield plan.checker.checked(from_span(span, span.value))
    yield from unreadable(reading, kind)
    rows = reading.of("object") if plan.role == "records" and not spans else []
    between = [reading.tokens.words[one.last : two.first] for one, two in pairwise(rows)]
    if rows and all(map(_BETWEEN_ROWS.issuperset, between)):
        # They are rows of one table whose brackets were left out.
        whole = rows[0]._replace(end=rows[-1].end, last=rows[-1].last)
        yield plan.checker.checked(from_span(whole, [row.value for row in rows]))
