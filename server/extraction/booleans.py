"""Yes or no: said outright, or by naming the thing."""

from typing import Final

from server.extraction.plan import ParameterPlan
from server.extraction.types import SpanSet, ValueCandidate
from server.text.language import load_language
from server.text.parsed_text import ParsedText
from server.text.tokens import Tokens, is_word

_ENGLISH: Final = load_language("en")
_FILLERS: Final = _ENGLISH.group("value_fillers") | frozenset("=:#")

_WORDS: Final = dict.fromkeys(_ENGLISH.group("affirmed"), True) | dict.fromkeys(
    _ENGLISH.group("denied"), False
)
_SWITCHES: Final = {"on": True, "off": False}
_NEGATIONS: Final = _ENGLISH.group("negations")
_TURNS: Final = _ENGLISH.group("turns")
_ASKS: Final = frozenset(_ENGLISH.followups.asks)
_SAYS_NOTHING: Final = _ENGLISH.group("hollow_flags")


def find_boolean(
    plan: ParameterPlan, reading: ParsedText, taken: SpanSet, *, alone: bool
) -> ValueCandidate | None:
    """What the question says about the parameter; `alone` when it has no other boolean."""
    tokens = reading.tokens
    if {"on", "off"} <= set(tokens.words):
        return None  # on or off, that is the question
    named = _mention(plan, tokens, taken)
    for index, word in enumerate(tokens.words):
        if not taken.free(tokens.starts[index], tokens.ends[index]):
            continue
        if word in _WORDS and (_beside(index, named) or (alone and _by_itself(tokens, index))):
            return _at(tokens, index, index + 1, value=_WORDS[word])
        if word in _SWITCHES and (_beside(index, named) or _switched(tokens, index, alone=alone)):
            return _at(tokens, index, index + 1, value=_SWITCHES[word])
    if named is None:
        return None
    before = {tokens.word(named[0] - 1), tokens.word(named[0] - 2)}
    return _at(tokens, *named, value=before.isdisjoint(_NEGATIONS))


def _at(tokens: Tokens, first: int, last: int, *, value: bool) -> ValueCandidate:
    return ValueCandidate(tokens.starts[first], tokens.ends[last - 1], first, last, value)


def _mention(plan: ParameterPlan, tokens: Tokens, taken: SpanSet) -> tuple[int, int] | None:
    """Where all telling words of the name stand in a row: archived, of include_archived."""
    words = [word for word in plan.name.words if word not in _SAYS_NOTHING]
    if not words:
        return None
    for first in range(len(tokens) - len(words) + 1):
        if tokens.words[first : first + len(words)] == words:
            last = first + len(words)
            if taken.free(tokens.starts[first], tokens.ends[last - 1]):
                return first, last
    return None


def _beside(index: int, named: tuple[int, int] | None) -> bool:
    return named is not None and (named[0] - 3 <= index < named[0] or 0 <= index - named[1] <= 2)


def _by_itself(tokens: Tokens, index: int) -> bool:
    """Whether a yes or no answers, and does not deny: "no more than" is no no."""
    word = tokens.words[index]
    if word not in ("no", "yes"):
        return True
    return not tokens.word(index + 1)[:1].isalnum() or tokens.word(index - 1) in _FILLERS


def _switched(tokens: Tokens, index: int, *, alone: bool) -> bool:
    """Whether on or off is what something is to be turned."""
    before = tokens.words[max(0, index - 4) : index]
    turned = any(word in _TURNS for word in before)
    is_last = not any(map(is_word, tokens.words[index + 1 :]))
    command = is_last and tokens.words[0] not in _ASKS
    return alone and (turned or command)
