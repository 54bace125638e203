"""Which parts of a pack a question can set off at all, by the signs that it shows."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Final, Generic, NamedTuple, TypeVar

Part = TypeVar("Part")

_REMEMBERED: Final = 1024
"""Selections of parts that are kept: questions of one kind set off the same ones."""


class Signs(NamedTuple):
    """A question sets a part off only by one of these `patterns`, or of these `phrases`."""

    patterns: Iterable[int] = ()
    phrases: Iterable[Hashable] = ()
    always: bool = False


class SignIndex(Generic[Part]):
    """Parts by their signs. What a sign can set off is a number with a bit for each part."""

    def __init__(self, parts: Sequence[Part], signs_of: Callable[[Part], Signs]) -> None:
        self.parts = tuple(parts)
        self._always = 0
        self._by_pattern: dict[int, int] = {}
        self._by_phrase: dict[Hashable, int] = {}
        self._selected = lru_cache(_REMEMBERED)(self._select)
        for place, part in enumerate(parts):
            bit = 1 << place
            signs = signs_of(part)
            for number in signs.patterns:
                self._by_pattern[number] = self._by_pattern.get(number, 0) | bit
            for phrase in signs.phrases:
                self._by_phrase[phrase] = self._by_phrase.get(phrase, 0) | bit
            if signs.always:
                self._always |= bit

    def shown(
        self, patterns: Iterable[int], phrases: Iterable[Hashable], also: Hashable = None
    ) -> tuple[Part, ...]:
        """Parts with one of these signs, or with the phrase `also`, in their order."""
        bits = self._always
        by_pattern, by_phrase = self._by_pattern, self._by_phrase
        for number in patterns:
            if number in by_pattern:
                bits |= by_pattern[number]
        for phrase in phrases:
            if phrase in by_phrase:
                bits |= by_phrase[phrase]
        if also is not None and also in by_phrase:
            bits |= by_phrase[also]
        return self._selected(bits)

    def _select(self, bits: int) -> tuple[Part, ...]:
        return tuple(part for place, part in enumerate(self.parts) if bits >> place & 1)
