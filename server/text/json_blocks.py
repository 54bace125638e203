"""JSON arrays and objects in a text, strict or as people write them."""

import json
from string import hexdigits
from typing import Any, Final

from server.text.decimals import Number, read_plain
from server.text.span import Kind, Span

MAX_DEPTH: Final = 64
MAX_FAILURES: Final = 50
"""Brackets that open no JSON, before the rest of a text is left alone."""

_CONTAINERS: Final = frozenset({dict, list})
_CLOSERS: Final = {"[": "]", "{": "}"}
_WORDS: Final[dict[str, Any]] = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None,
}  # fmt: skip
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_BARE: Final = frozenset("_$-+.")


class _Invalid(ValueError):
    """The text is no JSON, not even as people write it."""


def _finite(text: str) -> Number:
    number = read_plain(text)
    if number is None:
        raise _Invalid(text)
    return number


def _refuse(name: str) -> Any:
    raise _Invalid(name)


_DECODER: Final = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse, strict=False)


def find_json(text: str) -> list[Span]:
    """Every outermost array and object of `text` that is JSON, or nearly is.

    Nearly: quotes of either kind, names without quotes, a trailing comma, and
    Python's True, False and None. Plain words in brackets are no JSON.
    """
    found: list[Span] = []
    budget = 4 * len(text) + 10_000
    failures = 0
    openers = _Openers(text)
    start = openers.after(0)
    while start >= 0:
        end, value, cost = _read(text, start)
        budget -= cost
        if end:
            found.append(_block(text, start, end, value))
        else:
            failures += 1
            if failures > MAX_FAILURES or budget < 0:
                break
        start = openers.after(end or start + 1)
    return found


def _block(text: str, start: int, end: int, value: Any) -> Span:
    kind: Kind = "array" if text[start] == "[" else "object"
    if _depth_within(text, start, end, value):
        return Span(kind, start, end, -1, -1, value)
    return Span("unreadable", start, end, -1, -1, "the JSON is nested too deeply", kind)


class _Openers:
    """Finds brackets; one that does not come again is looked for once and no more."""

    __slots__ = ("_ahead", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._ahead = {bracket: -1 for bracket in _CLOSERS if bracket in text}

    def after(self, position: int) -> int:
        """Where the first bracket from `position` on opens, or -1."""
        for bracket, at in list(self._ahead.items()):
            if at < position:
                following = self._text.find(bracket, position)
                if following < 0:
                    del self._ahead[bracket]
                else:
                    self._ahead[bracket] = following
        return min(self._ahead.values(), default=-1)


def _read(text: str, start: int) -> tuple[int, Any, int]:
    """The end and value of the JSON at `start`, end 0 when there is none, and the cost."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as strict:
        cost = strict.pos - start + 1
    except ValueError:  # a number that is none, or has thousands of digits
        return 0, None, len(text) - start
    except RecursionError:
        return 0, None, 10_000
    else:
        return end, value, end - start
    reader = _Lenient(text, start)
    try:
        value = reader.value(0)
    except _Invalid:
        return 0, None, cost + 4 * (reader.at - start)
    return reader.at, value, cost


def _depth_within(text: str, start: int, end: int, value: Any) -> bool:
    if text.count("[", start, end) + text.count("{", start, end) <= MAX_DEPTH:
        return True
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if type(inner) in _CONTAINERS
        ]
        if not level:
            return True
    return False


class _Lenient:
    """Reads JSON as people write it, in one pass."""

    __slots__ = ("at", "text")

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.at = start

    def _peek(self) -> str:
        text, at, length = self.text, self.at, len(self.text)
        while at < length and text[at].isspace():
            at += 1
        self.at = at
        return text[at : at + 1]

    def value(self, depth: int) -> Any:
        opener = self._peek()
        if opener in _CLOSERS and depth < MAX_DEPTH:
            self.at += 1
            return self._array(depth) if opener == "[" else self._object(depth)
        if opener in ("'", '"') and opener:
            return self._string(opener)
        return self._bare_value()

    def _array(self, depth: int) -> list[Any]:
        items: list[Any] = []
        while self._peek() != "]":
            items.append(self.value(depth + 1))
            self._comma("]")
        self.at += 1
        return items

    def _object(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while (mark := self._peek()) != "}":
            key = self._string(mark) if mark in ("'", '"') and mark else self._word()
            if not key or self._peek() != ":":
                raise _Invalid(key)
            self.at += 1
            members[key] = self.value(depth + 1)
            self._comma("}")
        self.at += 1
        return members

    def _comma(self, closer: str) -> None:
        following = self._peek()
        if following == ",":
            self.at += 1
        elif following != closer:
            raise _Invalid(following)

    def _string(self, mark: str) -> str:
        text, parts = self.text, list[str]()
        at = self.at + 1
        while True:
            end = text.find(mark, at)
            if end < 0:
                self.at = len(text)
                raise _Invalid(mark)
            escape = text.find("\\", at, end)
            if escape < 0:
                parts.append(text[at:end])
                self.at = end + 1
                return "".join(parts)
            character, after = _unescape(text, escape)
            parts += text[at:escape], character
            at = after

    def _word(self) -> str:
        text, start, length = self.text, self.at, len(self.text)
        at = start
        while at < length and (text[at].isalnum() or text[at] in _BARE):
            at += 1
        self.at = at
        return text[start:at]

    def _bare_value(self) -> Any:
        word = self._word()
        if word in _WORDS:
            return _WORDS[word]
        number = read_plain(word) if word[:1].isdigit() or word[:1] in "-." else None
        if number is None:
            raise _Invalid(word)
        return number


def _unescape(text: str, at: int) -> tuple[str, int]:
    """The character that the escape at `at` stands for, and where it ends."""
    following = text[at + 1 : at + 2]
    digits = text[at + 2 : at + 6]
    if following == "u" and len(digits) == 4 and all(digit in hexdigits for digit in digits):
        return chr(int(digits, 16)), at + 6
    return _ESCAPES.get(following, following), at + 2
