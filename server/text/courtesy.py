"""Messages that are nothing but polite, or that ask about the assistant itself."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, NamedTuple, get_args
from unicodedata import normalize

from server.text.language import CourtesyKind, Language, load_language, shipped_names
from server.text.normalizer import normalize_text
from server.text.tokens import Words

COURTESY_KINDS: Final[tuple[CourtesyKind, ...]] = get_args(CourtesyKind)
_BY_WEIGHT: Final[tuple[CourtesyKind, ...]] = ("about", "help", "bye", "thanks", "hello")
"""Of several kinds in one message, the first is answered: “hello, who are you?”"""

_MOST_CHARS: Final = 200
_MOST_WORDS: Final = 24
_NOTHING: Final[frozenset[CourtesyKind]] = frozenset()

_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_ACCENTS: Final = re.compile("[\u0300-\u036f\u0610-\u061a\u064b-\u065f]")
_DRAWN_OUT: Final = re.compile(r"([^\W\d_])\1{2,}")
# A sign between words that joins or changes them: “thanks -> 5”, “help = 3”.
_SIGNS_OF_VALUES: Final = re.compile(r"[=+*^%&<>|\\{}\[\]@#$€£]")


class CourtesyReading(NamedTuple):
    """What a whole message is, and in which language."""

    kind: CourtesyKind
    language: str


@dataclass(frozen=True, slots=True)
class CourtesyPhrases:
    """The phrases of one language as words, each with its kind or as a filler."""

    language: str
    parts: Mapping[Words, CourtesyKind | Literal["filler"]]
    words: frozenset[str]
    shorthand: Mapping[str, Words]
    longest: int

    @classmethod
    def of(cls, language: Language) -> "CourtesyPhrases":
        short = {
            short: tuple(_plain_words(full))
            for short, full in language.politeness.shorthand.items()
        }
        parts: dict[Words, CourtesyKind | Literal["filler"]] = {}
        for kind in COURTESY_KINDS:
            for phrase in getattr(language.courtesy, kind):
                parts.setdefault(_written_out(_plain_words(phrase), short), kind)
        polite = language.politeness
        for phrase in (
            *language.courtesy.fillers, *polite.please, *polite.greetings,
            *polite.requests, *polite.closings,
        ):  # fmt: skip
            parts.setdefault(_written_out(_plain_words(phrase), short), "filler")
        parts.pop((), None)
        words = frozenset(word for phrase in parts for word in phrase)
        return cls(language.language, parts, words, short, max(map(len, parts), default=0))

    def kinds(self, words: Words, own: Collection[Words] = ()) -> frozenset[CourtesyKind]:
        """The kinds of courtesy that the words are, where they are nothing else.

        Phrases that are among `own` are none.
        """
        words = _written_out(words, self.shorthand)
        if not self.words.issuperset(words):
            return _NOTHING
        # What the words from each place on are; None where some of them are anything else.
        rest: list[frozenset[CourtesyKind] | None] = [None] * len(words) + [_NOTHING]
        for at in reversed(range(len(words))):
            for size in range(min(self.longest, len(words) - at), 0, -1):
                phrase, after = words[at : at + size], rest[at + size]
                part = self.parts.get(phrase)
                if part is not None and after is not None and phrase not in own:
                    rest[at] = after if part == "filler" else after | {part}
                    break
        return rest[0] or _NOTHING


class CourtesyReader:
    """Reads messages that are nothing but a courtesy of some kinds.

    Of a message that is one in several languages, such as “hallo”, the first of `languages` is
    taken. `own` are words and phrases that mean something here, and so are no courtesy by
    themselves: “good night” where that is a scene of lights.
    """

    def __init__(
        self,
        kinds: Collection[CourtesyKind] = COURTESY_KINDS,
        languages: Iterable[str] = (),
        own: Iterable[str] = (),
    ) -> None:
        self._kinds = frozenset(kinds)
        named = (code.partition("-")[0].lower() for code in languages)
        shipped = shipped_names()
        order = dict.fromkeys([*(code for code in named if code in shipped), "en", *shipped])
        self._phrases = tuple(map(courtesy_phrases, order))
        self._known = frozenset[str]().union(*(p.words | p.shorthand.keys() for p in self._phrases))
        self._own = frozenset(tuple(_plain_words(text)) for text in set(own)) - {()}

    def read(self, text: str, languages: Sequence[str] = ()) -> CourtesyReading | None:
        """Return what a whole message is; None where it asks for anything, or is too long.

        `languages` are those that whoever wrote it prefers, as BCP 47 tags, best first.
        """
        if len(text) > _MOST_CHARS or not self._kinds or _SIGNS_OF_VALUES.search(text):
            return None
        if not self._may_end_in(text.rsplit(None, 1)[-1:]):
            return None
        words = tuple(_plain_words(text))
        if not words or len(words) > _MOST_WORDS or not self._known.issuperset(words):
            return None
        found = dict(self._found(words))
        if not found:
            return None
        preferred = (code.partition("-")[0].lower() for code in languages)
        language = next((code for code in preferred if code in found), next(iter(found)))
        return CourtesyReading(found[language], language)

    def _may_end_in(self, last: Sequence[str]) -> bool:
        """Whether a courtesy may end so; nearly all requests end in a word that none has."""
        word = "".join(last).rstrip("?!.,").lower()
        is_plain = word.isascii() and word.isalnum() and not _DRAWN_OUT.search(word)
        return not is_plain or word in self._known

    def _found(self, words: Words) -> Iterator[tuple[str, CourtesyKind]]:
        """The kind that the words are in each language in which they are one."""
        for phrases in self._phrases:
            kinds = phrases.kinds(words, self._own)
            kind = next((kind for kind in _BY_WEIGHT if kind in kinds), None)
            if kind in self._kinds:
                yield phrases.language, kind


@cache
def courtesy_phrases(code: str) -> CourtesyPhrases:
    """Return the phrases of a language that ships, read on first use. Blocks."""
    return CourtesyPhrases.of(load_language(code))


def _plain_words(text: str) -> list[str]:
    """The words of a text as they are compared: no accents, and “sooo” is “so”."""
    plain = normalize_text(text)
    if not plain.isascii():
        plain = normalize("NFC", _ACCENTS.sub("", normalize("NFD", plain)))
    return [_DRAWN_OUT.sub(r"\1", word) for word in _WORD.findall(plain)]


def _written_out(words: Iterable[str], shorthand: Mapping[str, Words]) -> Words:
    return tuple(full for word in words for full in shorthand.get(word, (word,)))
