"""Every phrase of a pack found in one pass over the words of a question.

A trie over whole words: the cost grows with the question, not with the number of
phrases, and a keyword can never fire inside another word. Languages that attach small
words to the front of the next one (Hebrew's ב, ל, ה …) name them, and a phrase is
found behind them as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

MASK: Final = "mask"
"""Group of phrases that hide what lies inside them from the one that is their key."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a phrase stands for.

    `group` is who looks for it, `key` which of its things was found and `order` how
    early it was declared. Phrases of one group that cover the same words compete.
    """

    group: str
    key: Any = None
    order: int = 0
    text: str = ""
    prefixed: bool = True


class Hit(NamedTuple):
    """A phrase in a question: words `first` up to `last`, after `prefix` letters."""

    first: int
    last: int
    prefix: int
    size: int
    entry: Entry


_hit: Final = partial(tuple.__new__, Hit)
"""Makes a `Hit` of its values, in half the time that calling it takes."""


_REMEMBERED: Final = 4096
"""Words of which it is kept where phrases begin: most were in an earlier question too."""

_LONGEST_REMEMBERED: Final = 32
"""Letters. Longer words would only take memory."""


class _Node:
    """Where a word leads: `entries` are the phrases that end with it."""

    __slots__ = ("entries", "following")

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.following: dict[str, _Node] = {}


class PhraseIndex:
    """`prefixes` are the strings that may stand before the first word of a phrase."""

    def __init__(self, prefixes: frozenset[str] = frozenset()) -> None:
        self.prefixes = prefixes
        self._root = _Node()
        self._reach: dict[str, int] = {}
        """The length of the longest prefix by the letter that it begins with."""
        for prefix in prefixes:
            self._reach[prefix[0]] = max(len(prefix), self._reach.get(prefix[0], 0))

        self._remembered = lru_cache(_REMEMBERED)(self._beginnings)

    def add(self, words: Sequence[str], entry: Entry) -> None:
        node = self._root
        for word in words:
            node = node.following.setdefault(word, _Node())
        node.entries.append(entry)
        self._remembered.cache_clear()

    def find(self, words: Sequence[str]) -> list[Hit]:
        """All phrases in `words`, in order, shorter ones within longer ones included."""
        hits: list[Hit] = []
        remembered = self._remembered
        for at, word in enumerate(words):
            short = len(word) <= _LONGEST_REMEMBERED
            beginnings = remembered(word) if short else self._beginnings(word)
            if not beginnings:
                continue
            found = len(hits)
            for prefix, node in beginnings:
                _walk(node, words, at, prefix, hits[found:] if prefix else (), hits)
        return hits

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


def _walk(
    node: _Node,
    words: Sequence[str],
    first: int,
    prefix: int,
    rivals: Sequence[Hit],
    hits: list[Hit],
) -> None:
    """Append every phrase that begins with the word that led to `node`.

    `rivals` begin at the same word with fewer letters taken off, and so read it better.
    """
    last, size = first + 1, len(words[first]) - prefix
    while True:
        for entry in node.entries:
            if prefix and not (
                entry.prefixed
                and all(r.entry.group != entry.group or r.last != last for r in rivals)
            ):
                continue
            hits.append(_hit((first, last, prefix, size, entry)))
        if not node.following or last == len(words):
            return
        following = node.following.get(words[last])
        if following is None:
            return
        node, size, last = following, size + 1 + len(words[last]), last + 1


def longest(hits: Sequence[Hit]) -> list[Hit]:
    """`hits`, in the order of the question, without those that lie within a longer one."""
    kept: list[Hit] = []
    start = end = -1
    rivals = 0
    """How many of `kept` begin before `start`."""
    for hit in hits:
        first, last, _, _, _ = hit
        if last > end:
            if first == start:
                del kept[rivals:]
            else:
                rivals = len(kept)
            start, end = first, last
        elif last < end or first > start:
            continue
        kept.append(hit)
    return kept
