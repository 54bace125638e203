"""Reads the story that a text tells, but for remarks before it."""

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Final

from server.text.expressions.numerals import NumeralReader
from server.text.expressions.stories.amounts import AmountReader
from server.text.expressions.stories.facts import Answer
from server.text.expressions.stories.scanner import QUESTIONS, Scanner
from server.text.expressions.stories.solver import solve
from server.text.expressions.stories.words import story_lexicon
from server.text.tokens import Tokens

_MOST_BEGINNINGS: Final = 8
_LONGEST: Final = 80
"""Words of a text that may be a story."""


def read_story(
    numerals: NumeralReader, codes: tuple[str, ...], barriers: Collection[int] = ()
) -> tuple[int, Answer] | None:
    """Return where the story of a text begins, and what it comes to; None where there is none.

    What stands before it has no number; the words at `barriers` belong to dates.
    """
    tokens, lexicon = numerals.tokens, story_lexicon(codes)
    if not 2 < len(tokens) <= _LONGEST:
        return None
    amounts = AmountReader(tokens, numerals, lexicon, barriers)
    if not any(amounts.end(name, at) for at in range(len(tokens)) for name in QUESTIONS):
        return None
    for first in islice(_beginnings(amounts), _MOST_BEGINNINGS):
        story = Scanner(amounts).read(first)
        if story is not None:
            answer = solve(story, lexicon.on_top)
            return None if answer is None else (first, answer)
    return None


def _beginnings(amounts: AmountReader) -> Iterator[int]:
    """Return where a story may begin: after words that only ask, and after a remark."""
    tokens, leads = amounts.tokens, amounts.numerals.lexicon.leads
    yield 0
    at = lead = 0
    while at < len(tokens) and not amounts.is_number(at):
        if tokens.words[at] in ",.!?;:":
            yield at + 1
            lead = at + 1
        elif at == lead and (end := leads.longest(tokens.words, at)):
            yield end
            lead = at = end
            continue
        at += 1
