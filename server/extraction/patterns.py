"""Patterns that authors write, on RE2: no pattern and no text can make one slow."""

from collections.abc import Iterator
from typing import Any, Final

import re2

_MAX_MATCHES: Final = 200
"""Matches of one pattern that are looked at in one text."""


class Pattern:
    """One pattern, ready to search; letters match in either case.

    What it captures is the group called like the parameter or `value` if there is one,
    else the first group that took part, else the whole match.
    """

    __slots__ = ("_bytes", "_groups", "_named", "_text")

    def __init__(self, source: str, parameter: str = "value") -> None:
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        self._text = re2.compile(source, options)
        # Byte offsets are character offsets in ASCII text, and save RE2's wrapper from
        # counting characters on every search.
        self._bytes = re2.compile(source.encode(), options)
        names = self._text.groupindex
        self._named: int = names.get(parameter) or names.get("value") or 0
        self._groups: int = self._text.groups

    def captures(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the value stands, for each match that captures anything, in order."""
        matches: Any
        if text.isascii():
            matches = self._bytes.finditer(text.encode())
        else:
            matches = self._text.finditer(text)
        for count, match in enumerate(matches):
            if count >= _MAX_MATCHES:
                return
            start, end = self._captured(match)
            if start < end:
                yield start, end

    def _captured(self, match: Any) -> tuple[int, int]:
        if self._named:
            named: tuple[int, int] = match.span(self._named)
            return named
        for group in range(1, self._groups + 1):
            start, end = match.span(group)
            if start >= 0:
                return start, end
        whole: tuple[int, int] = match.span()
        return whole
