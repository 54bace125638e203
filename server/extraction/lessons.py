"""What a template's own examples teach about where its values stand."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from server.extraction.english import ARTICLES, FUNCTION_WORDS, PREPOSITIONS
from server.extraction.hints import NO_CONTEXT, Context, Words
from server.extraction.recognizers.reading import Reading
from server.extraction.recognizers.tokens import is_word, word_set

_GENERIC: Final = ARTICLES | word_set("is are me and or of it be")
"""Words that stand before too many things to lead to a value alone."""
_APOSTROPHES: Final = frozenset("'’")
_APOSTROPHES_BEFORE: Final = frozenset({("'",), ("’",)})


class Filler(NamedTuple):
    """The value of a parameter in an example: the words from `first` up to `last`."""

    reading: Reading
    first: int
    last: int

    @property
    def words(self) -> Words:
        return tuple(self.reading.tokens.words[self.first : self.last])

    @property
    def left(self) -> Words:
        words = self.reading.tokens.words
        return tuple(words[max(0, self.first - 2) : self.first])

    @property
    def right(self) -> Words:
        return tuple(self.reading.tokens.words[self.last : self.last + 2])

    @property
    def end(self) -> str:
        """The word that ends the value; empty where it ends by itself."""
        word = self.right[0] if self.right else ""
        if word in _APOSTROPHES and self.reading.tokens.glued(self.last):
            return "'"  # Apple's stock price
        if not is_word(word) or word in FUNCTION_WORDS:
            return ""
        begins_value = any(span.first == self.last for span in self.reading.spans)
        return "" if begins_value else word


@dataclass(frozen=True, slots=True)
class TextLesson:
    """How a free text stands in the examples of its template.

    `leads` are the words before it, one or two, and for each the words that came right
    after the value; "" among those says that the value may end the sentence. The empty
    lead is the beginning of the text. `sentences` says that the values read as whole
    phrases, in which prepositions end nothing.
    """

    leads: Mapping[Words, frozenset[str]] = field(default_factory=dict)
    known: frozenset[Words] = frozenset()
    vocabulary: frozenset[str] = frozenset()
    sentences: bool = False
    capitalised: bool = False


NO_LESSON: Final = TextLesson()


def contexts(fillers: Mapping[str, Sequence[Filler]]) -> dict[str, Context]:
    """The words around the values of each parameter that stand around no other's."""
    left: dict[Words, set[str]] = defaultdict(set)
    right: dict[Words, set[str]] = defaultdict(set)
    for name, found in fillers.items():
        for filler in found:
            for words in _near(filler.left, from_end=True):
                left[words].add(name)
            for words in _near(filler.right, from_end=False):
                right[words].add(name)
    return {
        name: Context(_only(left, name), _only(right, name)) if found else NO_CONTEXT
        for name, found in fillers.items()
    }


def _near(words: Words, *, from_end: bool) -> Iterable[Words]:
    one = words[-1:] if from_end else words[:1]
    for near in {one, words}:
        telling = near and all(is_word(word) or word in ":%" for word in near)
        if telling and (len(near) > 1 or near[0] not in _GENERIC):
            yield near


def _only(owners: Mapping[Words, set[str]], name: str) -> frozenset[Words]:
    return frozenset(words for words, names in owners.items() if names == {name})


def text_lesson(
    fillers: Sequence[Filler], about: str, values: Collection[str], *, sentences: bool
) -> TextLesson:
    """What the values of a text in the examples teach.

    `about` describes the template, `values` are words of any argument in the examples,
    and `sentences` says that the text is one by its name.
    """
    leads: dict[Words, set[str]] = defaultdict(set)
    for filler in fillers:
        for lead in _leads(filler.left):
            leads[lead].add(filler.end)
    inside = {word for filler in fillers for word in filler.words}
    everything = {word for filler in fillers for word in filler.reading.tokens.words}
    described = {word for word in about.lower().replace("_", " ").split() if word.isalpha()}
    capitals = [_starts_upper(filler) for filler in fillers]
    return TextLesson(
        leads={lead: frozenset(after) for lead, after in leads.items()},
        known=frozenset(filler.words for filler in fillers),
        vocabulary=frozenset((everything | described) - inside - set(values)),
        sentences=sentences or any(_reads_as_sentence(filler.words) for filler in fillers),
        capitalised=bool(capitals) and all(capitals),
    )


def _leads(left: Words) -> Iterable[Words]:
    if not left:
        yield ()
        return
    if left[-1] == "s" and left[-2:-1] in _APOSTROPHES_BEFORE:
        return  # what's, how's: before everything
    if all(is_word(word) or word == ":" for word in left):
        yield left
    if left[-1] not in _GENERIC and (is_word(left[-1]) or left[-1] == ":"):
        yield left[-1:]


def _starts_upper(filler: Filler) -> bool:
    return filler.reading.clean[filler.reading.tokens.starts[filler.first]].isupper()


def _reads_as_sentence(words: Words) -> bool:
    return len(words) > 4 or words[0] in ARTICLES or any(word in PREPOSITIONS for word in words[1:])
