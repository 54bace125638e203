"""Lists for parameters that are known by description only: of numbers, and of known words."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from server.core.stems import stem
from server.extraction.described.best import Offer, best_assignment
from server.extraction.described.english import HOLLOW
from server.extraction.described.told import Told
from server.extraction.described.units import MEASURES
from server.extraction.english import FUNCTION_WORDS
from server.extraction.types import SpanSet, ValueCandidate
from server.extraction.values import InvalidValue
from server.text.parsed_text import ParsedText
from server.text.tokens import Span

_BETWEEN: Final = frozenset({",", "and", "&", ";", "or"})
_MONEY: Final = frozenset("$€£¥₹")
_LEAST_LIKE: Final = 4
_MOST_WORDS: Final = 1000


def fill_number_lists(
    told: Sequence[Told], reading: ParsedText, taken: SpanSet
) -> dict[str, ValueCandidate]:
    """Give lists of numbers to parameters, by the words before them and in order."""
    lists = list(_number_lists(reading, taken)) if told else []
    offers: dict[str, list[Offer]] = {one.plan.key: [] for one in told}
    for rank, one in enumerate(told):
        for index, found in enumerate(lists):
            if not _fits(one, found):
                continue
            points = _by_words(one, found, reading) - 0.2 * abs(index - rank)
            points += min(len(found.value), 4) * 0.2
            points += 3.0 if one.required else -1.0
            offers[one.plan.key].append(Offer(points, index))
    return {key: lists[at] for key, at in best_assignment(offers, lists).items()}


def _number_lists(reading: ParsedText, taken: SpanSet) -> Iterator[ValueCandidate]:
    for span in reading.of("array"):
        if taken.free(span.start, span.end) and _numbers_only(span.value):
            yield ValueCandidate(span.start, span.end, span.first, span.last, span.value)
    for run in _runs(reading):
        if taken.free(run[0].start, run[-1].end):
            values = [one.value for one in run]
            yield ValueCandidate(run[0].start, run[-1].end, run[0].first, run[-1].last, values)


def _runs(reading: ParsedText) -> Iterator[list[Span]]:
    """Two numbers or more with nothing but commas, an "and" and their units between them."""
    run: list[Span] = []
    for span in reading.of("number"):
        if run and _in_a_row(reading.tokens.words[run[-1].last : span.first]):
            run.append(span)
            continue
        if len(run) > 1:
            yield run
        run = [span]
    if len(run) > 1:
        yield run


def _in_a_row(between: Sequence[str]) -> bool:
    """Whether the words between two numbers hold them together; none at all do as well."""
    words = list(between)
    while words and words[-1] in _MONEY:
        words.pop()
    if words and words[0] in MEASURES:
        del words[0]
        if not words:
            return False  # 5 kg 6
    return _BETWEEN.issuperset(words)


def _numbers_only(value: Any) -> bool:
    if not value:
        return False
    return all(
        _numbers_only(item)
        if isinstance(item, list)
        else isinstance(item, int | float | Decimal) and not isinstance(item, bool)
        for item in value
    )


def _fits(one: Told, found: ValueCandidate) -> bool:
    items = one.plan.parameter.items or {}
    nested = items.get("type") == "array"
    if nested != isinstance(found.value[0], list):
        return False
    if items.get("type") == "integer" and not all(isinstance(v, int) for v in found.value):
        return False
    try:
        one.plan.checker.check(found.value)
    except InvalidValue:
        return False
    return True


def _by_words(one: Told, found: ValueCandidate, reading: ParsedText) -> float:
    words = reading.tokens.words
    best = 0.0
    for distance, index in enumerate(range(found.first - 1, max(-1, found.first - 8), -1)):
        if words[index] in ".?!;)":
            break
        at = stem(words[index])
        weight = 4 * one.own.get(at, 0.0) + 2 * one.about.get(at, 0.0)
        best = max(best, weight * 0.9**distance)
    return best


def find_known(one: Told, reading: ParsedText, taken: SpanSet) -> list[tuple[int, int, Any]]:
    """Values that a parameter lists, where the question has a word of theirs.

    A value counts where each of its telling words is there, or is begun: carbs for
    carbohydrates, monthly for month.
    """
    values = one.plan.parameter.enum or (one.plan.parameter.items or {}).get("enum", ())
    tokens = reading.tokens
    free = [
        index
        for index, word in enumerate(tokens.words[:_MOST_WORDS])
        if word[:1].isalnum() and taken.free(tokens.starts[index], tokens.ends[index])
    ]
    found: list[tuple[int, int, Any]] = []
    for value in values:
        words = [
            word
            for word in str(value).lower().replace("_", " ").replace("-", " ").split()
            if word not in FUNCTION_WORDS and word not in HOLLOW
        ]
        places = [next((i for i in free if _alike(tokens.words[i], word)), None) for word in words]
        if words and None not in places:
            spots = [place for place in places if place is not None]
            found.append((min(spots), max(spots) + 1, value))
    return sorted(found)


def _alike(said: str, word: str) -> bool:
    if said == word or stem(said) == stem(word):
        return True
    if said in FUNCTION_WORDS:
        return False
    short = min(len(said), len(word))
    return (
        short >= _LEAST_LIKE
        and said[:_LEAST_LIKE] == word[:_LEAST_LIKE]
        and (word.startswith(said.rstrip("s")) or said.startswith(word.rstrip("s")))
    )
