"""Free text: a city, a title, a message; where it stands, and where it ends."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from server.core.tools import SourceKind
from server.extraction.assignment import FILLERS, Words
from server.extraction.plan import ParameterPlan
from server.extraction.values import Candidate, SpanSet
from server.text.language import load_language
from server.text.parsed_text import ParsedText
from server.text.tokens import BLOCK, Tokens, is_word

_ENGLISH: Final = load_language("en")
_group: Final = _ENGLISH.group
_FUNCTION_WORDS: Final = _ENGLISH.function_words
_ARTICLES, _PREPOSITIONS, _POLITE = _group("articles"), _group("prepositions"), _group("polite")
_PRONOUNS, _POSSESSIVES = _group("pronouns"), _group("possessives")
_KINDS_OF_PLACE = _group("kinds_of_place")
_ACRONYMS, _PARTICLES = _group("acronyms"), _group("name_particles")
_LEADS: Final = _ENGLISH.leads
_SET_PHRASES: Final = _group("set_phrases")
"""Words that follow a preposition without being a value: in general, for free."""
_NAME_ENDS: Final = _PREPOSITIONS | _group("name_ends")
_SENTENCE_ENDS: Final = frozenset("?!;|")
_OPENERS: Final = frozenset("([{")
_LONGEST_NAME: Final = 12
_LONGEST_SENTENCE: Final = 400
_MAX_LEADS: Final = 150
_LONGEST_BETWEEN: Final = 8
_QUOTE: Final = BLOCK + "quoted"

# How much each kind of evidence counts; the best one wins, then the earliest.
_TWO_WORDS, _NAMED, _ONE_WORD, _USUAL, _KNOWN, _CAPITALS = 60, 50, 40, 30, 25, 20
_SOLID: Final = _NAMED

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TextContext:
    """How a free text stands in the examples of its template.

    `leads` are the one or two words before it, none at the beginning, and for each the words
    that came right after the value, "" where it may end the sentence. `sentences` says that
    values read as whole phrases, in which prepositions end nothing.
    """

    leads: Mapping[Words, frozenset[str]] = field(default_factory=dict)
    known: frozenset[Words] = frozenset()
    vocabulary: frozenset[str] = frozenset()
    sentences: bool = False
    capitalised: bool = False


NO_TEXT_CONTEXT: Final = TextContext()


def find_text(
    plan: ParameterPlan, context: TextContext, reading: ParsedText, taken: SpanSet, *, alone: bool
) -> Candidate | None:
    """The text that the question gives for `plan`, or None when nothing says where it is.

    `alone` says that no other free text is looked for, so that weaker evidence will do.
    """
    found = []
    for points, place in _scored_places(plan, context, reading, taken, alone=alone):
        if _acceptable(context, reading, place) and (points >= _SOLID or plan.required):
            upper = reading.clean[reading.tokens.starts[place[0]]].isupper()
            found.append((points + (context.capitalised and upper), place))
    if not found:
        return None
    points, place = min(found, key=lambda one: (-one[0], one[1][0]))
    learned = points in (_TWO_WORDS, _TWO_WORDS + 1, _ONE_WORD, _ONE_WORD + 1)
    return text_at(reading, place, "example" if learned else "recognizer")


def text_at(reading: ParsedText, place: Place, kind: SourceKind = "recognizer") -> Candidate:
    """The words of `place` as they were written; a quote without its marks."""
    tokens = reading.tokens
    start, end = tokens.starts[place[0]], tokens.ends[place[1] - 1]
    if place[1] - place[0] == 1 and tokens.words[place[0]] == _QUOTE:
        start, end = start + 1, end - 1
    return Candidate(start, end, *place, reading.text[start:end], kind)


def _scored_places(
    plan: ParameterPlan, context: TextContext, reading: ParsedText, taken: SpanSet, *, alone: bool
) -> Iterator[tuple[int, Place]]:
    tokens = reading.tokens
    sentences = context.sentences or "saying" in plan.name.topics
    for index in range(min(len(tokens), _MAX_LEADS)):
        pair = tuple(tokens.words[max(0, index - 2) : index])
        for lead, points in ((pair, _TWO_WORDS), (pair[-1:], _ONE_WORD)):
            ends = context.leads.get(lead)
            place = _led_to(context, reading, taken, index, ends) if ends else None
            if place:
                yield (points if lead else _ONE_WORD), place
    for points, first, whole in _announced(plan, tokens, sentences=sentences, alone=alone):
        if tokens.word(first) == _QUOTE:
            yield points, (first, first + 1)
        elif place := (sentence_from if whole else name_from)(reading, taken, first):
            yield points, place
    if not alone:
        return
    for length in {len(words) for words in context.known}:
        for first in range(min(len(tokens) - length + 1, _MAX_LEADS)):
            if tuple(tokens.words[first : first + length]) in context.known:
                yield _KNOWN, (first, first + length)
    runs = capital_runs(reading, taken) if context.capitalised else []
    if len(runs) == 1:
        yield _CAPITALS, runs[0]


def _announced(
    plan: ParameterPlan, tokens: Tokens, *, sentences: bool, alone: bool
) -> Iterator[tuple[int, int, bool]]:
    """Yield points, the first word of what is announced, and whether it is a whole sentence.

    By the parameter's name (title: Buy milk); when `alone`, by usual leads: in Oslo, called Kim.
    """
    own = plan.name.before - plan.name.leads
    topics = [t for t in plan.name.topics if t in ("place", "topic", "saying")]
    usual = _LEADS["called"].union(*(_LEADS[t] for t in topics)) | {":"}
    for index, word in enumerate(tokens.words[:_MAX_LEADS]):
        following = tokens.word(index + 1)
        if word in own and (following in (":", "=", _QUOTE) or following in FILLERS):
            first = index + 1
            while tokens.word(first) in FILLERS:
                first += 1
            yield _NAMED, first, sentences
        if alone and word in usual:
            yield _USUAL, index + 1, sentences or (word == ":" and "called" in plan.name.topics)


def _led_to(
    context: TextContext, reading: ParsedText, taken: SpanSet, first: int, ends: frozenset[str]
) -> Place | None:
    tokens = reading.tokens
    if "" not in ends:
        stop = min(first + _LONGEST_BETWEEN, len(tokens))
        last = next((i for i in range(first + 1, stop) if tokens.words[i] in ends), None)
        return None if last is None else _content(tokens, taken, first, last)
    if context.sentences:
        return sentence_from(reading, taken, first)
    place = name_from(reading, taken, first)
    if place is None:
        return None
    first, last = place
    while first < last and tokens.words[first] in context.vocabulary:
        first += 1
        if tokens.word(first) == "of" and first + 1 < last:
            first += 1  # the price of NVDA is NVDA
            break
    else:
        first = place[0]
    known_ends = (i for i in range(first + 1, last) if tokens.words[i] in ends)
    return first, next(known_ends, last)


def _content(tokens: Tokens, taken: SpanSet, first: int, last: int) -> Place | None:
    while first < last and tokens.words[first] in _FUNCTION_WORDS:
        first += 1
    if first == last or not taken.has_room(tokens, first, last):
        return None
    words = tokens.words[first:last]
    return (first, last) if all(w[0].isalnum() or w in "-'.’&" for w in words) else None


def _acceptable(context: TextContext, reading: ParsedText, place: Place) -> bool:
    words = reading.tokens.words[place[0] : place[1]]
    if words == [_QUOTE]:
        return True
    if not context.sentences and words[0] in _PRONOUNS:
        return False
    plain = [word for word in words if word[0].isalnum()]
    start = reading.tokens.starts[place[0]]
    written = reading.clean[start : reading.tokens.ends[place[1] - 1]]
    if context.capitalised and words[0].isdigit() and written.islower():
        return False  # 3 cities
    if words[0] in _SET_PHRASES and (len(plain) == 1 or reading.clean[start].islower()):
        return False
    return not all(word in _FUNCTION_WORDS or word in context.vocabulary for word in plain)


def name_from(
    reading: ParsedText, taken: SpanSet, first: int, *, skip: frozenset[str] = _ARTICLES
) -> Place | None:
    """Return the name that begins at the word `first`, after words to `skip`, or None.

    It ends with its sentence, at a preposition, at a comma without a capital letter behind it
    (Paris, France), and before any date, time or other argument.
    """
    tokens = reading.tokens
    while tokens.word(first) in skip:
        if tokens.words[first] in _POSSESSIVES:
            return None
        first += 1
    if tokens.word(first) in _KINDS_OF_PLACE and tokens.word(first + 1) == "of":
        first += 2  # the city of Prague
    last = first
    while last < len(tokens) and last - first < _LONGEST_NAME and not _stops(reading, taken, last):
        word = tokens.words[last]
        if (word in _NAME_ENDS and last > first) or (
            word == "," and not _capital(reading, last + 1)
        ):
            break
        last += 1
    return _trimmed(tokens, first, last)


def sentence_from(reading: ParsedText, taken: SpanSet, first: int) -> Place | None:
    """The words from `first` to the end of the sentence, or to another argument."""
    tokens = reading.tokens
    while tokens.word(first) in (":", ",", "-", "that"):
        first += 1
    for last in range(first, len(tokens)):
        if last - first > _LONGEST_SENTENCE:
            return None
        is_data = tokens.words[last] in (BLOCK + "array", BLOCK + "object")
        if is_data or not taken.has_room(tokens, last, last + 1):
            return _trimmed(tokens, first, last)
    return _trimmed(tokens, first, max(first, len(tokens)), only_polite=True)


def _stops(reading: ParsedText, taken: SpanSet, index: int) -> bool:
    tokens = reading.tokens
    word = tokens.words[index]
    if word in _SENTENCE_ENDS or word in _OPENERS or word == ":" or word[0] == BLOCK:
        return True
    if word == "." and not tokens.glued(index + 1):
        # It ends a sentence, and is none of St. or D.C.
        return index + 1 == len(tokens) or len(tokens.word(index - 1)) > 3
    return index in reading.moments or not taken.has_room(tokens, index, index + 1)


def _capital(reading: ParsedText, index: int) -> bool:
    tokens = reading.tokens
    if index >= len(tokens) or not reading.clean[tokens.starts[index]].isupper():
        return False
    word = tokens.words[index]
    return word not in _FUNCTION_WORDS or (word != "i" and len(word) == 1)


def _trimmed(tokens: Tokens, first: int, last: int, *, only_polite: bool = False) -> Place | None:
    trailing = _POLITE if only_polite else _POLITE | _PREPOSITIONS | _ARTICLES
    while last > first:
        word = tokens.words[last - 1]
        if word not in trailing and (word[0].isalnum() or word in (")", "]", "%", "+", "#")):
            break
        last -= 1
    while first < last and not (tokens.words[first][0].isalnum() or tokens.words[first] in "#@$("):
        first += 1
    words = tokens.words[first:last]
    telling = [w for w in words if w[0].isdigit() or (is_word(w) and w not in _FUNCTION_WORDS)]
    return (first, last) if telling or words == [_QUOTE] else None


def capital_runs(reading: ParsedText, taken: SpanSet) -> list[Place]:
    """Names in a text, going by capital letters; none in a text that is full of them."""
    tokens = reading.tokens
    upper = [
        is_word(word) and reading.clean[tokens.starts[index]].isupper()
        for index, word in enumerate(tokens.words)
    ]
    if sum(upper) * 2 > sum(map(is_word, tokens.words)) + 1:
        return []
    runs: list[Place] = []
    for index, is_upper in enumerate(upper):
        word = tokens.words[index]
        begins = index == 0 or tokens.words[index - 1] in (".", "?", "!", ":")
        written = reading.clean[tokens.starts[index] : tokens.ends[index]]
        begins = begins and not (len(written) > 1 and written.isupper())  # but NVDA is a name
        if not is_upper or begins or word in _FUNCTION_WORDS or word in _ACRONYMS:
            continue
        if not taken.has_room(tokens, index, index + 1):
            continue
        between = tokens.words[runs[-1][1] : index] if runs else []
        joins = all(word in _PARTICLES or word in "-'’." for word in between)
        if runs and joins and len(between) < 4:
            runs[-1] = (runs[-1][0], index + 1)
        else:
            runs.append((index, index + 1))
    return runs
