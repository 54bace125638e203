"""Patterns of a pack: checked together in one pass, then captured one by one.

All of them run on RE2, whose time grows with the text and never with the pattern.
They see text as UTF-8 bytes, so that no offset is converted that nobody asks for.
A match is the list of its spans, that of the whole first and then of each group.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import re2

from server.text.normalizer import NUMBER_MARK

Spans = list[tuple[int, int]]
"""Where a match and its groups begin and end, in bytes; a group without a part has -1."""

_MEMORY_BYTES: Final = 4 << 20
"""For each pattern, used only as far as it is needed."""
_SET_MEMORY_BYTES: Final = 32 << 20
_PLACEHOLDER: Final = re2.compile(r"\{([a-z_]+)\}")

# Not "anything but letters": that takes thousands of steps in UTF-8, too many for a DFA.
_BETWEEN: Final = r"[\s!-/:-@\[-`{-~]"

_BUILT_IN: Final = {
    # In digits or in words; its digits are the group.
    "number": rf"\x{{{ord(NUMBER_MARK):X}}}?(\d[\d,]*)",
    "in_words": rf"\x{{{ord(NUMBER_MARK):X}}}",
    "any_number": rf"\x{{{ord(NUMBER_MARK):X}}}?\d[\d,]*",
    "start": rf"(?:^|{_BETWEEN})",
    "end": rf"(?:$|{_BETWEEN})",
}


class PatternInvalid(ValueError):
    """A pattern that cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class PackPattern:
    """`number` is its place in the set; `names` are its named groups.

    `inner` is its first group, or all of it where it has none.
    """

    number: int
    names: Mapping[str, int]
    inner: int
    compiled: Any

    def search(self, data: bytes, start: int = 0) -> Spans | None:
        """Return the first match that begins at `start` or later."""
        match = self.compiled.search(data, start)
        return None if match is None else _spans(match)

    def all(self, data: bytes, most: int) -> Iterator[Spans]:
        """Yield matches from left to right; the next may begin where a first group ends."""
        start = 0
        for _ in range(most):
            match = self.compiled.search(data, start)
            if match is None:
                return
            yield _spans(match)
            start = max(match.end(self.inner), start + 1)
            if start > len(data):
                return


class PatternSet:
    """Collects patterns, then tells in one pass which of them a text matches.

    `definitions` are named parts that patterns use as `{name}`.
    """

    def __init__(self, fold: Callable[[str], str], definitions: Mapping[str, str]) -> None:
        self._fold = fold
        self._definitions = _BUILT_IN | dict(definitions)
        self._set = re2.Set.SearchSet(_options(_SET_MEMORY_BYTES))
        self._patterns: dict[str, PackPattern] = {}

    def another(self) -> "PatternSet":
        """Return an empty set with the same definitions, for other text."""
        return PatternSet(self._fold, self._definitions)

    def add(self, source: str) -> PackPattern:
        """Compile a pattern, once for each source.

        Raises:
            PatternInvalid: it is not RE2 syntax, or uses a name that is not defined.
        """
        if source not in self._patterns:
            expanded = self._expand(source).encode()
            try:
                compiled = re2.compile(expanded, _options(_MEMORY_BYTES))
            except re2.error as refused:
                why = refused.args[0]
                raise PatternInvalid(why.decode() if isinstance(why, bytes) else why) from None
            names = {name.decode(): group for name, group in compiled.groupindex.items()}
            number = self._set.Add(expanded)
            self._patterns[source] = PackPattern(number, names, min(1, compiled.groups), compiled)
        return self._patterns[source]

    def freeze(self) -> None:
        """Make the set ready; nothing can be added afterwards.

        Raises:
            PatternInvalid: all patterns together take more memory than a set may.
        """
        try:
            if self._patterns:
                self._set.Compile()
        except re2.error:
            what = f"{len(self._patterns)} patterns are too many for one set"
            raise PatternInvalid(what) from None

    def matching(self, data: bytes) -> frozenset[int]:
        """Return the numbers of the patterns that `data` matches."""
        return frozenset(self._set.Match(data) or ()) if self._patterns else frozenset()

    def _expand(self, source: str) -> str:
        folded = self._fold(source)
        for _ in range(8):  # definitions may use others, but not without end
            names = [match.group(1) for match in _PLACEHOLDER.finditer(folded)]
            if not names:
                return folded
            for name in names:
                if name not in self._definitions:
                    known = ", ".join(f"{{{known}}}" for known in sorted(self._definitions))
                    raise PatternInvalid(f"{{{name}}} is not defined; there are {known}")
                part = self._definitions[name]
                folded = folded.replace(
                    f"{{{name}}}", part if name in _BUILT_IN else f"(?:{self._fold(part)})"
                )
        raise PatternInvalid("its definitions use each other without end")


def alternatives(words: Iterable[str]) -> str:
    """Return a pattern that matches any of these words, longer ones first."""
    return "|".join(re2.escape(word) for word in sorted(set(words), key=lambda w: (-len(w), w)))


def _spans(match: Any) -> Spans:
    return [match.span(group) for group in range(match.re.groups + 1)]


def _options(memory_bytes: int) -> Any:
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = memory_bytes
    return options
