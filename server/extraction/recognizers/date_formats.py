"""Ways to write a date, as people name them: DD/MM/YYYY, %d %B %Y, US format."""

from typing import Final

from server.extraction.recognizers.span import Span
from server.extraction.recognizers.tokens import Tokens

_PARTS: Final = frozenset({"d", "dd", "m", "mm", "mmm", "mmmm", "yy", "yyyy"})
_SEPARATORS: Final = frozenset("/.-,")
_NAMED: Final = {
    "us": "MM/DD/YYYY", "american": "MM/DD/YYYY", "usa": "MM/DD/YYYY",
    "european": "DD/MM/YYYY", "eu": "DD/MM/YYYY", "uk": "DD/MM/YYYY", "british": "DD/MM/YYYY",
    "german": "DD.MM.YYYY", "iso": "YYYY-MM-DD",
}  # fmt: skip
_STYLES: Final = frozenset({"format", "style", "notation", "way"})


def find_date_formats(tokens: Tokens) -> list[Span]:
    """Every format of a date in the text, as it was written; named ones by their parts."""
    found: list[Span] = []
    index = 0
    while index < len(tokens):
        word = tokens.words[index]
        last = 0
        if word in _PARTS:
            last = _lettered(tokens, index)
        elif word == "%":
            last = _strftime(tokens, index)
        if last:
            found.append(_span(tokens, index, last, tokens.slice(index, last)))
        elif word in _NAMED and (word == "iso" or tokens.word(index + 1) in _STYLES):
            last = index + 1
            found.append(_span(tokens, index, last, _NAMED[word]))
        index = last or index + 1
    return found


def _span(tokens: Tokens, first: int, last: int, value: str) -> Span:
    start, end = tokens.starts[first], tokens.ends[last - 1]
    return Span("date_format", start, end, first, last, value)


def _lettered(tokens: Tokens, index: int) -> int:
    """Index after at least two of DD, MM, YYYY … with signs or spaces between, or 0."""
    last, parts, long = index, 0, False
    while tokens.word(last) in _PARTS:
        parts += 1
        long = long or len(tokens.words[last]) > 1
        end = last + 1
        last = end
        while tokens.word(last) in _SEPARATORS and last - end < 2:
            last += 1
    return end if parts > 1 and long else 0


def _strftime(tokens: Tokens, index: int) -> int:
    """Index after %d, or %d.%m.%Y, or 0."""
    end, last = 0, index
    while tokens.word(last) == "%" and tokens.glued(last + 1):
        directive = tokens.words[last + 1]
        if not (directive.isalpha() and directive.isascii() and len(directive) == 1):
            break
        end = last + 2
        last = end
        while tokens.word(last) in "/.-,:" and tokens.word(last) and last - end < 2:
            last += 1
    return end
