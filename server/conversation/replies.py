"""Whether a reply is a plain yes, a plain no, or neither."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from server.errors import ConfigurationInvalid
from server.settings.documents import read_yaml

ReplyKind = Literal["yes", "no", "unclear", "other"]
"""`unclear`: it answers the question, but not plainly. `other`: it is about something else."""

PHRASES: Final = Path(__file__).parent / "replies.yaml"

_FEW_WORDS: Final = 4
_NO_WORD: Final = re.compile(r"[^\w'’\U0001F44D\U0001F44E]+")
_QUESTION_MARKS: Final = "?？؟"


class ReplyWords(BaseModel):
    """The words of one language."""

    model_config = ConfigDict(extra="forbid")

    accept: tuple[str, ...]
    decline: tuple[str, ...]
    courtesy: tuple[str, ...] = ()
    """What may stand beside either and changes nothing: please, thank you."""
    unclear: tuple[str, ...] = ()
    """What answers, and decides nothing: maybe, not sure."""
    hedges: tuple[str, ...] = ()
    """What takes back or conditions a yes or a no that stands before it: but, if, wait."""


class RepliesYaml(BaseModel):
    model_config = ConfigDict(extra="forbid")

    languages: dict[str, ReplyWords]


Words = tuple[str, ...]
Part = Literal["accept", "decline", "courtesy", "unclear", "hedges"]
_PARTS: Final[tuple[Part, ...]] = ("accept", "decline", "courtesy", "unclear", "hedges")


@dataclass(frozen=True, slots=True)
class Replies:
    """The phrases of all languages as words; longer ones are tried first."""

    parts: Mapping[Words, Part]
    longest: int
    alone: frozenset[Words] = frozenset()
    """Phrases that count only where they are the whole reply."""

    def read(self, text: str) -> ReplyKind:
        """Return what a whole reply is. A yes among other words is not a yes."""
        words = _words(text)
        if not words or len(words) > 40:  # too long for a yes or a no
            return "other"
        found = list(self._phrases(words))
        said = {part for part, _ in found}
        asked = any(mark in text for mark in _QUESTION_MARKS)
        if None not in said and not asked:
            decided = said - {"courtesy"}
            if decided in ({"accept"}, {"decline"}):
                return "yes" if decided == {"accept"} else "no"
            if decided:
                return "unclear"
        return self._mixed_reply(found, words)

    def _mixed_reply(self, found: list[tuple[Part | None, Words]], words: Words) -> ReplyKind:
        first = found[0][0]
        if first == "unclear":
            return "unclear"
        if first not in ("accept", "decline"):
            return "other"
        said = {part for part, _ in found}
        hedged = bool(said & {"hedges", "unclear"})
        if first == "accept":
            return "unclear" if hedged or len(words) <= _FEW_WORDS else "other"
        # "No, London" corrects what was understood, which is for others to see.
        return "unclear" if hedged else "other"

    def _phrases(self, words: Words) -> Iterator[tuple[Part | None, Words]]:
        at = 0
        while at < len(words):
            phrase, part = words[at : at + 1], None
            for length in range(min(self.longest, len(words) - at), 0, -1):
                tried = words[at : at + length]
                if tried in self.parts and (len(words) == 1 or tried not in self.alone):
                    phrase, part = tried, self.parts[tried]
                    break
            yield part, phrase
            at += len(phrase)


@lru_cache(maxsize=1)
def shipped_replies() -> Replies:
    """Return the phrases that ship with the server. Reads a file, once."""
    document = read_yaml(PHRASES, {})
    if not document.readable:
        raise ConfigurationInvalid(document.problems)
    found = RepliesYaml.model_validate(document.data)
    parts: dict[Words, Part] = {}
    for language in found.languages.values():
        for part in _PARTS:
            for phrase in getattr(language, part):
                parts.setdefault(_words(phrase), part)
    single = frozenset(
        phrase for phrase in parts if len(phrase) == 1 and re.fullmatch("[a-z0-9]", phrase[0])
    )
    return Replies(parts, max(map(len, parts)), single)


def _words(text: str) -> Words:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    bare = "".join(c for c in unicodedata.normalize("NFD", plain) if not _is_hebrew_point(c))
    return tuple(_NO_WORD.sub(" ", unicodedata.normalize("NFC", bare)).split())


def _is_hebrew_point(character: str) -> bool:
    return "\u0591" <= character <= "\u05c7"
