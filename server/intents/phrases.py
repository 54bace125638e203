"""Every phrase of a pack found in one pass over the words of a question.

A trie over whole words: the cost grows with the question, not with the number of
phrases, and a keyword can never fire inside another word. Languages that attach small
words to the front of the next one (Hebrew's ב, ל, ה …) name them, and a phrase is
found behind them as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
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

    def add(self, words: Sequence[str], entry: Entry) -> None:
        node = self._root
        for word in words:
            node = node.following.setdefault(word, _Node())
        node.entries.append(entry)

    def find(self, words: Sequence[str]) -> list[Hit]:
        """All phrases in `words`, in order, shorter ones within longer ones included."""
        hits: list[Hit] = []
        root, prefixes, reach = self._root.following.get, self.prefixes, self._reach.get
        for at, word in enumerate(words):
            node = root(word)
            found = len(hits)
            if node is not None:
                _walk(node, words, at, 0, (), hits)
            longest = reach(word[0])
            if longest is None:
                continue
            for length in range(1, min(longest, len(word) - 2) + 1):
                if word[:length] in prefixes:
                    node = root(word[length:])
                    if node is not None:
                        _walk(node, words, at, length, hits[found:], hits)
        return hits


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


def longest(hits: list[Hit]) -> list[Hit]:
    """`hits` without those that lie within a longer one, in the order of the question."""
    for hit in hits:
        if hit.last - hit.first > 1:
            break
    else:
        return hits
    kept: list[Hit] = []
    start, end = -1, -1
    for hit in sorted(hits, key=_outermost_first):
        if hit.last > end:
            start, end = hit.first, hit.last
        elif hit.last < end or hit.first > start:
            continue
        kept.append(hit)
    return kept


def _outermost_first(hit: Hit) -> tuple[int, int]:
    return hit.first, -hit.last
