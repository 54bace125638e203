"""Texts that are told one after the other, with commas between them: a name and an address."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from server.extraction.free_text import capital_runs, with_number
from server.extraction.plan import ParameterPlan
from server.extraction.values import SpanSet
from server.text.parsed_text import ParsedText
from server.text.tokens import Tokens

Place = tuple[int, int]
"""The words from the first up to the last of a text."""

_SHORTEST: Final = 2


def learn_chain(
    plans: Sequence[ParameterPlan], examples: Sequence[tuple[ParsedText, SpanSet]]
) -> tuple[str, ...]:
    """The longest chain of texts that an example has, by the parameters' own `example` values."""
    longest: tuple[str, ...] = ()
    for reading, _ in examples:
        shown = [(place, p.key) for p in plans if (place := _shown(p, reading.tokens)) is not None]
        shown.sort()
        chain = [key for _, key in shown[:1]]
        for (one, _), (other, key) in pairwise(shown):
            chain = [*chain, key] if _is_joined(reading.tokens, one, other) else [key]
            if len(chain) >= max(_SHORTEST, len(longest) + 1):
                longest = tuple(chain)
    return longest


def find_chain(size: int, reading: ParsedText, taken: SpanSet) -> Sequence[Place]:
    """The first so many names and addresses with nothing but commas between them; or none."""
    runs = [with_number(reading, taken, run) for run in capital_runs(reading, taken)]
    for at in range(len(runs) - size + 1):
        some = runs[at : at + size]
        if all(_is_joined(reading.tokens, one, other) for one, other in pairwise(some)):
            return some
    return ()


def _shown(plan: ParameterPlan, tokens: Tokens) -> Place | None:
    example = plan.parameter.example
    wanted = Tokens(example).words if isinstance(example, str) else []
    size = len(wanted)
    places = [n for n in range(len(tokens) - size + 1) if tokens.words[n : n + size] == wanted]
    return (places[0], places[0] + size) if wanted and len(places) == 1 else None


def _is_joined(tokens: Tokens, one: Place, other: Place) -> bool:
    return tokens.words[one[1] : other[0]] == [","]
