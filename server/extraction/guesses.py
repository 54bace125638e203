"""Where the only free text of a template may stand in examples that do not show it for sure."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from server.extraction.english import FUNCTION_WORDS, PREPOSITIONS
from server.extraction.lessons import Filler
from server.extraction.recognizers.reading import Reading
from server.extraction.recognizers.tokens import BLOCK, is_word, word_set
from server.extraction.regions import Place, name_from, sentence_from
from server.extraction.taken import Taken

_ACRONYMS: Final = word_set("i json api url id iso utc csv sql pdf html xml faq ok")
_PARTICLES: Final = word_set("of de da di do del la le el los las der den van von am on upon y")
_SENTENCE_LEADS: Final = word_set("to that saying") | {":"}
_LONGEST_FILLER: Final = 8
_MAX_EXAMPLES: Final = 40


def capital_runs(reading: Reading, taken: Taken) -> list[Place]:
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
        if not is_upper or begins or word in FUNCTION_WORDS or word in _ACRONYMS:
            continue
        if not taken.free(tokens.starts[index], tokens.ends[index]):
            continue
        if runs and _joined(reading, runs[-1][1], index):
            runs[-1] = (runs[-1][0], index + 1)
        else:
            runs.append((index, index + 1))
    return runs


def _joined(reading: Reading, last: int, index: int) -> bool:
    between = reading.tokens.words[last:index]
    return all(word in _PARTICLES or word in "-'’." for word in between) and len(between) < 4


def led_by_preposition(reading: Reading, taken: Taken) -> Place | None:
    """The last words of an example after its only preposition: "weather for rome"."""
    tokens = reading.tokens
    places = [
        index + 1
        for index, word in enumerate(tokens.words)
        if word in PREPOSITIONS and taken.free(tokens.starts[index], tokens.ends[index])
    ]
    if len(places) != 1:
        return None
    place = name_from(reading, taken, places[0])
    at_end = place is not None and not any(is_word(word) for word in tokens.words[place[1] :])
    return place if at_end else None


def led_alike(readings: Sequence[Reading], takens: Sequence[Taken]) -> list[Filler]:
    """Values after the word that leads to one in most examples: "to" review, "to" buy."""
    found: dict[str, list[Filler]] = defaultdict(list)
    for reading, taken in zip(readings, takens, strict=True):
        words = reading.tokens.words
        for index, word in enumerate(words):
            leads = word in _SENTENCE_LEADS or word in PREPOSITIONS
            if not leads or words.count(word) > 1:
                continue
            read = sentence_from if word in _SENTENCE_LEADS else name_from
            place = read(reading, taken, index + 1)
            if place is not None and words[place[0]] not in FUNCTION_WORDS:
                found[word].append(Filler(reading, *place))
    best = max(found.values(), key=len, default=[])
    different = {filler.words for filler in best}
    return best if len(different) > 1 and 2 * len(best) >= len(readings) else []


def differing(readings: Sequence[Reading], takens: Sequence[Taken]) -> list[Filler]:
    """Where examples that begin or end alike differ: "weather in paris", "weather in oslo"."""
    found: dict[tuple[int, int, int], Filler] = {}
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
                found[one, *places[0]] = Filler(reading, *places[0])
                found[other, *places[1]] = Filler(reading2, *places[1])
    return [found[key] for key in sorted(found)]


def _common(one: Reading, other: Reading) -> tuple[int, int]:
    """How many words two texts share at the beginning and at the end."""
    a, b = one.tokens.words, other.tokens.words
    shorter = min(len(a), len(b))
    head = next((n for n in range(shorter) if a[n] != b[n]), shorter)
    left = shorter - head
    tail = next((n for n in range(left) if a[-1 - n] != b[-1 - n]), left)
    return head, tail


def _fills(reading: Reading, taken: Taken, place: Place) -> bool:
    """Whether the words could be a value: content words that nothing else has taken."""
    first, last = place
    tokens = reading.tokens
    words = tokens.words[first:last]
    if not 0 < len(words) <= _LONGEST_FILLER or words[0] in FUNCTION_WORDS:
        return False
    if any(word[0] == BLOCK or word in "?!.:" or word in PREPOSITIONS for word in words):
        return False
    return taken.free(tokens.starts[first], tokens.ends[last - 1])
