"""Lists of numbers and of words: 10, 20 and 30; red, green and blue."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

from server.extraction.assignment import FILLERS
from server.extraction.free_text import name_from, text_at
from server.extraction.plan import ParameterPlan
from server.extraction.values import Candidate, SpanSet, from_words
from server.text.decimals import Number, exact_quotient, opposite
from server.text.language import load_language
from server.text.numbers import MINUS, over
from server.text.parsed_text import ParsedText
from server.text.tokens import Span, Tokens

_ENGLISH: Final = load_language("en")
_BETWEEN: Final = _ENGLISH.group("list_joints") | frozenset(",;&+$€£¥")
_OPERATORS: Final = _ENGLISH.group("operations") | frozenset("*×÷^=")
"""What between two numbers makes them parts of a sum of its own, and no list: 2 + 3 * 4."""
_PLUS: Final = frozenset({"plus", "+"})
_BETWEEN_WORDS: Final = frozenset({"and", "or", *",&;"})
_NO_MEMBER_BEFORE: Final = _ENGLISH.group("decimal_places")


def find_numbers(plan: ParameterPlan, reading: ParsedText, taken: SpanSet) -> Candidate | None:
    """The list of numbers that the question gives: JSON, or all its free numbers."""
    for span in reading.of("array"):
        numbers = span.value and all(
            isinstance(item, int | float | Decimal) and not isinstance(item, bool)
            for item in span.value
        )
        if numbers and taken.is_free(span.start, span.end):
            return _list_value(plan, [span], list(span.value))
    members = _list_numbers(reading, taken)
    if len(members) == 1 and (apart := _digit_groups(reading, members[0])):
        return _list_value(plan, members, apart)
    values = _number_values(reading.tokens, members)
    if values is None:
        whole = _list_value(plan, members, [])
        return whole._replace(problem="a fraction like 1/3 has no exact decimal; write one")
    least = 2 if plan.parameter.min_length is None else plan.parameter.min_length
    return _list_value(plan, members, values) if members and len(values) >= min(least, 2) else None


def _number_values(tokens: Tokens, members: Sequence[Span]) -> list[Number] | None:
    """Return the values, fractions worked out; None when one has no exact value."""
    values: list[Number] = []
    for index, span in enumerate(members):
        value = opposite(span.value) if span.unit == "-" else span.value
        if index and over(tokens, members[index - 1], span):
            quotient = exact_quotient(values.pop(), value)
            if quotient is None:
                return None
            value = quotient
        values.append(value)
    return values


def _list_value(plan: ParameterPlan, spans: Sequence[Span], values: list[Any]) -> Candidate:
    first, last = spans[0], spans[-1]
    whole = Candidate(first.start, last.end, first.first, last.last, values)
    fraction = next((value for value in values if not isinstance(value, int)), None)
    if (plan.parameter.items or {}).get("type") == "integer" and fraction is not None:
        return whole._replace(problem=f"{fraction} is not a whole number")
    return plan.checker.checked(whole)


def _list_numbers(reading: ParsedText, taken: SpanSet) -> list[Span]:
    tokens = reading.tokens
    spans = reading.every("number")
    between = [tokens.words[a.last : b.first] for a, b in pairwise(spans)]
    adds = any(word in _PLUS for words in between for word in words)
    # In 5 - 3 + 2 the hyphen takes away; in 2-4-6 it stands between members.
    operators = _OPERATORS | MINUS if adds else _OPERATORS
    stretches: list[list[Span]] = [[]]
    for span in spans:
        if tokens.word(span.last) in _NO_MEMBER_BEFORE or not taken.is_free(span.start, span.end):
            continue
        last = stretches[-1][-1] if stretches[-1] else None
        if last and (
            not taken.is_free(last.end, span.start)
            or not operators.isdisjoint(tokens.words[last.last : span.first])
            or _is_range(tokens, last, span)
            or _adds_to_list(tokens, stretches[-1], span)
        ):
            stretches.append([])
        stretches[-1].append(span)
    return _without_their_count(tokens, max(stretches, key=len))


def _adds_to_list(tokens: Tokens, members: Sequence[Span], span: Span) -> bool:
    """Whether a number is added to what a list comes to: the average of 3 and 5 plus 1."""
    if len(members) < 2:
        return False
    joint = tokens.words[members[-2].last : members[-1].first]
    between = tokens.words[members[-1].last : span.first]
    return not _PLUS.isdisjoint(between) and bool(joint) and _PLUS.isdisjoint(joint)


def _is_range(tokens: Tokens, one: Span, other: Span) -> bool:
    """Whether the two are the ends of what is counted through: 1 through 10, from 1 to 10."""
    between = " ".join(tokens.words[one.last : other.first])
    if between in ("through", "thru", ". .", ". . .", "…"):
        return True
    return between in ("to", "until", "till") and tokens.word(one.first - 1) == "from"


def _without_their_count(tokens: Tokens, spans: list[Span]) -> list[Span]:
    """The numbers without the one that says how many there are, or those before a colon."""
    if len(spans) < 3:
        return spans
    runs = [spans[:1]]
    for one, span in pairwise(spans):
        if not _BETWEEN.issuperset(tokens.words[one.last : span.first]):
            runs.append([])
        runs[-1].append(span)
    longest = max(runs, key=len)
    outside = [span for run in runs if run is not longest for span in run]
    counts = [span for span in outside if span.value == len(longest)]
    before = [span.last for span in outside if span.last <= longest[0].first]
    between = tokens.words[max(before, default=0) : longest[0].first]
    announced = ":" in between and len(before) == len(outside)
    if len(longest) > 1 and (announced or len(counts) == len(outside) == 1):
        return longest
    return spans


def _digit_groups(reading: ParsedText, span: Span) -> list[int] | None:
    """The members of 100,200,300, which is a list where a single number is none."""
    parts = reading.clean[span.start : span.end].split(",")
    if len(parts) < 3 or not all(part.isdigit() and part[0] != "0" for part in parts):
        return None
    return [int(part) for part in parts]


def find_words(plan: ParameterPlan, reading: ParsedText, taken: SpanSet) -> Candidate | None:
    """The list of words that the question gives: JSON, quotes, or after the name: tags a, b."""
    for span in reading.of("array"):
        if taken.is_free(span.start, span.end) and all(isinstance(v, str) for v in span.value):
            return _list_value(plan, [span], list(span.value))
    if plan.role == "choices":
        return _known_words(plan, reading, taken)
    quotes = [span for span in reading.every("quoted") if taken.is_free(span.start, span.end)]
    if quotes:
        return _list_value(plan, quotes, [span.value for span in quotes])
    return _after_name(plan, reading, taken)


def _known_words(plan: ParameterPlan, reading: ParsedText, taken: SpanSet) -> Candidate | None:
    tokens = reading.tokens
    found = [phrase for phrase in plan.choices.find(tokens) if not phrase.weak]
    phrases = [one for one in found if taken.has_room(tokens, one.first, one.last)]
    if not phrases or not taken.has_room(tokens, phrases[0].first, phrases[-1].last):
        return None
    values: list[Any] = []
    for phrase in phrases:
        if phrase.value not in values:
            values.append(phrase.value)
    return from_words(tokens, phrases[0].first, phrases[-1].last, values, "vocabulary")


def _after_name(plan: ParameterPlan, reading: ParsedText, taken: SpanSet) -> Candidate | None:
    tokens = reading.tokens
    own = plan.name.before - plan.name.leads
    for index, word in enumerate(tokens.words):
        if word not in own:
            continue
        first = index + 1
        while tokens.word(first) in FILLERS:
            first += 1
        members, last = _words_after(reading, taken, first)
        if members:
            return plan.checker.checked(from_words(tokens, first, last, members))
    return None


def _words_after(reading: ParsedText, taken: SpanSet, first: int) -> tuple[list[str], int]:
    members: list[str] = []
    at = last = first
    while (place := name_from(reading, taken, at, skip=frozenset())) and place[0] == at:
        members.append(text_at(reading, place).value)
        at = last = place[1]
        while reading.tokens.word(at) in _BETWEEN_WORDS:
            at += 1
        if at == last:
            break
    return members, last
