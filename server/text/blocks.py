"""Parts of a text that are one thing each: JSON, tables, quotes, web and email addresses.

Every search goes through a text once, with nothing to go back to, however hostile it is.
"""

import json
import re
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, Final

from server.text.decimals import Number, read_plain
from server.text.tables import find_tables
from server.text.tokens import Kind, Span

_MAX_DEPTH: Final = 64
_MAX_FAILURES: Final = 50
"""Brackets that open no JSON, before the rest of a text is left alone."""


def find_blocks(text: str) -> list[Span]:
    """Return JSON, tables, quotes, URLs and emails, none inside another, in order."""
    blocks: list[Span] = []
    for find in _FINDERS:
        more, position = list[Span](), 0
        for block in (*blocks, None):
            end = block.start if block else len(text)
            more += [
                span._replace(start=span.start + position, end=span.end + position)
                for span in find(text[position:end])
            ]
            position = block.end if block else end
        if more:
            blocks = sorted(blocks + more, key=attrgetter("start"))
    return blocks


def _block(kind: Kind, start: int, end: int, value: Any, unit: str = "") -> Span:
    return Span(kind, start, end, -1, -1, value, unit)


_CLOSERS: Final = {'"': '"', "“": "”", "„": "[“”]", "«": "»", "‘": "’", "'": "'", "`": "`"}
# An apostrophe inside a word closes nothing.
_CLOSING: Final = {
    mark: re.compile(rf"(?<!\s){closer}(?![^\W_])" if closer in "'’" else closer)
    for mark, closer in _CLOSERS.items()
}
_OPENING: Final = re.compile(r"""(?<![^\s(\[{,;:=>/—–-])["“„«‘'`](?=\S)""")


def find_quotes(text: str) -> Iterator[Span]:
    """Yield everything between quotation marks, without the marks in `value`."""
    hopeless: set[str] = set()
    position = 0
    for opening in _OPENING.finditer(text):
        start, mark = opening.start(), opening[0]
        if start < position or mark in hopeless:
            continue
        closing = _CLOSING[mark].search(text, start + 1)
        if closing is None:
            hopeless.add(mark)
        elif value := text[start + 1 : closing.start()]:
            yield _block("quoted", start, closing.end(), value)
            position = closing.end()


_LOCAL_PART: Final = re.compile(r"(?<![\w.+%-])[\w.+%-]++@")
_DOMAIN: Final = re.compile(r"(?:[^\W_]|[.-]){1,253}")
_LONGEST_LOCAL: Final = 64


def find_emails(text: str) -> Iterator[Span]:
    """Yield addresses such as kim@example.org."""
    end = 0
    for match in _LOCAL_PART.finditer(text):
        at = match.end() - 1
        if match.start() < end:
            continue
        local = match[0][:-1][-_LONGEST_LOCAL:].lstrip("+-._%")
        found = _DOMAIN.match(text, at + 1)
        domain = found[0].rstrip(".-") if found else ""
        name, _, top = domain.rpartition(".")
        if local and name and ".." not in name and len(top) > 1 and top.isalpha():
            start, end = at - len(local), at + 1 + len(domain)
            yield _block("email", start, end, text[start:end])


_URL: Final = re.compile(r"(?<![^\W_])((?:(?i:https?|ftp)://|www\.))([^\s\"<>`{}|\\^“”«»]{1,2048})")


def find_urls(text: str) -> Iterator[Span]:
    """Yield addresses that begin with a scheme or with www."""
    for match in _URL.finditer(text):
        rest = match[2].rstrip(".,;:!?'’")
        while rest.endswith(")") and rest.count(")") > rest.count("("):
            rest = rest[:-1]
        if rest:
            yield _block("url", match.start(), match.start(2) + len(rest), match[1] + rest)


_BRACKET: Final = re.compile(r"[\[{]")
_CONTAINERS: Final = frozenset({dict, list})
_WORDS: Final[dict[str, Any]] = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None,
}  # fmt: skip
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ESCAPE: Final = re.compile(r"\\u([0-9A-Fa-f]{4})|\\(.)", re.DOTALL)
_PIECE: Final = re.compile(
    r"""\s*(?:(?P<mark>["'])(?P<quoted>(?:\\.|(?!(?P=mark))[^\\])*)(?P=mark)"""
    r"|(?P<word>[\w$+.-]+)|(?P<sign>\S))",
    re.DOTALL,
)


class _NotJson(ValueError):
    """The text is no JSON, not even as people write it."""


def _finite(text: str) -> Number:
    number = read_plain(text)
    if number is None:
        raise _NotJson(text)
    return number


_DECODER: Final = json.JSONDecoder(parse_float=_finite, parse_constant=_finite, strict=False)


def find_json(text: str) -> Iterator[Span]:
    """Yield every outermost array and object of `text` that is JSON, or nearly is.

    Nearly: quotes of either kind, names without quotes, a trailing comma, and
    Python's True, False and None. Plain words in brackets are no JSON.
    """
    budget = 4 * len(text) + 10_000
    failures = position = 0
    while failures <= _MAX_FAILURES and budget >= 0:
        bracket = _BRACKET.search(text, position)
        if bracket is None:
            break
        start = bracket.start()
        end, value, cost = _read_json(text, start)
        budget -= cost
        position = end or start + 1
        if not end:
            failures += 1
            continue
        kind: Kind = "array" if text[start] == "[" else "object"
        if _is_deep(value):
            yield _block("unreadable", start, end, "the JSON is nested too deeply", kind)
        else:
            yield _block(kind, start, end, value)


def find_pasted(text: str) -> Iterator[Span]:
    """Yield every table that is pasted as CSV or Markdown, as the array of rows that it is."""
    for table in find_tables(text):
        if table.problem:
            yield _block("unreadable", table.start, table.end, table.problem, "array")
        else:
            yield _block("array", table.start, table.end, table.rows)


_FINDERS: Final[tuple[Callable[[str], Iterator[Span]], ...]] = (
    find_json,
    find_pasted,
    find_quotes,
    find_urls,
    find_emails,
)


def _read_json(text: str, start: int) -> tuple[int, Any, int]:
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
    reader = _LenientJson(text, start)
    try:
        value = reader.value(0)
    except _NotJson:
        return 0, None, cost + 4 * (reader.at - start)
    return reader.at, value, cost


def _is_deep(value: Any) -> bool:
    """Whether containers stand in one another more than `_MAX_DEPTH` deep."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if type(inner) in _CONTAINERS
        ]
        if not level:
            return False
    return True


class _LenientJson:
    """Reads JSON as people write it, in one pass."""

    def __init__(self, text: str, start: int) -> None:
        self.text, self.at = text, start

    def value(self, depth: int, piece: re.Match[str] | None = None) -> Any:
        piece = piece or self._next()
        if piece["mark"]:
            return _string(piece)
        if piece["sign"] in ("[", "{") and depth < _MAX_DEPTH:
            return self._array(depth) if piece["sign"] == "[" else self._object(depth)
        word = piece["word"] or ""
        if word in _WORDS:
            return _WORDS[word]
        number = read_plain(word) if word[:1].isdigit() or word[:1] in "-." else None
        if number is None:
            raise _NotJson(word)
        return number

    def _next(self) -> re.Match[str]:
        piece = _PIECE.match(self.text, self.at)
        if piece is None:
            raise _NotJson("it has no end")
        self.at = piece.end()
        return piece

    def _members(self, closer: str) -> Iterator[re.Match[str]]:
        """Yield the first piece of each member, up to the bracket that closes them."""
        while (piece := self._next())["sign"] != closer:
            yield piece
            if (after := self._next())["sign"] == closer:
                return
            if after["sign"] != ",":
                raise _NotJson(after[0])

    def _array(self, depth: int) -> list[Any]:
        return [self.value(depth + 1, piece) for piece in self._members("]")]

    def _object(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for piece in self._members("}"):
            key = _string(piece) if piece["mark"] else piece["word"]
            if not key or self._next()["sign"] != ":":
                raise _NotJson(key)
            members[key] = self.value(depth + 1)
        return members


def _string(piece: re.Match[str]) -> str:
    return _ESCAPE.sub(
        lambda found: chr(int(found[1], 16)) if found[1] else _ESCAPES.get(found[2], found[2]),
        piece["quoted"],
    )
