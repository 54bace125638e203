"""Free text: a city, a title, a message; read where the examples have it."""

from collections.abc import Iterator
from typing import Final

from server.core.tools import SourceKind
from server.extraction.example_slots import TextLesson, capital_runs
from server.extraction.plan import ParameterPlan
from server.extraction.text_spans import Place, name_from, sentence_from
from server.extraction.types import SpanSet, ValueCandidate
from server.text.language import load_language
from server.text.parsed_text import ParsedText
from server.text.tokens import Tokens

_ENGLISH: Final = load_language("en")
_FUNCTION_WORDS: Final = _ENGLISH.function_words
_FILLERS: Final = _ENGLISH.group("value_fillers") | frozenset("=:#")
_LEADS: Final = _ENGLISH.leads

_PRONOUNS: Final = _ENGLISH.group("pronouns")
_IDLE: Final = _ENGLISH.group("set_phrases")
"""Words that follow a preposition without being a value: in general, for free."""
_MAX_LEADS: Final = 150
"""Words of a text after which a free text may begin; a question rarely has more."""
_LONGEST_BETWEEN: Final = 8

# How much each kind of evidence counts; the best one wins, then the earliest.
_TWO_WORDS: Final = 60
_NAMED: Final = 50
_ONE_WORD: Final = 40
_USUAL: Final = 30
_KNOWN: Final = 25
_CAPITALS: Final = 20

SOLID: Final = _NAMED
"""Evidence that is needed for an optional text."""


def find_text(
    plan: ParameterPlan, lesson: TextLesson, reading: ParsedText, taken: SpanSet, *, alone: bool
) -> ValueCandidate | None:
    """The text that the question gives for `plan`, or None when nothing says where it is.

    `alone` says that no other free text is looked for, so that weaker evidence will do.
    """
    best: tuple[int, int, Place] | None = None
    for points, place in _places(plan, lesson, reading, taken, alone=alone):
        if not _acceptable(lesson, reading, place) or (points < SOLID and not plan.required):
            continue
        if lesson.capitalised and reading.clean[reading.tokens.starts[place[0]]].isupper():
            points += 1
        if best is None or (-points, place[0]) < best[:2]:
            best = (-points, place[0], place)
    if best is None:
        return None
    learned = -best[0] in (_TWO_WORDS, _TWO_WORDS + 1, _ONE_WORD, _ONE_WORD + 1)
    kind: SourceKind = "example" if learned else "recognizer"
    return candidate_at(reading, best[2], kind)


def candidate_at(
    reading: ParsedText, place: Place, kind: SourceKind = "recognizer"
) -> ValueCandidate:
    """The words of `place` as they were written; a quote without its marks."""
    tokens = reading.tokens
    start, end = tokens.starts[place[0]], tokens.ends[place[1] - 1]
    if place[1] - place[0] == 1 and tokens.words[place[0]] == "\0quoted":
        start, end = start + 1, end - 1
    return ValueCandidate(start, end, *place, reading.text[start:end], kind)


def _places(
    plan: ParameterPlan, lesson: TextLesson, reading: ParsedText, taken: SpanSet, *, alone: bool
) -> Iterator[tuple[int, Place]]:
    tokens = reading.tokens
    sentences = lesson.sentences or "saying" in plan.name.topics
    for index in range(min(len(tokens), _MAX_LEADS)):
        pair = tuple(tokens.words[max(0, index - 2) : index])
        for lead, points in ((pair, _TWO_WORDS), (pair[-1:], _ONE_WORD)):
            after = lesson.leads.get(lead)
            place = None if after is None else _led(lesson, reading, taken, index, after)
            if place is not None:
                yield (points if lead else _ONE_WORD), place
    yield from _named(plan, reading, taken, sentences=sentences)
    if not alone:
        return
    yield from _usual(plan, reading, taken, sentences=sentences)
    yield from ((_KNOWN, place) for place in _known(lesson, reading))
    runs = capital_runs(reading, taken) if lesson.capitalised else []
    if len(runs) == 1:
        yield _CAPITALS, runs[0]


def _led(
    lesson: TextLesson, reading: ParsedText, taken: SpanSet, first: int, after: frozenset[str]
) -> Place | None:
    """The value that begins after the lead; it ends where the examples let it end."""
    tokens = reading.tokens
    if "" not in after:
        for last in range(first + 1, min(first + _LONGEST_BETWEEN, len(tokens))):
            if tokens.words[last] in after:
                return _content(reading, taken, first, last)
        return None
    if lesson.sentences:
        return sentence_from(reading, taken, first)
    place = name_from(reading, taken, first)
    if place is None:
        return None
    place = _without_what_it_is_of(lesson, tokens, place)
    known_ends = (i for i in range(place[0] + 1, place[1]) if tokens.words[i] in after)
    return place[0], next(known_ends, place[1])


def _without_what_it_is_of(lesson: TextLesson, tokens: Tokens, place: Place) -> Place:
    """The place without words of the examples up to an "of": the price of NVDA is NVDA."""
    first = place[0]
    while first < place[1] and tokens.words[first] in lesson.vocabulary:
        first += 1
        if tokens.word(first) == "of" and first + 1 < place[1]:
            return first + 1, place[1]
    return place


def _content(reading: ParsedText, taken: SpanSet, first: int, last: int) -> Place | None:
    """The words up to `last`, without the function words in front of them."""
    tokens = reading.tokens
    while first < last and tokens.words[first] in _FUNCTION_WORDS:
        first += 1
    if first == last or not taken.free(tokens.starts[first], tokens.ends[last - 1]):
        return None
    return (first, last) if all(w[0].isalnum() or w in "-'.’&" for w in
                                tokens.words[first:last]) else None  # fmt: skip


def _named(
    plan: ParameterPlan, reading: ParsedText, taken: SpanSet, *, sentences: bool
) -> Iterator[tuple[int, Place]]:
    """Values after the parameter's own name: title: Buy milk, city is Oslo."""
    tokens = reading.tokens
    own = plan.name.before - plan.name.leads
    for index, word in enumerate(tokens.words[:_MAX_LEADS]):
        if word not in own:
            continue
        announced = tokens.word(index + 1) in (":", "=") or tokens.word(index + 1) in _FILLERS
        if not announced and tokens.word(index + 1) != "\0quoted":
            continue
        first = index + 1
        while tokens.word(first) in _FILLERS:
            first += 1
        yield from _from(reading, taken, first, _NAMED, sentences=sentences)


def _usual(
    plan: ParameterPlan, reading: ParsedText, taken: SpanSet, *, sentences: bool
) -> Iterator[tuple[int, Place]]:
    """Values after the words that usually lead to such a one: in Oslo, called Kim."""
    leads = _LEADS["called"].union(
        *(_LEADS[t] for t in plan.name.topics if t in ("place", "topic", "saying"))
    )
    tokens = reading.tokens
    for index, word in enumerate(tokens.words[:_MAX_LEADS]):
        whole = sentences or (word == ":" and "called" in plan.name.topics)
        if word in leads or word == ":":
            yield from _from(reading, taken, index + 1, _USUAL, sentences=whole)


def _from(
    reading: ParsedText, taken: SpanSet, first: int, points: int, *, sentences: bool
) -> Iterator[tuple[int, Place]]:
    if reading.tokens.word(first) == "\0quoted":
        yield points, (first, first + 1)
        return
    place = (sentence_from if sentences else name_from)(reading, taken, first)
    if place is not None:
        yield points, place


def _known(lesson: TextLesson, reading: ParsedText) -> Iterator[Place]:
    """Values that the examples have, wherever they stand."""
    tokens = reading.tokens
    lengths = {len(words) for words in lesson.known}
    for first in range(min(len(tokens), _MAX_LEADS)):
        for length in lengths:
            words = tuple(tokens.words[first : first + length])
            if len(words) == length and words in lesson.known:
                yield first, first + length


def _acceptable(lesson: TextLesson, reading: ParsedText, place: Place) -> bool:
    """Whether the words could be a value, and not merely more of the question."""
    words = reading.tokens.words[place[0] : place[1]]
    if words == ["\0quoted"]:
        return True
    if not lesson.sentences and words[0] in _PRONOUNS:
        return False
    said = [word for word in words if word[0].isalnum()]
    start = reading.tokens.starts[place[0]]
    place_text = reading.clean[start : reading.tokens.ends[place[1] - 1]]
    if lesson.capitalised and words[0].isdigit() and place_text.islower():
        return False  # 3 cities
    if words[0] in _IDLE and (len(said) == 1 or reading.clean[start].islower()):
        return False
    return not all(word in _FUNCTION_WORDS or word in lesson.vocabulary for word in said)
