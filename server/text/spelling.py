"""Slips of the pen, put right against words that are known.

Encoders see little of a misspelt word: one typo in an eight-word question costs more
accuracy than anything else people do.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Self

from server.text.tokens import tokens

_SHORTEST: Final = 4
_MOST_WORDS: Final = 20_000


class SpellingIndex:
    """Known words, found by what is one slip away: a letter more, less, other or swapped."""

    def __init__(self, words: Iterable[str]) -> None:
        self._known: dict[str, list[str]] = defaultdict(list)
        self._longest = 0
        for word in words:
            self._longest = max(self._longest, len(word))
            for form in _shortened(word):
                self._known[form].append(word)

    def near(self, word: str) -> list[str]:
        """The known words that are `word` or one slip away, and begin alike."""
        if len(word) > self._longest + 1:
            return []
        alike = (known for form in _shortened(word) for known in self._known.get(form, ()))
        found = (known for known in alike if known[0] == word[0] and _one_slip(word, known))
        return list(dict.fromkeys(found))


class Speller:
    """The words of a library, and the words that people say instead.

    `synonyms` maps a word to others that mean it, all in lower case.
    """

    def __init__(
        self, texts: Iterable[str], synonyms: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self._know(Counter(word for text in texts for word in tokens(text)), synonyms or {})

    @classmethod
    def of_counts(cls, counts: Mapping[str, int], synonyms: Mapping[str, Sequence[str]]) -> Self:
        """The same for words that were counted before."""
        made = cls(())
        made._know(Counter(counts), synonyms)
        return made

    def _know(self, counts: Counter[str], synonyms: Mapping[str, Sequence[str]]) -> None:
        self._counts = counts
        common = (word for word, _ in counts.most_common(_MOST_WORDS))
        self._index = SpellingIndex(
            word for word in common if len(word) >= _SHORTEST - 1 and word.isalpha()
        )
        self._meanings = {
            other: word
            for word, others in synonyms.items()
            for other in others
            if other not in counts
        }

    @property
    def words(self) -> list[str]:
        """Every word that is known, the commonest first."""
        return [word for word, _ in self._counts.most_common()]

    def reread(self, text: str) -> str:
        """Return `text` with every slip and synonym replaced; unchanged when there is none.

        A word that the library does not know, and that is one slip away from one that it
        does, is read as that one.
        """
        words = text.split(" ")
        for at, word in enumerate(words):
            core = word.strip(".,;:!?\"'()")
            said = core.casefold()
            if not said or said in self._counts:
                continue
            meant = self._meanings.get(said)
            if meant is None and len(said) >= _SHORTEST and said.isalpha():
                near = [other for other in self._index.near(said) if not _inflected(said, other)]
                meant = max(sorted(near), key=self._counts.__getitem__, default=None)
            if meant:
                words[at] = word.replace(core, meant)
        return " ".join(words)


def _shortened(word: str) -> Iterator[str]:
    yield word
    for place in range(1, len(word)):
        yield word[:place] + word[place + 1 :]


def _one_slip(left: str, right: str) -> bool:
    """Whether at most one letter added, left out, changed, or swapped parts the two."""
    place = 0
    while place < min(len(left), len(right)) and left[place] == right[place]:
        place += 1
    a, b = left[place:], right[place:]
    swapped = a[:2] == b[1::-1] and a[2:] == b[2:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or swapped


def _inflected(left: str, right: str) -> bool:
    """Whether the two are forms of one word, which an encoder knows better than we do."""
    longer, shorter = (left, right) if len(left) > len(right) else (right, left)
    return longer[:-1] == shorter and longer[-1] in "sdry"
