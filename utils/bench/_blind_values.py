"""Whether the intent that was detected has the values that are expected."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from typing import Any, Final

_DAY: Final = re.compile(r"\{(today|year)([+-]\d+)?\}")
_ARTICLE: Final = "ה"
_PREFIXES: Final = "הלבמ"
"""Letters that Hebrew joins to the front of a word."""


def value_of(result: Mapping[str, Any], name: str) -> Any:
    """A field of a detection: of its own, among its entities or among its flags."""
    for part in (result, result.get("entities") or {}, result.get("route_flags") or {}):
        if name in part:
            return part[name]
    return None


def agrees(name: str, expected: Any, found: Any, today: date) -> bool:
    """Return whether a field has the value that is expected of it, or one of several such values.

    Ministries and what is compared have no order, and topics no article.
    """
    match expected:
        case {"one_of": choices}:
            return any(agrees(name, choice, found, today) for choice in choices)
        case Mapping():
            return isinstance(found, Mapping) and all(
                _same_day(day, found.get(end), today) for end, day in expected.items()
            )
        case list():
            return isinstance(found, list) and sorted(map(plain, expected)) == sorted(
                map(plain, found)
            )
        case bool():
            return bool(found) is expected
        case str() if isinstance(found, str):
            return _text_of(name, expected) == _text_of(name, found)
    return bool(expected == found and not isinstance(found, bool))


def is_empty(found: Any) -> bool:
    """Return whether a field says nothing; 0 and False do."""
    return found is None or found in ("", [], {})


def plain(text: Any) -> str:
    """A text without points, marks of direction, case, and other ways to write a quote or space."""
    known = unicodedata.normalize("NFKC", str(text))
    written = "".join(c for c in known if unicodedata.category(c) not in ("Mn", "Cf"))
    return " ".join(re.sub("[״“”]", '"', written).casefold().split())


def _text_of(name: str, text: str) -> object:
    if name == "topic":
        return _without_article(text)
    if name == "comparison_target" and ":" in text:
        what, _, parts = text.partition(":")
        return what, sorted(map(_without_article, parts.split(",")))
    return plain(text)


def _without_article(text: str) -> str:
    words = plain(text).split()
    return " ".join(w.removeprefix(_ARTICLE) if len(w) > 3 else w for w in words)


# ── days ─────────────────────────────────────────────────────────────────────────────


def _same_day(expected: Any, found: Any, today: date) -> bool:
    if not isinstance(found, str):
        return False
    ends = expected if isinstance(expected, Mapping) else {"from": expected, "to": expected}
    return _day(ends["from"], today) <= found[:10] <= _day(ends["to"], today)


def _day(written: str, today: date) -> str:
    """A day as text, with `{today-30}` and `{year-1}` worked out."""

    def worked_out(found: re.Match[str]) -> str:
        by = int(found[2] or 0)
        if found[1] == "year":
            return str(today.year + by)
        return (today + timedelta(days=by)).isoformat()

    return _DAY.sub(worked_out, written)


# ── words that must not get lost ─────────────────────────────────────────────────────


def is_told(words: str, texts: Iterable[str]) -> bool:
    """Return whether words stand in one of some plain texts: numbers alone, other words in part."""
    sought = plain(words)
    if sought.isdigit():
        return any(sought in re.findall(r"\d+", text) for text in texts)
    if len(sought) > 4 and sought[0] in _PREFIXES:
        sought = sought[1:]
    return any(sought in text for text in texts)


def texts_in(value: Any) -> Iterator[str]:
    """Every text and number in a value, as plain text."""
    match value:
        case None | bool():
            return
        case Mapping():
            for each in value.values():
                yield from texts_in(each)
        case list() | tuple():
            for each in value:
                yield from texts_in(each)
        case _:
            yield plain(value)
