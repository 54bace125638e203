"""Yes and no: in a reply, and as a value."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, get_args

from server.text.language import load_language, shipped_languages
from server.text.normalizer import normalize_text
from server.text.tokens import Words

ReplyKind = Literal["yes", "no", "unclear", "other"]
"""`unclear`: it answers the question, but not plainly. `other`: it is about something else."""

_FEW_WORDS: Final = 4
_NO_WORD: Final = re.compile(r"[^\w'’\U0001F44D\U0001F44E]+")
_QUESTION_MARKS: Final = "?？؟"


Part = Literal["accept", "decline", "courtesy", "unclear", "hedges"]
_OPENING: Final[frozenset[Part]] = frozenset({"decline", "courtesy", "unclear"})


@dataclass(frozen=True, slots=True)
class Replies:
    """The phrases of all languages as words; longer ones are tried first."""

    parts: Mapping[Words, Part]
    longest: int
    alone: frozenset[Words] = frozenset()
    """Phrases that count only where they are the whole reply."""
    corrections: frozenset[Words] = frozenset()
    corrections_after: frozenset[Words] = frozenset()
    """What stands before, and after, something that takes the place of what was said."""

    def read(self, text: str) -> ReplyKind:
        """Return what a whole reply is. A yes among other words is not a yes."""
        words = _words(text)
        if not words or len(words) > 40:  # too long for a yes or a no
            return "other"
        found = list(self._parts_of(words))
        first, said = found[0], set(found)
        decided = said - {"courtesy"}
        if None not in said and decided and not any(mark in text for mark in _QUESTION_MARKS):
            if decided == {"accept"}:
                return "yes"
            return "no" if decided == {"decline"} else "unclear"
        if first not in ("accept", "decline", "unclear"):
            return "other"
        # "No, London" corrects what was understood, which is for others to see.
        if first != "accept" and self._puts_right(words):
            return "other"
        vague = said & {"hedges", "unclear"} or (first == "accept" and len(words) <= _FEW_WORDS)
        return "unclear" if vague else "other"

    def _puts_right(self, words: Words) -> bool:
        """Whether something is said in place of what was asked: “wait, I meant #003”.

        It names a number, or stands behind “I meant” or before “instead”; nothing in it is a
        yes or a no.
        """
        at = 0
        while at < len(words) and (size := self._phrase_at(words, at, _OPENING)):
            at += size
        rest = words[at:]
        if not rest or {"accept", "decline"} & set(self._parts_of(rest)):
            return False
        return (
            any(word.isdecimal() for word in rest)
            or any(rest[:size] in self.corrections for size in range(1, len(rest)))
            or any(rest[-size:] in self.corrections_after for size in range(1, len(rest)))
        )

    def _phrase_at(self, words: Words, at: int, parts: Collection[Part]) -> int:
        """How many words the longest phrase of `parts` at `at` has; 0 where there is none."""
        sizes = range(min(self.longest, len(words) - at), 0, -1)
        return next((size for size in sizes if self.parts.get(words[at : at + size]) in parts), 0)

    def _parts_of(self, words: Words) -> Iterator[Part | None]:
        """Yield what each phrase is, in order; None for a word that is no phrase."""
        at = 0
        while at < len(words):
            for length in range(min(self.longest, len(words) - at), 0, -1):
                tried = words[at : at + length]
                if tried in self.parts and (len(words) == 1 or tried not in self.alone):
                    yield self.parts[tried]
                    break
            else:
                length = 1
                yield None
            at += length


@cache
def shipped_replies() -> Replies:
    """Return the replies of every language that ships, read on first use. Blocks."""
    parts: dict[Words, Part] = {}
    for language in shipped_languages():
        for part in get_args(Part):
            for phrase in getattr(language.replies, part):
                parts.setdefault(_words(phrase), part)
    single = frozenset(
        phrase for phrase in parts if len(phrase) == 1 and re.fullmatch("[a-z0-9]", phrase[0])
    )
    spoken = [language.followups for language in shipped_languages()]
    corrections = frozenset(_words(phrase) for each in spoken for phrase in each.corrections)
    after = frozenset(_words(phrase) for each in spoken for phrase in each.corrections_after)
    return Replies(parts, max(map(len, parts)), single, corrections, after)


def _words(text: str) -> Words:
    return tuple(_NO_WORD.sub(" ", normalize_text(text)).split())


def read_boolean(text: str) -> bool | None:
    """What the whole `text` says as the value of a yes or no, or None."""
    return _booleans().get(text.strip().lower())


@cache
def _booleans() -> Mapping[str, bool]:
    english = load_language("en")
    affirmed, denied = english.group("affirmed") | {"on"}, english.group("denied") | {"off"}
    return dict.fromkeys(affirmed, True) | dict.fromkeys(denied, False)
