"""Parts of a text that are one thing each: quotes, web addresses, email addresses."""

from typing import Final

from server.text.span import Span

_PAIRS: Final = {'"': '"', "“": "”", "„": "“”", "«": "»", "‘": "’", "'": "'", "`": "`"}
_BEFORE_A_QUOTE: Final = frozenset("([{,;:=>/-—–")
_LOCAL: Final = frozenset("+-._%")
_LONGEST_LOCAL: Final = 64
_LONGEST_DOMAIN: Final = 253
_LONGEST_URL: Final = 2048
_URL_ENDS: Final = frozenset(' \t\r\n\f\v"<>`{}|\\^“”«»')
_SCHEMES: Final = ("https", "http", "ftp")
_MAX_ATTEMPTS: Final = 2_000
"""Marks looked at before the rest of a text is left alone."""


def find_quotes(text: str) -> list[Span]:
    """Everything between quotation marks, without the marks in `value`."""
    found: list[Span] = []
    hopeless: set[str] = set()
    ahead = {mark: at for mark in _PAIRS if (at := text.find(mark)) >= 0}
    position = 0
    for _ in range(_MAX_ATTEMPTS):
        start = _next(text, ahead, position)
        if start < 0:
            break
        mark = text[start]
        position = start + 1
        if mark in hopeless or not _opens(text, start):
            continue
        end = _closing(text, start, _PAIRS[mark])
        if end < 0:
            hopeless.add(mark)
        elif text[start + 1 : end].strip():
            found.append(Span("quoted", start, end + 1, -1, -1, text[start + 1 : end]))
            position = end + 1
    return found


def _next(text: str, ahead: dict[str, int], position: int) -> int:
    """Where the first of the marks in `ahead` stands from `position` on, or -1.

    `ahead` remembers where each mark was last seen, so that a mark which does not
    come again is looked for once and no more.
    """
    for mark, at in list(ahead.items()):
        if at < position:
            following = text.find(mark, position)
            if following < 0:
                del ahead[mark]
            else:
                ahead[mark] = following
    return min(ahead.values(), default=-1)


def _opens(text: str, start: int) -> bool:
    if start and not (text[start - 1].isspace() or text[start - 1] in _BEFORE_A_QUOTE):
        return False
    return start + 1 < len(text) and not text[start + 1].isspace()


def _closing(text: str, start: int, closers: str) -> int:
    """Where the quote that opens at `start` ends, or -1."""
    if closers not in ("'", "’"):
        ends = [at for closer in closers if (at := text.find(closer, start + 1)) >= 0]
        return min(ends, default=-1)
    at = text.find(closers, start + 1)
    while at >= 0:  # an apostrophe inside a word closes nothing
        after = text[at + 1 : at + 2]
        if not after.isalnum() and not text[at - 1].isspace():
            return at
        at = text.find(closers, at + 1)
    return -1


def find_emails(text: str) -> list[Span]:
    """Addresses such as kim@example.org."""
    found: list[Span] = []
    end = 0
    for _ in range(_MAX_ATTEMPTS):
        at = text.find("@", end)
        if at < 0:
            break
        start = at
        while start and at - start < _LONGEST_LOCAL and _is_local(text[start - 1]):
            start -= 1
        while start < at and text[start] in _LOCAL:
            start += 1
        end = at + 1
        while end < len(text) and end - at <= _LONGEST_DOMAIN and _is_domain(text[end]):
            end += 1
        while end > at + 1 and text[end - 1] in ".-":
            end -= 1
        name, dot, top = text[at + 1 : end].rpartition(".")
        if start < at and dot and name and ".." not in name and len(top) > 1 and top.isalpha():
            found.append(Span("email", start, end, -1, -1, text[start:end]))
    return found


def _is_local(character: str) -> bool:
    return character.isalnum() or character in _LOCAL


def _is_domain(character: str) -> bool:
    return character.isalnum() or character in ".-"


def find_urls(text: str) -> list[Span]:
    """Addresses that begin with a scheme or with www."""
    found: list[Span] = []
    ahead = {mark: at for mark in ("://", "www.") if (at := text.find(mark)) >= 0}
    position = 0
    for _ in range(_MAX_ATTEMPTS):
        at = _next(text, ahead, position)
        if at < 0:
            break
        start = _start_of_scheme(text, at) if text[at] == ":" else at
        end = _end_of_url(text, at)
        position = max(end, at + 3)
        starts_well = start >= 0 and not (start and text[start - 1].isalnum())
        if starts_well and end > at + (3 if text[at] == ":" else 4):
            found.append(Span("url", start, end, -1, -1, text[start:end]))
    return found


def _start_of_scheme(text: str, at: int) -> int:
    for scheme in _SCHEMES:
        start = at - len(scheme)
        if start >= 0 and text[start:at].lower() == scheme:
            return start
    return -1


def _end_of_url(text: str, at: int) -> int:
    end, limit = at, min(len(text), at + _LONGEST_URL)
    while end < limit and text[end] not in _URL_ENDS and not text[end].isspace():
        end += 1
    while end > at and text[end - 1] in ".,;:!?'’":
        end -= 1
    opened, closed = text.count("(", at, end), text.count(")", at, end)
    while end > at and text[end - 1] == ")" and closed > opened:
        end, closed = end - 1, closed - 1
    return end
