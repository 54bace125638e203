"""Texts for parameters that are known by description only."""

from collections.abc import Sequence
from typing import Any, Final

from server.core.stems import stem
from server.extraction.described.best import Offer, best_assignment
from server.extraction.described.chunk import Chunk
from server.extraction.described.dates import moment_as_told
from server.extraction.described.english import BEFORE, CODES, KINDS, MOMENTS
from server.extraction.described.places import with_state
from server.extraction.described.told import Told, in_order
from server.extraction.described.units import MEASURES
from server.extraction.english import FUNCTION_WORDS
from server.extraction.types import ValueCandidate
from server.text.parsed_text import ParsedText
from server.text.tokens import word_set

_DECAY: Final = (1.0, 0.9, 0.6, 0.4)
_NEEDED: Final = 1.2
_EVIDENCE: Final = 3.0
_LIKE_YEARS: Final = frozenset({"season", "version", "size", "symbol", "key"})
_UNITS: Final = frozenset({"unit", "units"})
_IDS: Final = word_set("id ids code number docket sku isbn identifier serial")
_FILL: Final = word_set("the a an is are of as to was named called titled with : = like player")


def fill_words(
    told: Sequence[Told], chunks: Sequence[Chunk], reading: ParsedText
) -> dict[str, ValueCandidate]:
    """Give chunks to the parameters that take a text, so that names and words fit best."""
    offers: dict[str, list[Offer]] = {}
    names_written = any(chunk.capital and chunk.form != "quote" for chunk in chunks)
    for one in in_order(told):
        offers[one.plan.key] = []
        for index, chunk in enumerate(chunks):
            if bool(chunk.members) != (one.plan.role == "strings"):
                continue
            points = fit(one, chunk, reading, names_written=names_written)
            if one.required:
                points += _NEEDED
            elif points < _EVIDENCE:
                continue
            if points > 0:
                offers[one.plan.key].append(Offer(points, index))
    by_key = {one.plan.key: one for one in told}
    return {
        key: as_candidate(by_key[key], chunks[at])
        for key, at in best_assignment(offers, chunks).items()
    }


def as_candidate(one: Told, chunk: Chunk) -> ValueCandidate:
    value: Any = list(chunk.members) or _option(one, chunk) or chunk.text
    if chunk.moment is not None and not chunk.members:
        value = moment_as_told(chunk.moment, one.description) or value
    if one.with_state and isinstance(value, str):
        value = with_state(value)
    return ValueCandidate(chunk.start, chunk.end, chunk.first, chunk.last, value)


def fit(one: Told, chunk: Chunk, reading: ParsedText, *, names_written: bool) -> float:
    """How well a chunk fits a parameter; below zero when more speaks against it than for it."""
    points = 6.0 if _option(one, chunk) else 0.0
    if FUNCTION_WORDS.issuperset(chunk.words) and not _beside_its_name(one, chunk, reading):
        return -6.0  # "first" is a class only where a class is spoken of
    points += _by_words(one, chunk, reading)
    points += _by_lead(one, chunk)
    points += _by_form(one, chunk, names_written=names_written)
    return points


def _beside_its_name(one: Told, chunk: Chunk, reading: ParsedText) -> bool:
    words = reading.tokens
    near = (words.word(chunk.first - 1), words.word(chunk.last))
    return any(stem(word) in one.own for word in near)


def _by_words(one: Told, chunk: Chunk, reading: ParsedText) -> float:
    words = reading.tokens.words
    best = 0.0
    reach, direct = 0, True
    for index in range(chunk.first - 1, max(-1, chunk.first - 8), -1):
        word = words[index]
        if word in ".?!;" or reach >= len(_DECAY):
            break
        at = stem(word)
        own, about = one.own.get(at, 0.0), one.about.get(at, 0.0)
        if direct and "kind" in one.topics and word not in KINDS:
            own /= 2  # the kind of car in "fuel car" is no fuel
        best = max(best, _DECAY[reach] * 4 * own, _DECAY[reach] * 1.5 * about)
        if word in one.plan.name.leads:
            best = max(best, _DECAY[reach] * 1.5)
        if word not in _FILL:
            reach += 1
        direct = False
    after = 0.0
    for reach, index in enumerate(range(chunk.last, min(len(words), chunk.last + 3))):
        if words[index] in ".,?!;" or words[index] in ("and", "in", "for", "from", "to", "by"):
            break
        at = stem(words[index])
        own, about = one.own.get(at, 0.0), one.about.get(at, 0.0)
        decay = (1.0, 0.6, 0.3)[reach]
        after = max(after, decay * 3.5 * own, decay * 1.5 * about)
    inside = max((one.own.get(stem(word), 0.0) for word in chunk.words), default=0.0)
    if chunk.capital and len(chunk.words) > 1:
        inside *= 4
    return max(best, after, inside) + 0.25 * min(best, after)


def _by_lead(one: Told, chunk: Chunk) -> float:
    points = 0.0
    if "place" in one.topics and chunk.lead in BEFORE["place"]:
        points += 2.5 if chunk.lead in ("in", "at", "near", "around", "within") else 1.0
    elif "place" not in one.topics and chunk.lead in ("in", "at", "near") and chunk.capital:
        points -= 1.0
    if "person" in one.topics and chunk.lead in BEFORE["person"]:
        points += 1.5 if chunk.lead in ("by", "starring", "artist") else 0.7
    if "body" in one.topics and chunk.lead in BEFORE["body"]:
        points += 0.7
    if "from" in one.plan.name.topics and chunk.lead in BEFORE["from"]:
        points += 2.5
    if "to" in one.plan.name.topics and chunk.lead in BEFORE["to"]:
        points += 2.5
    if "from" in one.plan.name.topics and chunk.lead in ("to", "into"):
        points -= 2.0
    if "to" in one.plan.name.topics and chunk.lead == "from":
        points -= 2.0
    if "topic" in one.plan.name.topics and chunk.lead in BEFORE["topic"]:
        points += 1.5
    return points


def _by_form(one: Told, chunk: Chunk, *, names_written: bool) -> float:
    words = frozenset(one.plan.name.words)
    points = 0.0
    if words & _UNITS:
        return _by_unit(one, chunk)
    if chunk.form == "moment":
        told = moment_as_told(chunk.moment, one.description) is not None
        return 3.0 if told or words & MOMENTS else -6.0
    if chunk.form == "code":
        if chunk.text.isdigit() and not words & (_IDS | MOMENTS | _LIKE_YEARS):
            return -6.0  # a number by itself is no text
        points += 3.0 if words & CODES else -0.5
        if words & MOMENTS:
            points += 2.0
    elif words & _IDS:
        points += 1.0 if chunk.form == "quote" else -2.0
    kind = "kind" in one.topics
    if "named" in one.topics and not kind:
        if chunk.capital or chunk.form == "quote":
            points += 2.0
        elif names_written:
            points -= 1.5
    elif kind:
        if chunk.modifies and chunk.form != "quote":
            points += 2.0
        elif chunk.inner:
            points += 1.0
        elif chunk.capital:
            points -= 1.5
    else:
        points += 0.3 if chunk.modifies else 0.0
        points += 1.0 if chunk.capital and names_written else 0.0
    if chunk.form == "quote":
        points += 3.0 if "saying" in one.plan.name.topics else 1.5
        points -= 1.5 if kind and len(chunk.words) > 3 else 0.0
    if chunk.torn and not kind and not (chunk.capital and "named" in one.topics):
        points -= 1.0
    points -= 0.4 * (chunk.edges if not chunk.head else 0)
    if chunk.counted and chunk.words[0] in MEASURES:
        points -= 2.0  # what a number is counted in
    if chunk.joined and "place" in one.topics:
        points += -1.5 if one.among_places else 0.8
    if chunk.coupled:
        points += 0.5 if one.topics & {"work"} or "title" in words else -2.5
    if chunk.cut or chunk.mixed:
        points -= 1.0 if chunk.cut else 0.5
    if len(chunk.members) > 1:
        points += 0.7 * min(len(chunk.members), 4)
    if chunk.spoken:
        points -= 1.0 if chunk.capital else 3.0
    if chunk.head and not chunk.capital:
        points += _by_head(one, chunk)
    if len(one.options) > 1 and not _option(one, chunk):
        points -= 2.0 if one.closed else 0.5
    if "from" in one.plan.name.topics and chunk.counted:
        points += 2.0
    return points


def _by_unit(one: Told, chunk: Chunk) -> float:
    """What speaks for a unit that a result is wanted in: the miles of "how far in miles"."""
    known = len(chunk.words) < 3 and chunk.words[0] in MEASURES
    if not known and not _option(one, chunk):
        return -4.0
    if chunk.counted:
        return 2.0 if "from" in one.plan.name.topics else -2.0
    return 3.5 if chunk.lead in ("in", "to", "into") else 0.5


def _by_head(one: Told, chunk: Chunk) -> float:
    """What the word before an "of" says: a theory of relativity is a theory."""
    head = stem(chunk.head)
    if head in one.own or head in one.about:
        return 1.5
    return -1.5 if chunk.head_known else 0.4


def _option(one: Told, chunk: Chunk) -> str | None:
    """The value that the description names, if the chunk has its words."""
    known, value = one.phrases.lookup(chunk.text)
    if known:
        return str(value)
    return one.stems.get(" ".join(map(stem, chunk.words)))
