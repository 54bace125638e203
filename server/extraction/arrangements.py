"""How a template's examples arrange several values of one kind around words, and which is which.

In "how many 5s are in 35" the divisor stands first, with "in" between the two. A question whose
values stand between the same words has them in the same roles.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise
from typing import Final, NamedTuple

from server.extraction.values import Candidate
from server.text.language import load_language
from server.text.parsed_text import ParsedText
from server.text.stems import stem
from server.text.tokens import BLOCK, Tokens, is_digits, is_word

_ENGLISH: Final = load_language("en")
_ROLES: Final = _ENGLISH.roles
_SILENT: Final = frozenset(".,;?!'’\"“”()$€£¥₪#_")
_KEPT: Final = _ENGLISH.function_words | _ENGLISH.group("operations")
"""Words that count even where no example has them: not so a name, or a thing that is counted."""
_UNKNOWN: Final = tuple(tuple(phrase.split()) for phrase in _ROLES.unknown)

Words = tuple[str, ...]
Roles = tuple[str, ...]
"""The parameter of each value in order of mention; empty for a value that none takes."""
Place = tuple[int, int]
"""The words from the first up to the last of a value."""


class Grade(IntEnum):
    """How well it is known which value of an example is whose."""

    ORDER = 0  # nothing but the order in which the author wrote the parameters
    VALUE = 1  # one of them is the value that its parameter has for an example
    SHOWN = 2  # patterns, units, or the words beside them


class Shape(NamedTuple):
    """The words around values, in stems, small ones left out."""

    before: Words
    between: tuple[Words, ...]
    after: Words

    def levels(self) -> Iterator["Shape"]:
        """The shape, and what is left of it when fewer words count."""
        yield self
        if any(self.between):
            if self.before:
                yield Shape(self.before[-1:], self.between, ("",))
            yield Shape(("",), self.between, ("",))


@dataclass(frozen=True, slots=True)
class Arranged:
    """Which value is whose, by the arrangement that fits; `unclear` where two of them do."""

    roles: Roles = ()
    unclear: bool = False


NOT_ARRANGED: Final = Arranged()


@dataclass(slots=True)
class Arrangements:
    """What the examples of a template teach of one group of parameters."""

    shapes: dict[Shape, dict[Roles, Grade]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    asked: set[Words] = field(default_factory=set)
    """Phrases for what is unknown that the examples have themselves."""

    def add(self, shape: Shape, roles: Roles, grade: Grade) -> None:
        if grade is Grade.ORDER and _turns(shape):
            return
        for level in shape.levels():
            known = self.shapes.setdefault(level, {})
            known[roles] = max(known.get(roles, Grade.ORDER), grade)
        self.words.update(shape.before, shape.after, *shape.between)

    def lacks_stretch(self, tokens: Tokens, places: Sequence[Place]) -> bool:
        """Whether two values are one stretch, “from 80 to 100”, which no example has."""
        return self.words.isdisjoint(_ROLES.stretch_ends) and any(
            tokens.word(first - 1) in _ROLES.stretch_starts
            and begin == last + 1
            and tokens.word(last) in _ROLES.stretch_ends
            for (first, last), (begin, _) in pairwise(places)
        )

    def fit(self, shape: Shape) -> Arranged:
        """The roles of the values that stand in `shape`, by the closest arrangement known."""
        for level in shape.levels():
            if known := self.shapes.get(level):
                return _resolved(known)
        return NOT_ARRANGED


def _turns(shape: Shape) -> bool:
    return any(not _ROLES.turning.isdisjoint(words) for words in shape.between)


def _resolved(known: Mapping[Roles, Grade]) -> Arranged:
    by_grade = {g: [roles for roles, its in known.items() if its is g] for g in Grade}
    shown, by_value, in_order = by_grade[Grade.SHOWN], by_grade[Grade.VALUE], by_grade[Grade.ORDER]
    if shown:
        return Arranged(shown[0]) if len(shown) == 1 else Arranged(unclear=True)
    # That a value is also the one of another's example may be chance; most examples are in order.
    rest = in_order or by_value
    return Arranged(rest[0]) if len(rest) == 1 else NOT_ARRANGED


def shape_of(
    reading: ParsedText, places: Sequence[Place], skipped: Iterable[Place], known: Set[str] | None
) -> Shape:
    """The words around the values at `places`; those `skipped` belong to other arguments.

    With `known`, words that the examples do not have count only if they bind values.
    """
    tokens = reading.tokens
    away = {at for first, last in skipped for at in range(first, last)}
    ends = [0, *(last for _, last in places)], [*(first for first, _ in places), len(tokens)]
    parts = [
        tuple(_telling(tokens, (at for at in range(first, last) if at not in away), known))
        for first, last in zip(*ends, strict=True)
    ]
    return Shape(parts[0], tuple(parts[1:-1]), parts[-1])


def _telling(tokens: Tokens, indices: Iterable[int], known: Set[str] | None) -> Iterator[str]:
    for at in indices:
        word = tokens.words[at]
        if word in _ROLES.small or word in _SILENT or word[0] == BLOCK:
            continue
        root = stem(word) if is_word(word) else word
        if known is None or root in known or word in _KEPT or not word.isalnum():
            yield root


def places_of(candidates: Iterable[Candidate]) -> list[Place]:
    """Where the candidates stand, in order; of those that overlap the longest."""
    found: list[Place] = []
    spans = {(one.first, one.last) for one in candidates if not one.problem}
    for first, last in sorted(spans, key=lambda span: (span[0] - span[1], span)):
        if all(last <= begin or end <= first for begin, end in found):
            found.append((first, last))
    return sorted(found)


def unknowns(tokens: Tokens) -> set[Words]:
    """The phrases that ask for a value where one would stand: 45 is 15 % of what."""
    found = set[Words]()
    for phrase in _UNKNOWN:
        size = len(phrase)
        if phrase[0] not in tokens.words:
            continue
        for first in range(len(tokens) - size + 1):
            if tuple(tokens.words[first : first + size]) != phrase:
                continue
            following = tokens.word(first + size)
            is_operand = phrase[0].startswith(("what", "which"))
            if is_digits(following) if is_operand else not _is_noun(following):
                found.add(phrase)
    return found


def _is_noun(word: str) -> bool:
    return is_word(word) and word not in _ENGLISH.function_words and word not in _NOT_NOUNS


_NOT_NOUNS: Final = _ROLES.small | {"makes", "gives", "equals", "make", "give", "equal"}


def roles_in(chosen: Mapping[str, Candidate], places: Sequence[Place]) -> Roles:
    """Whose each place is."""
    owners = {(one.first, one.last): key for key, one in chosen.items()}
    return tuple(
        next((k for (f, e), k in owners.items() if f < last and first < e), "")
        for first, last in places
    )
