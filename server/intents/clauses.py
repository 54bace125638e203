"""Clauses of a question that ask for nothing, beside one that does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from server.text.normalizer import NormalizedText
from server.text.senses import read_senses
from server.text.tokens import Tokens

Span = tuple[int, int]

_STOPS: Final = frozenset(",.;:!?–—")


@dataclass(frozen=True, slots=True)
class ClauseReader:
    """Reads by the words of some languages that ship; without any, every clause counts.

    `contrasts` are words that cut a clause in two, as stops and commas do.
    """

    languages: tuple[str, ...] = ()
    contrasts: frozenset[str] = frozenset()

    def idle(self, read: NormalizedText, asked_at: Sequence[Span]) -> list[Span]:
        """Return the clauses that tell something or refuse it, where a later one asks.

        “I passed N4, so make cards”, “instead of a quiz, give me cards”. `asked_at` are places
        of words that show what is asked for; a clause that holds one, and is neither, asks.
        """
        has_parts = not _STOPS.isdisjoint(read.clean) or not self.contrasts.isdisjoint(read.words)
        if not self.languages or not has_parts:
            return []
        tokens = Tokens(read.clean)
        senses = read_senses(tokens, self.languages)
        idle: list[Span] = []
        last_asking = -1
        for clause in senses.parts():
            first, last = tokens.starts[clause.first], tokens.ends[clause.last - 1]
            refused = senses.reader.refusal(senses.words, clause.first, clause.last) is not None
            if clause.tells or refused:
                idle.append((first, last))
            elif any(first <= start and end <= last for start, end in asked_at):
                last_asking = first
        return [span for span in idle if span[0] < last_asking]
