"""Finds the expression in a question, and tells sums from dates, scores and numbers of rooms."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from server.text.expressions.evaluation import CannotCalculate, evaluate
from server.text.expressions.grammar import SHORTEST_SLIP, Grammar, grammar_of
from server.text.expressions.numerals import NumberFormat
from server.text.expressions.parser import Parsed, Parser
from server.text.expressions.quantity import Quantity
from server.text.expressions.rendering import render
from server.text.expressions.tree import Node, Operation, is_about_it
from server.text.money import CURRENCY_STARTERS
from server.text.parsed_text import ParsedText
from server.text.tokens import Tokens, is_digits, is_word

MOST_CHARS: Final = 2000
_MOST_WORDS: Final = 300
_FOUND: Final = "expression"
_WEAK_SIGNS: Final = frozenset({"-", "–", "−", "/", "x", "×", ":"})
"""Signs that stand in dates, scores and sizes as well."""
_MARKS: Final = frozenset("?.!,;:)")
_EQUALS: Final = "="
_CLOSERS: Final = _MARKS | {_EQUALS}
_LONGEST_SCORE: Final = 3


@dataclass(frozen=True)
class Expression:
    """What is to be worked out. `text` is its normal form."""

    node: Node
    text: str

    @cached_property
    def value(self) -> Quantity:
        """The exact value.

        Raises:
            CannotCalculate: there is none, or none within the limits; the message says why.
        """
        return evaluate(self.node)

    @property
    def error(self) -> str:
        """Why there is no value; empty where there is one."""
        try:
            self.value  # noqa: B018
        except CannotCalculate as why:
            return str(why)
        return ""


@dataclass(frozen=True)
class FoundExpression:
    """An expression and the words of a question that it stands in, `first` up to `last`."""

    first: int
    last: int
    expression: Expression


@lru_cache(maxsize=256)  # one that is called was checked as an argument before
def read_expression(
    text: str, languages: tuple[str, ...] = (), *, number_format: NumberFormat = "auto"
) -> Expression:
    """Return the expression that a whole text is; words that ask for it may stand around it.

    Raises:
        ValueError: the text is none; the message names the word that is not known.
    """
    if len(text) > MOST_CHARS:
        raise ValueError(f"an expression has at most {MOST_CHARS} characters")
    tokens = Tokens(text)
    if len(tokens) > _MOST_WORDS:
        raise ValueError(f"an expression has at most {_MOST_WORDS} words")
    grammar = grammar_of(languages)
    start = _after_leads(tokens, grammar)
    furthest = start
    for each in (tokens, _corrected(tokens, grammar)):
        parser = Parser(each or tokens, grammar, number_format)
        for first in dict.fromkeys((0, start)):
            found = parser.read(first)
            if found is not None and is_about_it(found.node):
                continue
            if found is not None and _after_tail(tokens, grammar, found.last) == len(tokens):
                return _expression(found.node, grammar)
        furthest = max(furthest, parser.furthest)
    if furthest >= len(tokens):
        raise ValueError(f"{text!r} is not complete: it ends where a number should follow")
    word = tokens.slice(furthest, furthest + 1)
    raise ValueError(f"{word!r} is not something that I can calculate with")


def find_expression(
    reading: ParsedText, *, number_format: NumberFormat = "auto"
) -> FoundExpression | None:
    """Return the longest run of a question that is an expression; None where there is none."""
    key = (_FOUND, number_format)
    if key not in reading.memo:
        reading.memo[key] = _find(reading, number_format)
    found: FoundExpression | None = reading.memo[key]
    return found


def _find(reading: ParsedText, number_format: NumberFormat) -> FoundExpression | None:
    tokens = reading.tokens
    if not 1 < len(tokens) <= _MOST_WORDS or len(reading.text) > MOST_CHARS:
        return None
    if not _may_hold_one(reading):
        return None
    grammar = grammar_of(reading.languages)
    barriers = _barriers(reading)
    found = _longest(Parser(tokens, grammar, number_format, barriers))
    if found is None and (corrected := _corrected(tokens, grammar)):
        found = _longest(Parser(corrected, grammar, number_format, barriers))
    return found


def _corrected(tokens: Tokens, grammar: Grammar) -> Tokens | None:
    """Return the text with slips of the pen put right; None where there are none to see."""
    words = [_meant(word, grammar) for word in tokens.words]
    if words == tokens.words:
        return None
    corrected = Tokens(tokens.text, languages=tokens.languages)
    if len(corrected) != len(tokens):
        return None  # a quote is one word, and nothing to calculate with
    corrected.words = words
    return corrected


def _meant(word: str, grammar: Grammar) -> str:
    if len(word) < SHORTEST_SLIP or not is_word(word) or word in grammar.words:
        return word
    near = grammar.spelling.near(word)
    return near[0] if len(near) == 1 else word


def _longest(parser: Parser) -> FoundExpression | None:
    tokens, grammar = parser.tokens, parser.grammar
    best: tuple[int, Parsed] | None = None
    for start in range(len(tokens)):
        found = parser.read(start)
        if found is None or not isinstance(found.node, Operation) or is_about_it(found.node):
            continue
        first = _without_fillers(parser, start, found)
        if best is not None and found.last - first <= best[1].last - best[0]:
            continue
        if _is_meant(parser, grammar, first, found):
            best = first, found
    if best is None:
        return None
    first, found = best
    after = found.last + (tokens.word(found.last) == ",")
    end = grammar.lexicon.tails.longest(tokens.words, after)
    if not end and tokens.word(found.last) == _EQUALS:
        end = found.last + 1
    if not end and _after_tail(tokens, grammar, found.last) == len(tokens):
        end = max(i + 1 for i in range(first, len(tokens)) if tokens.words[i] not in _MARKS)
    return FoundExpression(first, end or found.last, _expression(found.node, grammar))


def _without_fillers(parser: Parser, first: int, found: Parsed) -> int:
    """Return where an expression begins after small words that say nothing."""
    fillers = parser.lexicon.fillers
    while end := fillers.longest(parser.tokens.words, first):
        if parser.read(end) != found or end > first + 1:
            break
        first = end
    return first


def _may_hold_one(reading: ParsedText) -> bool:
    """Whether any number stands in the text, or a sign that only sums have."""
    return bool(reading.every("number") or reading.every("unreadable")) or any(
        is_digits(word) or not (is_word(word) or word.isascii()) for word in reading.tokens.words
    )


def _barriers(reading: ParsedText) -> frozenset[int]:
    """The words of dates and of times of day, which are no numbers to calculate with."""
    return frozenset(
        at
        for kind in ("date", "datetime", "time")
        for span in reading.every(kind)
        if not span.weak
        for at in range(span.first, span.last)
    )


def _is_meant(parser: Parser, grammar: Grammar, first: int, found: Parsed) -> bool:
    """Whether a run is a sum, and no score, room, size or number to call.

    What has only signs that stand in those as well is a sum where nothing but words that ask for
    one stand before it, and nothing after it.
    """
    tokens = parser.tokens
    words = tokens.words[first : found.last]
    units = grammar.lexicon.units.keys() | CURRENCY_STARTERS
    signs = {word for word in words if not (is_digits(word) or word in ".," or word in units)}
    before = tokens.word(first - 1)
    if before in grammar.lexicon.ordinals:
        return False  # the first half of 2024
    if tokens.glued(first) and (is_word(before) or is_digits(before) or before in ".,_/:"):
        return False
    if tokens.glued(found.last) and (is_word(tokens.words[found.last]) or _goes_on(parser, found)):
        return False
    if not signs <= _WEAK_SIGNS or tokens.word(found.last) == _EQUALS:
        return True
    asked = _after_leads(tokens, grammar)
    alone = first == 0 and _after_tail(tokens, grammar, found.last) == len(tokens)
    led = asked == first > 0 or grammar.lexicon.asks.ends(tokens.words, first)
    ended = found.last == len(tokens) or tokens.words[found.last] in _CLOSERS or alone
    glued = all(tokens.glued(at) for at in range(first + 1, found.last))
    if glued and _looks_like_code(words, alone=alone):
        return False
    return (alone or led) and ended


def _goes_on(parser: Parser, found: Parsed) -> bool:
    """Whether a sign and a digit go on right after what was read: 1-2-3/4."""
    tokens = parser.tokens
    sign = tokens.words[found.last]
    follows = tokens.glued(found.last + 1) and is_digits(tokens.words[found.last + 1])
    return sign in "-/.:_" and follows


def _looks_like_code(words: Sequence[str], *, alone: bool) -> bool:
    """Whether digits between hyphens are a number to call: 030-12, and 555-1234 alone."""
    digits = [word for word in words if is_digits(word)]
    hyphens = sum(word in "-–−" for word in words)
    if not hyphens:
        return False
    zero = any(len(word) > 1 and word[0] == "0" for word in digits if "." not in words)
    long = [len(word) > _LONGEST_SCORE for word in digits]
    return zero or (any(long) and (alone or hyphens > 1))


def _after_leads(tokens: Tokens, grammar: Grammar) -> int:
    """Return the first word after those that only ask: what is, calculate, please."""
    at = 0
    while at < len(tokens):
        end = grammar.lexicon.leads.longest(tokens.words, at)
        if not end and tokens.words[at] in ",:.!":
            end = at + 1 if at else 0
        if not end:
            break
        at = end
    return at


def _after_tail(tokens: Tokens, grammar: Grammar, at: int) -> int:
    """Return the first word after those that only ask, at the end: how much is that, please."""
    while at < len(tokens):
        end = grammar.lexicon.tails.longest(tokens.words, at)
        if not end and tokens.words[at] in _CLOSERS:
            end = at + 1
        if not end:
            break
        at = end
    return at


def _expression(node: Node, grammar: Grammar) -> Expression:
    return Expression(node, render(node, grammar.lexicon.shown))
