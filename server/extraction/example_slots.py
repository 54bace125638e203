"""What a template's own examples teach about where its values stand."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from server.extraction.assignment import NO_CONTEXT, ContextWords, Words
from server.extraction.text_spans import Place, name_from, sentence_from
from server.extraction.types import SpanSet
from server.text.language import load_language
from server.text.parsed_text import ParsedText
from server.text.tokens import BLOCK, is_word

_ENGLISH: Final = load_language("en")
_FUNCTION_WORDS: Final = _ENGLISH.function_words
_ARTICLES: Final = _ENGLISH.group("articles")
_PREPOSITIONS: Final = _ENGLISH.group("prepositions")

_GENERIC: Final = _ARTICLES | _ENGLISH.group("generic_leads")
"""Words that stand before too many things to lead to a value alone."""
_APOSTROPHES: Final = frozenset("'’")
_APOSTROPHES_BEFORE: Final = frozenset({("'",), ("’",)})


class ExampleSlot(NamedTuple):
    """The value of a parameter in an example: the words from `first` up to `last`."""

    reading: ParsedText
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
        if not is_word(word) or word in _FUNCTION_WORDS:
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


def contexts(fillers: Mapping[str, Sequence[ExampleSlot]]) -> dict[str, ContextWords]:
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
        name: ContextWords(_only(left, name), _only(right, name)) if found else NO_CONTEXT
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
    fillers: Sequence[ExampleSlot], about: str, values: Collection[str], *, sentences: bool
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


def _starts_upper(filler: ExampleSlot) -> bool:
    return filler.reading.clean[filler.reading.tokens.starts[filler.first]].isupper()


def _reads_as_sentence(words: Words) -> bool:
    return (
        len(words) > 4 or words[0] in _ARTICLES or any(word in _PREPOSITIONS for word in words[1:])
    )


_ACRONYMS: Final = _ENGLISH.group("acronyms")
_PARTICLES: Final = _ENGLISH.group("name_particles")
_SENTENCE_LEADS: Final = _ENGLISH.group("sentence_leads") | {":"}
_LONGEST_FILLER: Final = 8
_MAX_EXAMPLES: Final = 40


def capital_runs(reading: ParsedText, taken: SpanSet) -> list[Place]:
    """Names in a text, going by capital letters; none in a text that is full of them."""
    tokens = reading.tokens
    upper = [
        is_word(word) and reading.clean[tokens.starts[index]].isupper()
        for index, word in enumerate(tokens.words)
    ]
    if sum(upper) * 2 > sum(map(is_word, tokens.words)) + 1:
        return []
    runs: list[Place] = []
    for index, is_upper in enumerate(upper):
        word = tokens.words[index]
        begins = index == 0 or tokens.words[index - 1] in (".", "?", "!", ":")
        written = reading.clean[tokens.starts[index] : tokens.ends[index]]
        begins = begins and not (len(written) > 1 and written.isupper())  # but NVDA is a name
        if not is_upper or begins or word in _FUNCTION_WORDS or word in _ACRONYMS:
            continue
        if not taken.free(tokens.starts[index], tokens.ends[index]):
            continue
        if runs and _joined(reading, runs[-1][1], index):
            runs[-1] = (runs[-1][0], index + 1)
        else:
            runs.append((index, index + 1))
    return runs


def _joined(reading: ParsedText, last: int, index: int) -> bool:
    between = reading.tokens.words[last:index]
    return all(word in _PARTICLES or word in "-'’." for word in between) and len(between) < 4


def led_by_preposition(reading: ParsedText, taken: SpanSet) -> Place | None:
    """The last words of an example after its only preposition: "weather for rome"."""
    tokens = reading.tokens
    places = [
        index + 1
        for index, word in enumerate(tokens.words)
        if word in _PREPOSITIONS and taken.free(tokens.starts[index], tokens.ends[index])
    ]
    if len(places) != 1:
        return None
    place = name_from(reading, taken, places[0])
    at_end = place is not None and not any(is_word(word) for word in tokens.words[place[1] :])
    return place if at_end else None


def led_alike(readings: Sequence[ParsedText], takens: Sequence[SpanSet]) -> list[ExampleSlot]:
    """Values after the word that leads to one in most examples: "to" review, "to" buy."""
    found: dict[str, list[ExampleSlot]] = defaultdict(list)
    for reading, taken in zip(readings, takens, strict=True):
        words = reading.tokens.words
        for index, word in enumerate(words):
            leads = word in _SENTENCE_LEADS or word in _PREPOSITIONS
            if not leads or words.count(word) > 1:
                continue
            read = sentence_from if word in _SENTENCE_LEADS else name_from
            place = read(reading, taken, index + 1)
            if place is not None and words[place[0]] not in _FUNCTION_WORDS:
                found[word].append(ExampleSlot(reading, *place))
    best = max(found.values(), key=len, default=[])
    different = {filler.words for filler in best}
    return best if len(different) > 1 and 2 * len(best) >= len(readings) else []


def differing(readings: Sequence[ParsedText], takens: Sequence[SpanSet]) -> list[ExampleSlot]:
    """Where examples that begin or end alike differ: "weather in paris", "weather in oslo"."""
    found: dict[tuple[int, int, int], ExampleSlot] = {}
    rows = list(zip(readings, takens, strict=True))[:_MAX_EXAMPLES]
    for one, (reading, taken) in enumerate(rows):
        for other, (reading2, taken2) in enumerate(rows[:one]):
            head, tail = _common(reading, reading2)
            shared = (
                reading.tokens.words[:head] + reading.tokens.words[len(reading.tokens) - tail :]
            )
            if sum(map(is_word, shared)) < 2:
                continue
            places = [(head, len(r.tokens) - tail) for r in (reading, reading2)]
            fits = all(
                _fills(r, t, place)
                for r, t, place in zip((reading, reading2), (taken, taken2), places, strict=True)
            )
            if fits:
                found[one, *places[0]] = ExampleSlot(reading, *places[0])
                found[other, *places[1]] = ExampleSlot(reading2, *places[1])
    return [found[key] for key in sorted(found)]


def _common(one: ParsedText, other: ParsedText) -> tuple[int, int]:
    """How many words two texts share at the beginning and at the end."""
    a, b = one.tokens.words, other.tokens.words
    shorter = min(len(a), len(b))
    head = next((n for n in range(shorter) if a[n] != b[n]), shorter)
    left = shorter - head
    tail = next((n for n in range(left) if a[-1 - n] != b[-1 - n]), left)
    return head, tail


def _fills(reading: ParsedText, taken: SpanSet, place: Place) -> bool:
    """Whether the words could be a value: content words that nothing else has taken."""
    first, last = place
    tokens = reading.tokens
    words = tokens.words[first:last]
    if not 0 < len(words) <= _LONGEST_FILLER or words[0] in _FUNCTION_WORDS:
        return False
    if any(word[0] == BLOCK or word in "?!.:" or word in _PREPOSITIONS for word in words):
        return False
    return taken.free(tokens.starts[first], tokens.ends[last - 1])
