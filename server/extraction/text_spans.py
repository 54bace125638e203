"""Where a name or a sentence that begins at some word of a question ends."""

from typing import Final

from server.extraction.types import SpanSet
from server.text.language import load_language
from server.text.parsed_text import ParsedText
from server.text.tokens import BLOCK, Tokens, is_word

_ENGLISH: Final = load_language("en")
_FUNCTION_WORDS: Final = _ENGLISH.function_words
_ARTICLES: Final = _ENGLISH.group("articles")
_PREPOSITIONS: Final = _ENGLISH.group("prepositions")
_POLITE: Final = _ENGLISH.group("polite")

_SENTENCE_ENDS: Final = frozenset("?!;|")
_OPENERS: Final = frozenset("([{")
_SOMEBODYS: Final = _ENGLISH.group("possessives")
"""After these stands no name: "my city" names none."""
_BREAKS: Final = _PREPOSITIONS | _ENGLISH.group("name_ends")
_OF: Final = _ENGLISH.group("kinds_of_place")
_LONGEST_NAME: Final = 12
_LONGEST_SENTENCE: Final = 400

_QUOTE: Final = BLOCK + "quoted"

Place = tuple[int, int]
"""Words from the first up to, and without, the second."""


def name_from(
    reading: ParsedText, taken: SpanSet, first: int, *, skip: frozenset[str] = _ARTICLES
) -> Place | None:
    """The name that begins at the word `first`, after words to `skip`, or None.

    A name ends with its sentence, at a preposition, at a comma (unless a capital letter
    follows: Paris, France), and before any date, time or other argument.
    """
    tokens = reading.tokens
    while tokens.word(first) in skip:
        if tokens.words[first] in _SOMEBODYS:
            return None
        first += 1
    if tokens.word(first) in _OF and tokens.word(first + 1) == "of":
        first += 2  # the city of Prague
    last = first
    while last < len(tokens) and last - first < _LONGEST_NAME:
        word = tokens.words[last]
        if _stops(reading, taken, last) or (word in _BREAKS and last > first):
            break
        if word == "," and not _capital(reading, last + 1):
            break
        last += 1
    return _trimmed(tokens, first, last)


def sentence_from(reading: ParsedText, taken: SpanSet, first: int) -> Place | None:
    """The words from `first` to the end of the sentence, or to another argument."""
    tokens = reading.tokens
    while tokens.word(first) in (":", ",", "-", "that"):
        first += 1
    last = first
    while last < len(tokens):
        if last - first > _LONGEST_SENTENCE:
            return None
        word = tokens.words[last]
        is_data = word[0] == BLOCK and word[1:] in ("array", "object")
        if is_data or not taken.free(tokens.starts[last], tokens.ends[last]):
            return _trimmed(tokens, first, last)
        last += 1
    return _trimmed(tokens, first, last, only_polite=True)


def _stops(reading: ParsedText, taken: SpanSet, index: int) -> bool:
    tokens = reading.tokens
    word, start = tokens.words[index], tokens.starts[index]
    if word in _SENTENCE_ENDS or word in _OPENERS or word == ":":
        return True
    if word == "." and _ends_sentence(tokens, index):
        return True
    if word[0] == BLOCK or not taken.free(start, tokens.ends[index]):
        return True
    return index in reading.moments


def _ends_sentence(tokens: Tokens, index: int) -> bool:
    """Whether a full stop ends the sentence, and not St. or D.C."""
    if tokens.glued(index + 1):
        return False
    return index + 1 == len(tokens) or len(tokens.word(index - 1)) > 3


def _capital(reading: ParsedText, index: int) -> bool:
    tokens = reading.tokens
    if index >= len(tokens) or not reading.clean[tokens.starts[index]].isupper():
        return False
    word = tokens.words[index]
    return word not in _FUNCTION_WORDS or (word != "i" and len(word) == 1)


def _trimmed(tokens: Tokens, first: int, last: int, *, only_polite: bool = False) -> Place | None:
    """The place without polite words and signs around it, or None when nothing is left."""
    trailing = _POLITE if only_polite else _POLITE | _PREPOSITIONS | _ARTICLES
    while last > first:
        word = tokens.words[last - 1]
        if word in trailing or (not word[0].isalnum() and word not in (")", "]", "%", "+", "#")):
            last -= 1
        else:
            break
    while first < last and not (tokens.words[first][0].isalnum() or tokens.words[first] in "#@$("):
        first += 1
    words = tokens.words[first:last]
    says_something = any(
        word[0].isdigit() or (is_word(word) and word not in _FUNCTION_WORDS) for word in words
    )
    return (first, last) if says_something or words == [_QUOTE] else None
