"""The columns of some rows, as people call them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final, Literal, NamedTuple

from server.text.language import shipped_languages
from server.text.spelling import SpellingIndex
from server.text.stems import inflections, stem
from server.text.tokens import split_words

_PART: Final = re.compile(r"[A-Z]?[a-z\u00df-\u024f]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_a-zA-Z]+")
_SHORTEST_SLIP: Final = 5
_SHORTEST_PART: Final = 3
_SHORTEST_FORM: Final = 4
_MOST_WORDS: Final = 5
MAX_COLUMNS: Final = 200
"""Columns whose names are looked at."""

Likeness = Literal["named", "same", "form", "part", "slip"]
"""How a column was found: by its own words, other words for them, another form of one (started
for start), one of several, or a misspelling.
"""
_LIKENESSES: Final[tuple[Likeness, ...]] = ("named", "same", "form", "part")


class FoundColumn(NamedTuple):
    """A column, and how it was found by what somebody calls it."""

    name: str
    likeness: Likeness


def name_parts(name: str) -> tuple[str, ...]:
    """The words of a name in snake_case, camelCase or plain words, in small letters."""
    return tuple(part.lower() for part in _PART.findall(name)[:_MOST_WORDS])


@cache
def _same_words() -> Mapping[tuple[str, ...], frozenset[tuple[str, ...]]]:
    """Phrases that name the same, each with the others of its groups."""
    found: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for language in shipped_languages():
        for group in language.rows.same:
            phrases = {split_words(phrase) for phrase in group}
            for phrase in phrases:
                found.setdefault(phrase, set()).update(phrases - {phrase})
    return {phrase: frozenset(others) for phrase, others in found.items()}


class ColumnNames:
    """Finds the column that a phrase names: in plural, in other words, in part, or misspelt.

    A phrase that would name two columns equally well names none.
    """

    def __init__(
        self, names: Iterable[str], synonyms: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self.names = tuple(dict.fromkeys(names))[:MAX_COLUMNS]
        self._known: dict[Likeness, dict[tuple[str, ...], set[str]]] = {
            likeness: {} for likeness in _LIKENESSES
        }
        for name in self.names:
            parts = name_parts(name)
            if not parts:
                continue
            self._add("named", parts, name)
            self._add("named", ("".join(parts),), name)
            for phrase in _same_words().get(parts, ()):
                self._add("same", phrase, name)
            for said in (synonyms or {}).get(name.lower(), ()):
                self._add("same", split_words(said), name)
            if len(parts) == 1 and len(parts[0]) >= _SHORTEST_FORM:
                self._known["form"].setdefault((stem(parts[0]),), set()).add(name)
            if len(parts) > 1:
                for part in parts:
                    if len(part) >= _SHORTEST_PART or (part,) in _same_words():
                        self._add("part", (part,), name)
                        for phrase in _same_words().get((part,), ()):
                            self._add("part", phrase, name)
        self.longest = max((len(p) for known in self._known.values() for p in known), default=0)
        singles = {p[0] for p in self._known["named"] if len(p) == 1} | {
            p[0] for p in self._known["same"] if len(p) == 1
        }
        self._near = SpellingIndex(w for w in singles if len(w) >= _SHORTEST_SLIP - 1)

    def _add(self, likeness: Likeness, phrase: tuple[str, ...], name: str) -> None:
        known = self._known[likeness]
        last = phrase[-1]
        forms = inflections(last) if last.isalpha() and len(last) > 1 else {last}
        for form in (last, *forms):
            known.setdefault((*phrase[:-1], form), set()).add(name)

    def find(self, words: Sequence[str]) -> FoundColumn | None:
        """Return the column that these words name, all of them; None where it is none or two."""
        phrase = tuple(words)
        if len(phrase) == 1 and len(phrase[0]) >= _SHORTEST_FORM:
            return self._find(phrase, (stem(phrase[0]),))
        return self._find(phrase, ())

    def _find(self, phrase: tuple[str, ...], form: tuple[str, ...]) -> FoundColumn | None:
        for likeness in _LIKENESSES:
            found = self._known[likeness].get(form if likeness == "form" else phrase)
            if found:
                return FoundColumn(next(iter(found)), likeness) if len(found) == 1 else None
        if len(phrase) != 1 or not phrase[0].isalpha() or len(phrase[0]) < _SHORTEST_SLIP:
            return None
        near = {
            name
            for word in self._near.near(phrase[0])
            for likeness in _LIKENESSES[:2]
            for name in self._known[likeness].get((word,), ())
        }
        return FoundColumn(near.pop(), "slip") if len(near) == 1 else None

    def lookup(self, asked: str) -> FoundColumn | None:
        """Return the column that a text names, however it is capitalised and joined."""
        if asked in self.names:
            return FoundColumn(asked, "named")
        return self.find(name_parts(asked)) or self.find(
            [w for w in split_words(asked) if w != "_"]
        )
