"""What a parameter's name says about where its value stands."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from server.extraction.english import FOLLOWS, LEADS, TOPICS
from server.extraction.recognizers.calendar import MONTHS_IN, SECONDS
from server.extraction.recognizers.tokens import word_set
from server.library.names import words_of

PERCENT: Final = word_set("percent percentage pct")
MAYBE_PERCENT: Final = word_set("rate tip discount tax vat interest margin share growth")
MONEY: Final = word_set("amount price cost budget salary fee total sum payment money fare")
FIELDS: Final = word_set("field fields column columns key keys property attribute attributes")
ORDERING: Final = word_set("sort order group")
NUMBERS: Final = word_set("values numbers nums number amounts figures scores addends operands")
DATES: Final = word_set("date dates deadline due birthday")
URLS: Final = word_set("url uri link website webpage")
WRITTEN: Final = word_set("string text")

_TIME_UNITS: Final = {unit: unit for unit in (*SECONDS, *MONTHS_IN)} | {
    f"{unit}s": unit for unit in (*SECONDS, *MONTHS_IN)
}
_PAGING: Final = word_set("offset skip per")
_SAYS_NOTHING: Final = word_set("id value number num string text data input arg param the of")


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter's name, taken apart.

    `before` and `after` are words that stand next to its value: the words of the name
    and their synonyms, and those that usually lead to such a value.
    """

    words: tuple[str, ...]
    before: frozenset[str]
    after: frozenset[str]
    unit: str
    """The unit of time that the name ends in, as `days` does; empty for none."""
    topics: tuple[str, ...]
    """What the parameter is about, as `TOPICS` has it."""
    pages: bool
    """Whether it says how much to show, which no question has to mean by a number."""

    def has(self, words: frozenset[str]) -> bool:
        return not words.isdisjoint(self.words)

    @property
    def leads(self) -> frozenset[str]:
        """Words that usually lead to a value of this name, without the name itself."""
        return frozenset().union(*(LEADS[t] for t in self.topics if t in LEADS))


def take_apart(name: str, synonyms: Iterable[str] = ()) -> Name:
    """`name` in snake_case or camelCase; `synonyms` are other words for the same thing."""
    words = words_of(name)
    telling = {word for word in words if len(word) > 1 and not word.isdigit()}
    more = {part for synonym in synonyms for part in synonym.split() if len(part) > 2}
    near = _inflected((telling - _SAYS_NOTHING) | more)
    topics = tuple(dict.fromkeys(TOPICS[word] for word in words if word in TOPICS))
    leads = frozenset[str]().union(*(LEADS.get(topic, ()) for topic in topics))
    follows = frozenset[str]().union(*(FOLLOWS.get(topic, ()) for topic in topics))
    unit = _TIME_UNITS.get(words[-1], "") if words else ""
    directions = {word for word in near if TOPICS.get(word) in ("from", "to")}
    pages = not {"limit", "page"}.isdisjoint(topics) or not _PAGING.isdisjoint(words)
    return Name(words, near | leads, near - directions | follows, unit, topics, pages)


def _inflected(words: Iterable[str]) -> frozenset[str]:
    """The words, each in the singular and the plural."""
    found: set[str] = set()
    for word in words:
        stem = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
        found |= {word, stem, f"{stem}s"}
    return frozenset(found)
