"""Where a free text can begin and end, by the small words of its language and by its template.

A name that is written with capitals is a run of them; one in small letters ends before a word
that the language or the template knows. What no such edge settles is in doubt.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Final

from server.extraction.frame import Frame
from server.extraction.small_words import SmallWords, small_words
from server.extraction.values import SpanSet
from server.text.language import Sense, load_language
from server.text.parsed_text import ParsedText
from server.text.senses import BEARS_NOTHING, Clause, MessageSenses
from server.text.stems import stem
from server.text.tokens import Tokens, is_digits, is_word

Place = tuple[int, int]

_ENGLISH: Final = load_language("en")
_ACRONYMS: Final = _ENGLISH.group("acronyms")
_GLUE: Final = frozenset("'’-‐–&/")
_HYPHENS: Final = frozenset("-‐–&/")
_SENTENCE_BEGINS: Final = frozenset(".?!:;")
_ENDING: Final[frozenset[Sense]] = frozenset(
    {
        "filler",
        "negation",
        "exclusion",
        "condition",
        "question",
        "reason",
        "restriction",
        "direction",
    }
)
"""Senses that no name in small letters holds; “light” words it may: a drill set."""
_LONGEST_JOINT: Final = 3
_SHORTEST_SHOUT: Final = 6
_LONGEST_ABBREVIATION: Final = 3


@dataclass(frozen=True, slots=True)
class TextEdges:
    """What the words of one question are to the names in it, each by its place.

    At those in `ends` a name in small letters ends. `empty` say nothing by themselves, and
    `known` are all that the language or the library knows, so that a capital at the beginning
    of a sentence makes no name of them. `asides` stand in clauses that only tell something.
    """

    ends: frozenset[int] = frozenset()
    empty: frozenset[int] = frozenset()
    known: frozenset[int] = frozenset()
    asides: frozenset[int] = frozenset()


NO_EDGES: Final = TextEdges()


def text_edges(
    reading: ParsedText,
    senses: MessageSenses,
    frame: Frame,
    library: Container[str],
    asides: Sequence[Clause] = (),
) -> TextEdges:
    """Tell for one template what the words of a question are to its names."""
    small = small_words(reading.languages)
    tokens, code = reading.tokens, senses.reader.code
    ends, empty, known = set[int](), set[int](), set[int]()
    for sense in senses.senses:
        places = range(sense.first, sense.last)
        known.update(places)
        if sense.sense in BEARS_NOTHING:
            empty.update(index for index in places if not _is_part(tokens, index))
        if sense.sense in _ENDING and not _is_part(tokens, sense.first):
            ends.add(sense.first)
    for index, word in enumerate(senses.words):
        if not is_word(word) or index in known:
            continue
        root = stem(word, code)
        if word in small.functions or root in frame.stems or root in library:
            known.add(index)
        if frame.stems.get(root, 0) > 0 and not _is_part(tokens, index):
            ends.add(index)
    inside = frozenset(at for one in asides for at in range(one.first, one.last))
    return TextEdges(frozenset(ends), frozenset(empty), frozenset(known), inside)


def _is_part(tokens: Tokens, index: int) -> bool:
    """Whether the word is but a part of one: the hi of hi-vis, the m of m8."""
    before, after = tokens.word(index - 1), tokens.word(index + 1)
    joined = tokens.glued(index) and (before in _GLUE or is_digits(before))
    if joined or not tokens.glued(index + 1):
        return joined
    return is_digits(after) or (after in _HYPHENS and tokens.glued(index + 2))


def is_capital(reading: ParsedText, index: int) -> bool:
    """Whether the word has a capital letter anywhere: Oslo, iPhone."""
    tokens = reading.tokens
    written = reading.clean[tokens.starts[index] : tokens.ends[index]]
    return is_word(tokens.words[index]) and written != written.lower()


def begins_sentence(reading: ParsedText, index: int) -> bool:
    """Whether a capital letter is due there, whatever the word."""
    words = reading.tokens.words
    if index == 0 or words[index - 1] not in _SENTENCE_BEGINS:
        return index == 0
    return words[index - 1] != "." or not _is_abbreviated(reading, index - 1)


def _is_abbreviated(reading: ParsedText, stop: int) -> bool:
    """Whether the stop is that of St. or J., and ends no sentence."""
    before = stop - 1
    short = before >= 0 and len(reading.tokens.words[before]) <= _LONGEST_ABBREVIATION
    return short and is_capital(reading, before)


def name_runs(
    reading: ParsedText, taken: SpanSet, edges: TextEdges, *, titles: bool = False
) -> list[Place]:
    """Names by their capital letters, with the small words that stand within them.

    The first word of a sentence belongs to a name when nothing knows it. `titles` begin with
    articles, and hold more small words than the names of people do: The Name of the Rose.
    """
    small = small_words(reading.languages)
    tokens = reading.tokens
    words = tokens.words
    spoken = [index for index, word in enumerate(words) if is_word(word)]
    if len(spoken) >= _SHORTEST_SHOUT and all(is_capital(reading, index) for index in spoken):
        return []  # all are written with capitals, so that they tell nothing
    runs: list[Place] = []
    for index in spoken:
        if not is_capital(reading, index) or not taken.has_room(tokens, index, index + 1):
            continue
        word = words[index]
        if small.capital_nouns and index in edges.known:
            continue  # a noun like any other
        follows = bool(runs) and _joins(reading, taken, runs[-1][1], index, titles=titles)
        if not follows:
            leads_title = titles and word in small.articles and _leads_name(reading, taken, index)
            if begins_sentence(reading, index):
                if index in edges.known and not leads_title:
                    continue
            elif _is_small(word, small) and not leads_title:
                continue
        elif _is_small(word, small) and not titles:
            continue
        if follows:
            runs[-1] = runs[-1][0], index + 1
        else:
            runs.append((index, index + 1))
    if small.capital_nouns:
        runs = [run for run in runs if not _is_noun(reading, run, small)]
    return runs


def _is_noun(reading: ParsedText, run: Place, small: SmallWords) -> bool:
    """Whether a single word is but a noun, where nouns have capitals: after an article."""
    first, last = run
    before = reading.tokens.word(first - 1)
    if last - first > 1:
        return False
    return before in small.articles or before in small.contracted or is_digits(before)


def _is_small(word: str, small: SmallWords) -> bool:
    """Whether it is no name though it has a capital: I, The, PDF; but the D of D.C. is one."""
    return word in _ACRONYMS or (word in small.functions and len(word) > 1)


def _leads_name(reading: ParsedText, taken: SpanSet, index: int) -> bool:
    after = index + 1
    if after >= len(reading.tokens) or not is_capital(reading, after):
        return False
    return taken.has_room(reading.tokens, after, after + 1)


def _joins(reading: ParsedText, taken: SpanSet, first: int, last: int, *, titles: bool) -> bool:
    """Whether what stands between two words with capitals lets them be one name."""
    small = small_words(reading.languages)
    between = reading.tokens.words[first:last]
    if len(between) > _LONGEST_JOINT or not all(
        taken.has_room(reading.tokens, index, index + 1) for index in range(first, last)
    ):
        return False
    if "." in between:
        return between == ["."] and _is_abbreviated(reading, first)
    inside = small.articles | small.prepositions | small.particles if titles else small.particles
    if between and between[0] in small.particles:
        inside |= small.articles  # the Lord of the Rings
    return all(word in inside or word in _GLUE for word in between)


def unknown_runs(reading: ParsedText, taken: SpanSet, edges: TextEdges) -> list[Place]:
    """Words in a row that no argument has taken and nothing knows, with what is glued to them."""
    tokens = reading.tokens
    runs: list[Place] = []
    for index, word in enumerate(tokens.words):
        free = taken.has_room(tokens, index, index + 1)
        if not free or index in edges.known or index in reading.moments:
            continue
        follows = bool(runs) and runs[-1][1] == index
        glued = follows and tokens.glued(index) and (word in _HYPHENS or word[0].isalnum())
        if is_word(word) or glued:
            if follows:
                runs[-1] = runs[-1][0], index + 1
            else:
                runs.append((index, index + 1))
    return runs


def snapped(reading: ParsedText, place: Place, runs: Sequence[Place]) -> Place:
    """Return the name with capitals that `place` was meant for; `place` itself where it has none.

    A name goes on after its run with numbers and signs (Route 66), and with another run after
    a comma (Paris, France).
    """
    first, last = place
    touched = [run for run in runs if run[0] < last and first < run[1]]
    if not touched:
        return place
    start, end = touched[0]
    words = reading.tokens.words
    while end < last:
        beyond = next((run for run in touched if run[0] == end), None)
        if beyond is not None:
            end = beyond[1]
        elif is_word(words[end]):
            break
        else:
            end += 1
    while end > start and not words[end - 1][0].isalnum() and words[end - 1] not in "#%+)":
        end -= 1
    return start, end
