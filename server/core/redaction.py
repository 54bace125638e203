"""Redaction of sensitive values, for logs, audit, trace, errors and metadata alike."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote, quote_plus

from server.core.tools import Source

REDACTED: Final = "[REDACTED]"

_LEAST_CHARS: Final = 4
"""Shorter texts are redacted where they are a whole value, and not inside other text."""

_SIGNS_OF_A_CUT: Final = 8
"""Characters of a longer secret that give it away when a message cuts it short."""


class Redactor:
    """Redacts the parameters of `names`, and the values given for them, wherever they appear.

    A name means a key at any depth; `customer.card` means the `card` within `customer`.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.paths = tuple(tuple(name.split(".")) for name in names)

    def covers(self, name: str) -> bool:
        """Whether that parameter, or a part of it, is sensitive."""
        return any(name in path for path in self.paths)

    def arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments with every sensitive value replaced, nested ones too."""
        return self._hidden(arguments, ()) if self.paths else dict(arguments)

    def secrets(self, arguments: Mapping[str, Any]) -> "Secrets":
        """Return every text and number that is sensitive in the arguments."""
        return Secrets(self._sensitive_values(arguments, ()) if self.paths else ())

    def sources(self, sources: Mapping[str, Source]) -> dict[str, Source]:
        """Return the sources without the words that sensitive values were read from."""
        return {
            name: replace(source, text=REDACTED)
            if source.text is not None and self.covers(name)
            else source
            for name, source in sources.items()
        }

    def _sensitive(self, path: tuple[str, ...]) -> bool:
        return any(path[-len(wanted) :] == wanted for wanted in self.paths)

    def _hidden(self, value: Any, path: tuple[str, ...]) -> Any:
        if self._sensitive(path):
            return REDACTED
        if isinstance(value, Mapping):
            return {key: self._hidden(item, (*path, str(key))) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._hidden(item, path) for item in value]
        return value

    def _sensitive_values(self, value: Any, path: tuple[str, ...]) -> Iterator[Any]:
        if self._sensitive(path):
            yield from _leaves(value)
        elif isinstance(value, Mapping):
            for key, item in value.items():
                yield from self._sensitive_values(item, (*path, str(key)))
        elif isinstance(value, list | tuple):
            for item in value:
                yield from self._sensitive_values(item, path)


class Secrets:
    """Sensitive values, to be found in data of any shape."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._values = {str(value) for value in values} - {""}
        long = [value for value in self._values if len(value) >= _LEAST_CHARS]
        spellings = {spelling for value in long for spelling in _spellings(value)}
        self._spellings = [
            (re.compile(re.escape(each[:_SIGNS_OF_A_CUT]), re.IGNORECASE), each)
            for each in sorted(spellings, key=len, reverse=True)
        ]

    def __bool__(self) -> bool:
        return bool(self._values)

    def text(self, text: str) -> str:
        """Return the text without the values, however quoted, and without their beginnings."""
        if text in self._values:
            return REDACTED
        for beginning, spelling in self._spellings:
            text = _without_spelling(text, beginning, spelling)
        return text

    def data(self, value: Any) -> Any:
        """Return JSON-like data without the values, as keys or as values."""
        if not self._values:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {
                self.text(key) if isinstance(key, str) else key: self.data(item)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple | set | frozenset):
            return [self.data(item) for item in value]
        if value is None or isinstance(value, bool):
            return value
        shown = str(value)
        return value if self.text(shown) == shown else REDACTED


NO_SECRETS: Final = Secrets(())


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield value


def _spellings(value: str) -> set[str]:
    """Return a text as messages may quote it: as it is, in JSON, Python, a URL, or on one line."""
    return {
        value,
        value.strip() or value,
        " ".join(value.split()) or value,
        repr(value)[1:-1],
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        quote(value, safe="", errors="replace"),
        quote_plus(value, errors="replace"),
    }


def _without_spelling(text: str, beginning: re.Pattern[str], spelling: str) -> str:
    kept: list[str] = []
    place = 0
    while (found := beginning.search(text, place)) is not None:
        end, known = found.end(), found.end() - found.start()
        while (
            known < len(spelling)
            and end < len(text)
            and text[end].lower() == spelling[known].lower()
        ):
            end, known = end + 1, known + 1
        kept += [text[place : found.start()], REDACTED]
        place = end
    return "".join([*kept, text[place:]]) if kept else text
