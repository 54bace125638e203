"""What the words around a value say about whose value it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from server.extraction.candidate import Candidate
from server.extraction.english import FILLERS
from server.extraction.plan import ParameterPlan
from server.extraction.recognizers.tokens import Tokens

_REACH: Final = 3
"""How many words before a value may belong to it."""
_NAMED_BEFORE: Final = 6
_NAMED_AFTER: Final = 5
_PAIR: Final = 6
_SINGLE: Final = 3

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """Words that stood right before or after a value in the template's examples.

    One or two words each, and only those that lead to no other parameter's value.
    """

    left: frozenset[Words] = frozenset()
    right: frozenset[Words] = frozenset()


Contexts = Mapping[str, Context]
NO_CONTEXT: Final = Context()


def score(plan: ParameterPlan, candidate: Candidate, tokens: Tokens, context: Context) -> int:
    """How strongly the words around `candidate` speak for this parameter; 0 for not at all."""
    return max(
        candidate.fit,
        _by_name(plan, candidate, tokens),
        _by_context(candidate, tokens, context),
    )


def _by_name(plan: ParameterPlan, candidate: Candidate, tokens: Tokens) -> int:
    before, after = plan.name.before, plan.name.after
    for distance in range(1, _REACH + 1):
        word = tokens.word(candidate.first - distance)
        if word in before:
            return _NAMED_BEFORE - distance
        if word not in FILLERS:
            break
    return _NAMED_AFTER if tokens.word(candidate.last) in after else 0


def _by_context(candidate: Candidate, tokens: Tokens, context: Context) -> int:
    if context is NO_CONTEXT:
        return 0
    first, last = candidate.first, candidate.last
    left = (tokens.word(first - 2), tokens.word(first - 1))
    right = (tokens.word(last), tokens.word(last + 1))
    if left in context.left or right in context.right:
        return _PAIR
    return _SINGLE if left[1:] in context.left or right[:1] in context.right else 0
