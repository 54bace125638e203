"""The first stage: every pattern of every category, in one pass of RE2."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import re2

from server.guards.model import Category

_MEMORY: Final = 64 << 20
"""RE2 gives up rather than use more for its automaton; then patterns are tried singly."""

_ALWAYS: Final = ""
"""A pattern that fits every text: a pass that does not report it has given up."""


@dataclass(frozen=True, slots=True)
class PatternHit:
    category: str
    pattern: str


class PatternStage:
    """Finds the first category, in their order, one of whose patterns is in a text."""

    def __init__(self, categories: Sequence[Category]) -> None:
        self._hits = [PatternHit(c.name, pattern) for c in categories for pattern in c.patterns]
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        options.max_mem = _MEMORY
        together = re2.Set.SearchSet(options)
        for pattern in (*(hit.pattern for hit in self._hits), _ALWAYS):
            together.Add(pattern)
        try:
            together.Compile()
        except re2.error:  # too many patterns for one automaton
            together = None
        self._set: re2.Set | None = together
        self._single = [re2.compile(hit.pattern, options) for hit in self._hits]

    def __len__(self) -> int:
        return len(self._hits)

    def find(self, text: str) -> PatternHit | None:
        if not self._hits:
            return None
        found = self._set.Match(text) if self._set else None
        if not found or len(self._hits) not in found:
            found = [n for n, pattern in enumerate(self._single) if pattern.search(text)]
        first = min((n for n in found if n < len(self._hits)), default=None)
        return None if first is None else self._hits[first]
