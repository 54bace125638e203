"""Every phrase of a pack found in one pass over the words of a question.

A trie over whole words: the cost grows with the question, not with the number of
phrases, and a keyword can never fire inside another word. Languages that attach small
words to the front of the next one (Hebrew's ב, ל, ה …) name them, and a phrase is
found behind them as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

MASK: Final = "mask"
"""Group of phrases that hide what lies inside them from the one that is their key."""


@dataclass(frozen=True, slots=True)
class PhraseEntry:
    """What a phrase stands for.

    `group` is who looks for it, `key` which of its things was found and `order` how
    early it was declared. Phrases of one group that cover the same words compete.
    """

    group: str
    key: Any = None
    order: int = 0
    text: str = ""
    prefixed: bool = True


class PhraseHit(NamedTuple):
    """A phrase in a question: words `first` up to `last`, after `prefix` letters."""

    first: int
    last: int
    prefix: int
    size: int
    entry: PhraseEntry


class Phrases(NamedTuple):
    """What was found in a question, in order: `hits` compete, and those `apart` do not."""

    hits: list[PhraseHit]
    apart: list[PhraseHit]


class _Node:
    """Where a word leads: `entries` are the phrases that end with it, those `apart` too."""

    __slots__ = ("apart", "entries", "following")

    def __init__(self) -> None:
        self.entries: list[PhraseEntry] = []
        self.apart: list[PhraseEntry] = []
        self.following: dict[str, _Node] = {}


class PhraseIndex:
    """`prefixes` are the strings that may stand before the first word of a phrase.

    Of phrases that lie within each other the longest counts, whoever looks for them; those
    of the groups `apart` are all found, and hide no other.
    """

    def __init__(
        self, prefixes: frozenset[str] = frozenset(), apart: frozenset[str] = frozenset()
    ) -> None:
        self.prefixes = prefixes
        self._apart = apart
        self._root = _Node()
        self._reach: dict[str, int] = {}
        """The length of the longest prefix by the letter that it begins with."""
        for prefix in prefixes:
            self._reach[prefix[0]] = max(len(prefix), self._reach.get(prefix[0], 0))

    def add(self, words: Sequence[str], entry: PhraseEntry) -> None:
        node = self._root
        for word in words:
            node = node.following.setdefault(word, _Node())
        (node.apart if entry.group in self._apart else node.entries).append(entry)

    def find(self, words: Sequence[str]) -> Phrases:
        """The longest phrases in `words`, and all of those apart."""
        hits: list[PhraseHit] = []
        apart: list[PhraseHit] = []
        end, count = 0, len(words)
        for at, begins in enumerate(map(self._beginnings, words)):
            if not begins:
                continue
            # `end` is that of the longest phrase so far, `furthest` of the longest from here on.
            here, here_apart, furthest = len(hits), len(apart), end
            for prefix, node in begins:
                last, size = at + 1, len(words[at]) - prefix
                while True:
                    if node.apart:
                        best = _best(node.apart, prefix, last, apart[here_apart:])
                        apart += [PhraseHit(at, last, prefix, size, entry) for entry in best]
                    entries = node.entries
                    if entries and last > end and last >= furthest:
                        if last > furthest:
                            del hits[here:]
                            furthest = last
                        if prefix:
                            entries = _best(entries, prefix, last, hits[here:])
                        hits += [PhraseHit(at, last, prefix, size, entry) for entry in entries]
                    following = node.following
                    if not following or last == count or words[last] not in following:
                        break
                    node = following[words[last]]
                    size += 1 + len(words[last])
                    last += 1
            end = furthest
        return Phrases(hits, apart)

    def _beginnings(self, word: str) -> tuple[tuple[int, _Node], ...]:
        """Where phrases that begin with `word` start, and behind how many letters of it."""
        root, prefixes = self._root.following, self.prefixes
        # At least two letters are left of the word itself.
        longest = max(0, min(self._reach.get(word[0], 0), len(word) - 2))
        return tuple(
            (length, root[word[length:]])
            for length in range(longest + 1)
            if (not length or word[:length] in prefixes) and word[length:] in root
        )


def _best(
    entries: list[PhraseEntry], prefix: int, last: int, rivals: list[PhraseHit]
) -> list[PhraseEntry]:
    """The entries that no rival reads better, with fewer letters taken off the same words."""
    if not prefix:
        return entries
    taken = {rival.entry.group for rival in rivals if rival.last == last}
    return [entry for entry in entries if entry.prefixed and entry.group not in taken]


def longest(hits: Sequence[PhraseHit]) -> list[PhraseHit]:
    """`hits`, in the order of the question, without those that lie within a longer one."""
    kept: list[PhraseHit] = []
    start = end = -1
    here = 0
    """How many of `kept` begin before `start`."""
    for hit in hits:
        if hit.last > end:
            if hit.first == start:
                del kept[here:]
            start, end, here = hit.first, hit.last, len(kept)
        elif hit.last < end or hit.first > start:
            continue
        kept.append(hit)
    return kept
