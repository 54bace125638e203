"""Yes and no, for parameters that are known by description only: by what the question speaks of."""

from typing import Final

from server.core.stems import stem
from server.extraction.described.told import Told
from server.extraction.types import ValueCandidate
from server.text.parsed_text import ParsedText
from server.text.tokens import word_set

_NEGATIONS: Final = word_set(
    "without no not exclude excluding except skip hide omit never don dont doesn isn"
)
_IDLE: Final = frozenset(
    stem(word)
    for word in word_set(
        "is include includes including with show has have only use enable flag want get return "
        "allow need required option whether if status"
    )
)


def find_flag(one: Told, reading: ParsedText) -> ValueCandidate | None:
    """True where the question speaks of everything that the name does, False where it denies it."""
    wanted = [s for s in one.own if s not in _IDLE]
    tokens = reading.tokens
    if not wanted:
        return None
    stems = [stem(word) for word in tokens.words]
    for at, word in enumerate(tokens.words):
        if word == "-" and 0 < at < len(stems) - 1:
            stems[at] = stem(tokens.words[at - 1] + tokens.words[at + 1])  # multi-player
    places = [next((i for i, s in enumerate(stems) if _alike(s, w)), -1) for w in wanted]
    if -1 in places:
        return None
    at = min(places)
    before = tokens.words[max(0, at - 3) : at]
    value = _NEGATIONS.isdisjoint(before)
    return ValueCandidate(tokens.starts[at], tokens.ends[at], at, at + 1, value)


def _alike(one: str, other: str) -> bool:
    return one == other or (len(other) > 5 and len(one) > 4 and one[:6] == other[:6])
