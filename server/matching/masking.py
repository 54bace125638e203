"""What a question is about, without the values it carries.

"What is 15% of 200?" and "What is 7% of 80?" ask for the same thing, but to an encoder
the numbers are half of the text, and a JSON table drowns the sentence around it. Each
value is replaced by one fixed value of its kind, which an encoder knows how to read.
Questions and examples go through the same mask.
"""

import re
from collections.abc import Iterator
from typing import Final

from server.matching import normalization
from server.text.dates import MONTH_PATTERN
from server.text.language import load_language

_NUMBERS: Final = load_language("en").numbers
_MONTH: Final = rf"(?:{MONTH_PATTERN})\b\.?"
_NUMBER_WORDS: Final = (
    *(word for word, value in _NUMBERS.words.items() if value > 1 and " " not in word),
    *_NUMBERS.multipliers,
)
_NUMBER_WORD: Final = rf"(?:{'|'.join(sorted(_NUMBER_WORDS, key=len, reverse=True))})\b"
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"

_KINDS: Final[tuple[tuple[str, str, str], ...]] = (
    ("url", r"https?://\S+", "https://example.org"),
    ("email", r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", "name@example.org"),
    (
        "date",
        rf"(?:\d{{4}}-\d{{1,2}}-\d{{1,2}}(?:[t ]\d{{1,2}}:\d\d[\d:.]*z?(?:[+-]\d\d:?\d\d)?)?"
        r"|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])"
        rf"|\d{{1,4}}[/.]\d{{1,2}}[/.]\d{{1,4}}"
        rf"|{_MONTH}\s+{_DAY}(?:,?\s+\d{{4}})?"
        rf"|{_DAY}[\s-]+(?:of\s+)?{_MONTH}(?:[\s,-]+\d{{4}})?)(?!\w)",
        "2025-01-01",
    ),
    ("time", r"\d{1,2}:\d\d(?::\d\d)?\b", "10:30"),
)
_NUMBER: Final = "10"
# What can begin at few places is asked first: this is tried at every letter of a question.
_VALUES: Final = re.compile(
    rf"\b(?:{'|'.join(f'(?P<{kind}>{pattern})' for kind, pattern, _ in _KINDS)})"
    r"|(?P<number>\d(?:(?<![\w.]\d)|(?<=\dx\d))[\d.,]*(?<![.,]))"
)
_STANDS_FOR: Final = {kind: text for kind, _, text in _KINDS} | {"number": _NUMBER}
_HAS_VALUE: Final = re.compile(r"[\d@:]")
_WORDS: Final = re.compile(rf"\b{_NUMBER_WORD}(?:(?:\s+|-){_NUMBER_WORD})*\b")
_LIST: Final = re.compile(r"\b10(?:(?:\s*,\s*|\s+(?:and\s+)?|\s*,\s*and\s+)10\b){2,}")

_QUOTED: Final = re.compile(r"\"[^\"\n]{1,80}\"|(?<!\w)'[^'\n]{1,80}'(?!\w)")
_QUOTE: Final = '"text"'

_OPENING: Final = {"{": "}", "[": "]"}
_SHORTEST_DATA: Final = 24
_DATA: Final = " this data "
_LONGEST: Final = 2000


def mask(text: str) -> str:
    """Return `text` with data and values replaced by one fixed value of each kind.

    In plain words, in lower case, with single blanks, cut at a length no question needs.
    """
    sound = text.encode("utf-8", "replace").decode()  # half of a character encodes to nothing
    masked = " ".join("".join(_without_data(sound)).split())[:_LONGEST].lower().replace("’", "'")
    masked = _WORDS.sub(_NUMBER, masked)
    if _HAS_VALUE.search(masked):
        masked = _VALUES.sub(lambda found: _STANDS_FOR[found.lastgroup or ""], masked)
        masked = _LIST.sub("10, 10 and 10", masked)
    return normalization.normalize_text(_without_quotes(masked))


def _without_quotes(text: str) -> str:
    """Quoted words are values too, unless there is little but a quotation."""
    if '"' not in text and "'" not in text:
        return text
    said = _QUOTED.sub("", text)
    return _QUOTED.sub(_QUOTE, text) if 3 * len(said) > len(text) else text


def _without_data(text: str) -> Iterator[str]:
    """The text between runs in balanced brackets, and a word for each longer run."""
    done = 0
    bracketed = _bracketed(text) if "[" in text or "{" in text else ()
    for start, end in bracketed:
        if end - start >= _SHORTEST_DATA and any(c in text[start:end] for c in "\"':{"):
            yield text[done:start]
            yield _DATA
            done = end
    yield text[done:]


def _bracketed(text: str) -> Iterator[tuple[int, int]]:
    """Outermost runs in balanced square or curly brackets, whatever they hold.

    A run that never closes goes to the end of the text: data cut short is still data.
    """
    wanted: list[str] = []
    start = 0
    quoted = False
    for place, sign in enumerate(text):
        if not wanted:
            if sign in _OPENING:
                start, quoted = place, False
                wanted.append(_OPENING[sign])
        elif sign == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif sign in _OPENING:
            wanted.append(_OPENING[sign])
        elif sign == wanted[-1]:
            wanted.pop()
            if not wanted:
                yield start, place + 1
    if wanted:
        yield start, len(text)
