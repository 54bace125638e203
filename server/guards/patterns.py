"""The first stage: every pattern of every category, in one pass of RE2."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import re2

from server.errors import OrbitError
from server.guards.model import Category
from server.library.expressions import pattern_problem

_MEMORY: Final = 64 << 20
"""RE2 gives up rather than use more for its automaton; then patterns are tried singly."""

_ALWAYS: Final = ""
"""A pattern that fits every text: a pass that does not report it has given up."""


class PatternRefused(OrbitError):
    """A pattern that RE2 cannot compile."""

    code = "pattern_refused"


@dataclass(frozen=True, slots=True)
class PatternHit:
    category: str
    pattern: str


class PatternStage:
    """Tells the first category, in their order, one of whose patterns is in a text."""

    def __init__(self, categories: Sequence[Category]) -> None:
        self._of = [PatternHit(c.name, pattern) for c in categories for pattern in c.patterns]
        options = _options()
        together = re2.Set.SearchSet(options)
        for hit in self._of:
            problem = pattern_problem(hit.pattern)
            if problem is not None:
                raise PatternRefused(f"pattern of {hit.category!r} cannot be used: {problem}")
            together.Add(hit.pattern)
        together.Add(_ALWAYS)
        self._set = _compiled(together)
        self._single = [re2.compile(hit.pattern, options) for hit in self._of]

    def __len__(self) -> int:
        return len(self._of)

    def find(self, text: str) -> PatternHit | None:
        """`text` is normalized."""
        if not self._of:
            return None
        found = self._set.Match(text) if self._set else None
        if not found or len(self._of) not in found:
            found = [n for n, pattern in enumerate(self._single) if pattern.search(text)]
        first = min((n for n in found if n < len(self._of)), default=None)
        return None if first is None else self._of[first]


def _compiled(together: re2.Set) -> re2.Set | None:
    """None when the patterns are too many for one automaton."""
    try:
        together.Compile()
    except re2.error:
        return None
    return together


def _options() -> re2.Options:
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MEMORY
    return options
