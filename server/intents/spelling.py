"""Misspelt words of a question, put right against the words that a pack knows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from server.intents.numbers import View
from server.text.normalizer import NormalizedText, Normalizer

_SHORTEST: Final = 3
_SHORTEST_SWAPPED: Final = 4


class Spelling:
    """`wanted` words are found by what is one slip away, unless that is a word of its own.

    A slip is two letters swapped, a letter doubled or one of a pair left out, a letter written as
    another of the same sound (`sounds`); and, in words of at least `any_from` letters, a letter
    more, less or other anywhere but at the end, where it makes another form of the word.
    """

    def __init__(
        self,
        wanted: Iterable[str],
        known: Iterable[str],
        prefixes: Iterable[str],
        sounds: Sequence[str],
        any_from: int,
    ) -> None:
        self._prefixes = ("", *sorted(prefixes, key=lambda prefix: (len(prefix), prefix)))
        self._known = frozenset(known)
        self._sounds = {letter: at for at, group in enumerate(sounds) for letter in group}
        self._any_from = any_from
        self._near: dict[str, list[str]] = defaultdict(list)
        self._longest = 0
        for word in dict.fromkeys(wanted):
            if len(word) >= _SHORTEST and word.isalpha():
                self._longest = max(self._longest, len(word) + 1)
                for form in _shortened(word):
                    self._near[form].append(word)

    def correct(
        self, text: NormalizedText, normalizer: Normalizer, places: Sequence[int]
    ) -> tuple[NormalizedText, View | None]:
        """Return the text with slips at some of its words put right, and the way back if any was.

        Words that were read need no looking at: in free text, a word may well resemble another.
        """
        clean, done = "", 0
        pieces: list[tuple[int, int, int, int]] = []
        for at in places:
            meant = self._meant(text.words[at])
            if meant is None:
                continue
            start, end = text.span(at, at + 1)
            clean += text.clean[done:start]
            begin = len(clean)
            clean += normalizer.polish(meant)
            pieces.append((begin, start, len(clean), end))
            done = end
        if not pieces:
            return text, None
        clean += text.clean[done:]
        folded = normalizer.fold(clean)
        corrected = NormalizedText(clean, folded, normalizer.split(folded))
        return corrected, View(clean, tuple(pieces))

    def _meant(self, word: str) -> str | None:
        if not word.isalpha() or any(form in self._known for _, form in self._without_prefix(word)):
            return None
        for prefix, form in self._without_prefix(word):
            ranked = [
                (rank, -len(known), known)
                for known in self._candidates(form)
                if (rank := self._slip(form, known)) is not None
            ]
            if ranked:
                return prefix + min(ranked)[2]
        return None

    def _without_prefix(self, word: str) -> Iterator[tuple[str, str]]:
        for prefix in self._prefixes:
            if word.startswith(prefix) and len(word) - len(prefix) >= _SHORTEST:
                yield prefix, word[len(prefix) :]

    def _candidates(self, word: str) -> Iterable[str]:
        near: Mapping[str, list[str]] = self._near
        if len(word) > self._longest:
            return ()  # one slip makes no such word, and a word may have any length
        return dict.fromkeys(known for form in _shortened(word) for known in near.get(form, ()))

    def _slip(self, said: str, meant: str) -> int | None:
        """Return how far the two are apart, the likeliest slip first; None for more than one."""
        at = next((i for i, (a, b) in enumerate(zip(said, meant, strict=False)) if a != b), None)
        at = min(len(said), len(meant)) if at is None else at
        last = max(len(said), len(meant)) - 1
        if len(said) == len(meant):
            if said[at + 1 :] == meant[at + 1 :]:
                if self._sounds.get(said[at], said[at]) == self._sounds.get(meant[at], -1):
                    return 0
                return 2 if len(meant) >= self._any_from and 0 < at < last else None
            swapped = said[at : at + 2] == meant[at : at + 2][::-1]
            if swapped and said[at + 2 :] == meant[at + 2 :]:
                return 1 if len(meant) >= _SHORTEST_SWAPPED else None
            return None
        longer, shorter = (said, meant) if len(said) > len(meant) else (meant, said)
        if longer[at + 1 :] != shorter[at:]:
            return None
        if at > 1 and longer[at] == longer[at - 1] and len(longer) >= _SHORTEST_SWAPPED:
            return 1
        return 3 if len(meant) >= self._any_from and 0 < at < last else None


def _shortened(word: str) -> Iterator[str]:
    yield word
    for place in range(len(word)):
        yield word[:place] + word[place + 1 :]
