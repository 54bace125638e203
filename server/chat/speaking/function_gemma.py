"""The call format of FunctionGemma, for servers that pass it on as text.

    <start_function_call>call:name{key:<escape>text<escape>,other:5}<end_function_call>

Texts stand between `<escape>` marks and may hold anything else, braces and JSON included.
Other values are numbers, true, false, null, `[…]` and `{…}`. Whatever does not read as a
call is passed over; nothing raises.
"""

import math
from typing import Any, Final

from server.core.chat_messages import FunctionCall

_START: Final = "<start_function_call>"
_END: Final = "<end_function_call>"
_ESCAPE: Final = "<escape>"

_MAX_CHARS: Final = 100_000
_MAX_CALLS: Final = 32
_MAX_DEPTH: Final = 32

_WORDS: Final = {"true": True, "false": False, "null": None, "None": None}


class _Unreadable(Exception):
    """The text is no call from here on."""


def parse_calls(text: str) -> tuple[FunctionCall, ...]:
    """Every call that a text holds, in order; a last one may lack its end mark."""
    calls: list[FunctionCall] = []
    text = text[:_MAX_CHARS]
    place = text.find(_START)
    while place >= 0 and len(calls) < _MAX_CALLS:
        place += len(_START)
        reader = _Reader(text, place)
        try:
            calls.append(reader.call())
            place = reader.place
        except _Unreadable:
            pass
        place = text.find(_START, place)
    return tuple(calls)


class _Reader:
    """Reads one call from a place in a text on."""

    def __init__(self, text: str, place: int) -> None:
        self._text = text
        self.place = place

    def call(self) -> FunctionCall:
        self._skip()
        self._take("call:")
        brace = self._text.find("{", self.place)
        name = self._text[self.place : brace].strip() if brace >= 0 else ""
        if not name or not name.replace("_", "").replace("-", "").replace(".", "").isalnum():
            raise _Unreadable
        self.place = brace
        arguments = self._mapping(0)
        self._skip()
        if self._text.startswith(_END, self.place):
            self.place += len(_END)
        return FunctionCall(name, arguments)

    def _value(self, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise _Unreadable
        self._skip()
        if self._text.startswith(_ESCAPE, self.place):
            return self._escaped()
        match self._text[self.place : self.place + 1]:
            case "{":
                return self._mapping(depth + 1)
            case "[":
                return self._sequence(depth + 1)
        return self._plain()

    def _escaped(self) -> str:
        begin = self.place + len(_ESCAPE)
        end = self._text.find(_ESCAPE, begin)
        if end < 0:
            raise _Unreadable
        self.place = end + len(_ESCAPE)
        return self._text[begin:end]

    def _mapping(self, depth: int) -> dict[str, Any]:
        self._take("{")
        found: dict[str, Any] = {}
        while not self._closed("}"):
            key = self._key()
            found[key] = self._value(depth)
            self._comma("}")
        return found

    def _sequence(self, depth: int) -> list[Any]:
        self._take("[")
        found: list[Any] = []
        while not self._closed("]"):
            found.append(self._value(depth))
            self._comma("]")
        return found

    def _key(self) -> str:
        self._skip()
        if self._text.startswith(_ESCAPE, self.place):
            key = self._escaped()
            self._skip()
        else:
            colon = self._text.find(":", self.place)
            key = self._text[self.place : colon].strip() if colon >= 0 else ""
            self.place = colon
            if not key or any(mark in key for mark in "{}[],<>"):
                raise _Unreadable
        self._take(":")
        return key

    def _plain(self) -> Any:
        begin = self.place
        while self.place < len(self._text) and self._text[self.place] not in ",:}]<":
            self.place += 1
        word = self._text[begin : self.place].strip()
        if not word:
            raise _Unreadable
        return _WORDS[word] if word in _WORDS else _number(word)

    def _closed(self, mark: str) -> bool:
        self._skip()
        if self._text.startswith(mark, self.place):
            self.place += 1
            return True
        return False

    def _comma(self, close: str) -> None:
        """A comma, or the end that follows."""
        self._skip()
        if self._text.startswith(",", self.place):
            self.place += 1
        elif not self._text.startswith(close, self.place):
            raise _Unreadable

    def _take(self, mark: str) -> None:
        if not self._text.startswith(mark, self.place):
            raise _Unreadable
        self.place += len(mark)

    def _skip(self) -> None:
        while self._text[self.place : self.place + 1].isspace():
            self.place += 1


def _number(word: str) -> Any:
    """A number, or the word itself: some models leave the marks of a text out."""
    for kind in (int, float):
        try:
            value = kind(word) if len(word) <= 60 else word
        except ValueError:
            continue
        if isinstance(value, int | str) or math.isfinite(value):
            return value
    return word
