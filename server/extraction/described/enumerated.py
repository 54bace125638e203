"""Texts that stand in a row: red, green and blue."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from server.extraction.described.chunk import Chunk
from server.extraction.english import ARTICLES
from server.text.tokens import Tokens, word_set

_ENUMERATES: Final = word_set("and or") | frozenset(",&")
_MOST_MEMBERS: Final = 60


def enumerated(chunks: Sequence[Chunk], tokens: Tokens) -> list[Chunk]:
    """Chunks as lists, of one member or of those that are enumerated: red, green and blue."""
    by_first: dict[int, list[Chunk]] = {}
    for chunk in chunks:
        by_first.setdefault(chunk.first, []).append(chunk)
    found: list[Chunk] = []
    for chunk in chunks:
        members, last = [chunk], chunk.last
        while len(members) < _MOST_MEMBERS:
            at = last
            while tokens.word(at) in _ENUMERATES and at - last < 2:
                at += 1
            while at > last and tokens.word(at) in ARTICLES:
                at += 1
            following = by_first.get(at, []) if at > last else []
            member = _most_alike(chunk, following)
            if member is None:
                break
            members.append(member)
            last = members[-1].last
        texts = tuple(member.text for member in members)
        end, modifies = members[-1].end, members[-1].modifies
        found.append(replace(chunk, end=end, last=last, members=texts, modifies=modifies))
    return found


def _most_alike(first: Chunk, following: Sequence[Chunk]) -> Chunk | None:
    """Of several that begin at one place the one most like the first member of a list."""
    same = [one for one in following if one.form == first.form and one.capital == first.capital]
    if not same and (first.form == "quote" or first.capital):
        return None
    fresh = [one for one in same or following if not one.spoken]
    return min(fresh or same or following, key=lambda one: one.edges, default=None)
