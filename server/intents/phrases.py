"""Every phrase of a pack found in one pass over the words of a question.

A trie over whole words: the cost grows with the question, not with the number of
phrases, and a keyword can never fire inside another word. Languages that attach small
words to the front of the next one (Hebrew's ב, ל, ה …) name them, and a phrase is
found behind them as well.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

KEYWORDS: Final = "keyword"
"""Group of keywords; their key is the number of the trigger they belong to."""

MASK: Final = "mask"
"""Group of phrases that hide what lies inside them from the one that is their key."""


class PhraseEntry(NamedTuple):
    """What a phrase stands for.

    `group` is who looks for it, `key` which of its things was found and `order` how
    early it was declared. A phrase that is not `prefixed` is found without attached
    letters alone.
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

    @property
    def weight(self) -> tuple[int, int, int]:
        """What ranks a keyword: more words, then more letters, then fewer before it."""
        return self.last - self.first, self.size, -self.prefix


class Phrases(NamedTuple):
    """The phrases of a question, in order: `hits` compete, and those `apart` do not."""

    hits: list[PhraseHit]
    apart: list[PhraseHit]


@dataclass(slots=True)
class _Node:
    """The entries of the phrases that end here, and the node of each word that may follow."""

    entries: list[PhraseEntry] = field(default_factory=list)
    following: dict[str, "_Node"] = field(default_factory=dict)


class PhraseIndex:
    """`prefixes` are the strings that may stand before the first word of a phrase.

    Of phrases that lie within each other the longest counts, whoever looks for them; those
    of the groups `apart` are all found, and hide no other.
    """

    def __init__(
        self, prefixes: frozenset[str] = frozenset(), apart: frozenset[str] = frozenset()
    ) -> None:
        self._prefixes = prefixes
        self._longest_prefix = max(map(len, prefixes), default=0)
        self._apart = apart
        self._root = _Node()
        self.vocabulary: set[str] = set()
        """Every word of every phrase."""

    def add(self, words: Sequence[str], entry: PhraseEntry) -> None:
        node = self._root
        self.vocabulary.update(words)
        for word in words:
            node = node.following.setdefault(word, _Node())
        node.entries.append(entry)

    def find(self, words: Sequence[str]) -> Phrases:
        """Return the longest phrases in `words`, and all of those apart."""
        found: list[PhraseHit] = []
        for first, word in enumerate(words):
            before = len(found)
            for prefix, start in self._beginnings(word):
                node, last, size = start, first + 1, len(word) - prefix
                while True:
                    entries = node.entries
                    if prefix and entries:
                        # With fewer letters taken off, the same words are read better.
                        taken = {hit.entry.group for hit in found[before:] if hit.last == last}
                        entries = [e for e in entries if e.prefixed and e.group not in taken]
                    found += [PhraseHit(first, last, prefix, size, entry) for entry in entries]
                    if last == len(words) or words[last] not in node.following:
                        break
                    node = node.following[words[last]]
                    size += 1 + len(words[last])
                    last += 1
        apart = [hit for hit in found if hit.entry.group in self._apart]
        return Phrases(longest([hit for hit in found if hit.entry.group not in self._apart]), apart)

    def _beginnings(self, word: str) -> Iterator[tuple[int, _Node]]:
        """Yield where phrases that begin with `word` start, and behind how many letters of it."""
        following = self._root.following
        # At least two letters are left of the word itself.
        for length in range(max(0, min(self._longest_prefix, len(word) - 2)) + 1):
            if word[length:] in following and (not length or word[:length] in self._prefixes):
                yield length, following[word[length:]]


def longest(hits: Sequence[PhraseHit]) -> list[PhraseHit]:
    """Return `hits`, in the order of the question, without those that lie within a longer one."""
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
