"""Phrases as they are compared, and what each of them may mean."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from server.extraction.data_questions.meanings import Column, Meanings, Value
from server.text.language import DataWords
from server.text.stems import inflections, singular, without_accents
from server.text.tokens import split_words
from server.text.verbs import verb_forms

_INFLECTED: Final = ("ing", "ed", "s")
LONGEST: Final = 12
"""So many words of a phrase, and no more."""

Phrase = tuple[str, ...]

_T = TypeVar("_T")


def phrase_of(text: str) -> Phrase:
    """The words of a text as they are compared: no signs, no accents, no capitals."""
    return tuple(without_accents(word) for word in split_words(text) if any(map(str.isalnum, word)))


def forms_of(text: str) -> Iterator[tuple[Phrase, bool]]:
    """A noun as it is said, and whether that is the plural."""
    phrase = phrase_of(text)
    if not phrase:
        return
    for form in inflections(phrase[-1]):
        yield (*phrase[:-1], form), singular(form) != form


@dataclass(slots=True)
class PhraseBook:
    """Phrases, and what each of them may mean; most of many thousand names are values alone."""

    longest: int = 1
    _meanings: dict[Phrase, Meanings] = field(default_factory=dict)
    _values: dict[Phrase, tuple[Value, ...]] = field(default_factory=dict)

    def of(self, phrase: Sequence[str]) -> Meanings | None:
        """What a phrase may mean; None where it is not known."""
        words = tuple(phrase)
        known, values = self._meanings.get(words), self._values.get(words)
        if values is None:
            return known
        return replace(known or Meanings(), values=list(values))

    def at(self, words: Sequence[str], index: int) -> tuple[int, Meanings] | None:
        """The longest phrase there, as the number of its words, and what it may mean."""
        for size in range(min(self.longest, len(words) - index), 0, -1):
            found = self.of(words[index : index + size])
            if found is not None:
                return size, found
        return None

    def named(self) -> frozenset[Phrase]:
        """The phrases that mean anything but values so far."""
        return frozenset(self._meanings)

    def add_value(self, phrase: Phrase, value: Value) -> None:
        """Add what a phrase may name."""
        self.longest = max(self.longest, min(len(phrase), LONGEST))
        held = self._values.get(phrase, ())
        if value not in held:
            self._values[phrase] = (*held, value)

    def add(self, phrase: Phrase) -> Meanings:
        """The meanings of a phrase but for its values, to which more may be added."""
        self.longest = max(self.longest, min(len(phrase), LONGEST))
        return self._meanings.setdefault(phrase, Meanings())


class VerbForms:
    """Verbs of which a language lists one form or more, in all of their forms.

    A form that is a noun of the data is left to be one.
    """

    def __init__(self, words: DataWords, named: Collection[Phrase]) -> None:
        self._irregular = words.irregular_verbs
        self._leads = words.verb_leads
        self._named = named

    def of(self, verb: str, *, bare: bool = True) -> Sequence[Phrase]:
        """The verb as it is listed, and its other forms; the first of several words is the verb.

        Without `bare`, what is listed as starring is not also star and stars, which are nouns.
        """
        said = phrase_of(verb)
        if not self._irregular or not said:
            return (said,) if said else ()
        if not bare and said[0].endswith(_INFLECTED):
            return (said,)
        at = 1 if said[0] in self._leads and len(said) > 1 else 0  # still holding
        forms = (
            (*said[:at], form, *said[at + 1 :])
            for form in sorted(verb_forms(said[at], self._irregular))
        )
        return (said, *(form for form in forms if form != said and form not in self._named))


def add_once(found: list[_T], one: _T) -> None:
    """Add what is not there yet."""
    if one not in found:
        found.append(one)


def add_column(found: list[Column], one: Column) -> None:
    """Add a column, or its better name where it is there."""
    for at, other in enumerate(found):
        if other[:2] == one[:2]:
            if one.rank < other.rank:
                found[at] = one
            return
    found.append(one)
