"""Free text: a city, a title, a message; where it stands, and where it ends."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from server.core.tools import SourceKind
from server.extraction.assignment import FILLERS, Words
from server.extraction.plan import ParameterPlan
from server.extraction.small_words import small_words
from server.extraction.text_edges import (
    NO_EDGES,
    Place,
    TextEdges,
    begins_sentence,
    is_capital,
    name_runs,
    snapped,
    unknown_runs,
)
from server.extraction.values import Candidate, SpanSet
from server.text.dates import PRESENT
from server.text.language import load_language
from server.text.parsed_text import ParsedText
from server.text.senses import sense_reader
from server.text.tokens import BLOCK, Tokens, is_digits, is_word

_ENGLISH: Final = load_language("en")
_group: Final = _ENGLISH.group
_KINDS_OF_PLACE: Final = _group("kinds_of_place")
_ACRONYMS: Final = _group("acronyms")
_LEADS: Final = _ENGLISH.leads
_SET_PHRASES: Final = _group("set_phrases")
"""Words that follow a preposition without being a value: in general, for free."""
_LEADING: Final = frozenset[str]().union(*_LEADS.values()) & (_group("prepositions") | {"of"})
"""Words after which a thing is named, and not a clause: of, with, about; but not so, because."""
_SENTENCE_ENDS: Final = frozenset("?!;|")
_OPENERS: Final = frozenset("([{")
_LONGEST_NAME: Final = 12
_LONGEST_SENTENCE: Final = 400
_MAX_LEADS: Final = 150
_LONGEST_BETWEEN: Final = 8
_CONTAINING: Final = _group("containing")
_CALLED: Final = _ENGLISH.topics["called"] | {"name"}
_QUOTE: Final = BLOCK + "quoted"

# How much each kind of evidence counts; the best one wins, then the earliest.
_TWO_WORDS, _NAMED, _ONE_WORD, _USUAL, _KNOWN, _CAPITALS, _SMALL = 60, 50, 40, 30, 25, 20, 10
_SOLID: Final = _NAMED
_MORE_THAN_SHOWN: Final = 1
"""How many words a name may have more than those of the examples, before it is in doubt."""


@dataclass(frozen=True, slots=True)
class TextContext:
    """How a free text stands in the examples of its template.

    `leads` are the one or two words before it, none at the beginning, and for each the words
    that came right after the value, "" where it may end the sentence. `sentences` says that
    values read as whole phrases, in which prepositions end nothing. Values are `capitalised`
    when all begin with a capital, `names` when most do, and `titles` when there are small words
    in them; `plain` ones have none. `lengths` are how many words they have.
    """

    leads: Mapping[Words, frozenset[str]] = field(default_factory=dict)
    known: frozenset[Words] = frozenset()
    vocabulary: frozenset[str] = frozenset()
    sentences: bool = False
    capitalised: bool = False
    names: bool = False
    titles: bool = False
    plain: bool = False
    lengths: frozenset[int] = frozenset()
    owns: bool = False
    """Whether an “of” stands within them: a pair of glasses."""
    introduced: bool = False
    """Whether most stand after an article for things not named yet: a red wallet."""
    numbered: bool = False
    """Whether a number before a name belongs to it: 14 Canal Street."""

    def stops(self, tokens: Tokens, edges: TextEdges) -> frozenset[int]:
        """Where words stand that end such a text; none where it may hold small words itself."""
        if not self.plain:
            return frozenset()
        owning = small_words(tokens.languages).owning if self.owns else frozenset[str]()
        return frozenset(at for at in edges.ends if tokens.word(at) not in owning)


NO_TEXT_CONTEXT: Final = TextContext()


def find_text(
    plan: ParameterPlan,
    context: TextContext,
    reading: ParsedText,
    taken: SpanSet,
    *,
    alone: bool,
    only: bool = False,
    edges: TextEdges = NO_EDGES,
) -> Candidate | None:
    """The text that the question gives for `plan`, or None when nothing says where it is.

    `alone` says that no other required free text is looked for, so that weaker evidence will
    do; `only`, that the template has no other free text at all.
    """
    by_capitals = context.names and not context.sentences and edges is not NO_EDGES
    runs = name_runs(reading, taken, edges, titles=context.titles) if by_capitals else []
    if context.numbered:
        runs = [with_number(reading, taken, run) for run in runs]
    runs = [_without_verb(context, reading, run) for run in runs]
    spare = [run for run in runs if run[0] not in edges.asides] or (runs if plan.required else [])
    own = [run for run in spare if not _led_elsewhere(context, reading.tokens, run[0])]
    found: list[tuple[int, Place]] = []
    for points, place in _scored_places(
        plan, context, reading, taken, alone=alone, only=only, edges=edges, runs=spare
    ):
        place = snapped(reading, place, runs)
        if own and context.capitalised and not _overlaps(place, runs):
            points = min(points, _SMALL)
        solid = points >= _SOLID or plan.required or (only and [place] == spare == own)
        if solid and _acceptable(context, reading, place, edges):
            upper = reading.clean[reading.tokens.starts[place[0]]].isupper()
            found.append((points + (context.capitalised and upper), place))
    if not found and alone and plan.required and edges is not NO_EDGES:
        left = _left_over(context, reading, taken, edges)
        return text_at(reading, left)._replace(doubtful=not context.sentences) if left else None
    if not found:
        return None
    points, place = min(found, key=lambda one: (-one[0], one[1][0]))
    learned = points in (_TWO_WORDS, _TWO_WORDS + 1, _ONE_WORD, _ONE_WORD + 1)
    text = text_at(reading, place, "example" if learned else "recognizer")
    rivals = {one for score, one in found if score == points and not _overlaps(one, [place])}
    doubtful = bool(rivals) or _in_doubt(context, reading, taken, place, runs, edges)
    return text._replace(doubtful=doubtful and edges is not NO_EDGES)


def with_number(reading: ParsedText, taken: SpanSet, run: Place) -> Place:
    """Return a name with the number right before it."""
    before = run[0] - 1
    free = is_digits(reading.tokens.word(before)) and taken.has_room(reading.tokens, before, run[0])
    return (before, run[1]) if free else run


def _left_over(
    context: TextContext, reading: ParsedText, taken: SpanSet, edges: TextEdges
) -> Place | None:
    """The only words of a question that nothing else accounts for, where they may be the value.

    They stand after an article, a preposition or another value, unless what they are is
    written with capitals: then they are as many as the examples have, in a question without any.
    """
    tokens = reading.tokens
    if context.sentences:
        return _rest(context, reading, taken)
    if not context.plain:
        return None
    runs = unknown_runs(reading, taken, edges)
    if context.names:
        plain = not any(
            is_capital(reading, index) and taken.has_room(tokens, index, index + 1)
            for index in range(1, len(tokens))
        )
        sizes = context.lengths - {1}
        found = [run for run in runs if plain and run[1] - run[0] in sizes]
    else:
        found = [run for run in runs if _is_marked(reading, taken, run[0])]
    written = [run for run in found if is_capital(reading, run[0])]
    asked = [run for run in written or found if run[0] not in edges.asides]
    found = asked or written or found
    return found[0] if len(found) == 1 else None


def _rest(context: TextContext, reading: ParsedText, taken: SpanSet) -> Place | None:
    """What is said after the last argument, less what the examples have around their values.

    Something of what they say has to stand before that: write to Ada, put it into the file of Bo.
    """
    tokens, small = reading.tokens, small_words(reading.languages)
    free = [taken.has_room(tokens, index, index + 1) for index in range(len(tokens))]
    first = len(free) - free[::-1].index(False) if False in free else len(free)
    telling = context.vocabulary - small.articles - small.prepositions - small.pronouns
    if not any(tokens.words[index] in telling for index in range(first) if free[index]):
        return None
    while tokens.word(first) in context.vocabulary or tokens.word(first) in _LEADS["saying"]:
        first += 1
    place = sentence_from(reading, taken, first) if first < len(tokens) else None
    return place if place is not None and place[1] - place[0] > 1 else None


def _is_marked(reading: ParsedText, taken: SpanSet, first: int) -> bool:
    """Whether a thing is likely to be named there: after an article, “of”, or a number."""
    small = small_words(reading.languages)
    tokens = reading.tokens
    if first == 0:
        return False
    before = tokens.words[first - 1]
    if before in small.articles or before in _LEADING:
        return True
    return is_word(before) and not taken.has_room(tokens, first - 1, first)


def _without_verb(context: TextContext, reading: ParsedText, run: Place) -> Place:
    """Leave out the first word of a sentence, where the rest is as long as the names shown."""
    first, last = run
    size = sum(map(is_word, reading.tokens.words[first:last]))
    if context.titles or not begins_sentence(reading, first) or size in context.lengths:
        return run
    return (first + 1, last) if size - 1 in context.lengths else run


def _led_elsewhere(context: TextContext, tokens: Tokens, first: int) -> bool:
    """Whether a preposition stands before it that leads to no such value in the examples."""
    small = small_words(tokens.languages)
    lead = first - 1
    while tokens.word(lead) in small.articles and lead > 0:
        lead -= 1
    word = tokens.word(lead)
    return word in small.prepositions and not any(word in known for known in context.leads)


def _overlaps(place: Place, runs: Sequence[Place]) -> bool:
    return any(run[0] < place[1] and place[0] < run[1] for run in runs)


def _in_doubt(
    context: TextContext,
    reading: ParsedText,
    taken: SpanSet,
    place: Place,
    runs: Sequence[Place],
    edges: TextEdges,
) -> bool:
    """Whether no known edge settles where the text ends, or it is longer than any that is shown."""
    small = small_words(reading.languages)
    tokens, (first, last) = reading.tokens, place
    size = sum(map(is_word, tokens.words[first:last]))
    if tokens.words[first] == _QUOTE:
        return False
    if place in runs:
        # A capital at the beginning of a sentence says little: Mark Jones, and Mark Nora Weiss.
        begins = first == 0 or tokens.words[first - 1] in ".?!" or is_initial(reading, first - 1)
        return begins and bool(context.lengths) and size not in context.lengths
    longest = max(context.lengths, default=size) + _MORE_THAN_SHOWN
    if size > longest and not context.sentences:
        return True
    if not context.sentences and says_nothing_new(context, reading, place, edges):
        return True
    if last == len(tokens) or not is_word(tokens.words[last]):
        return False
    if context.sentences:
        return True  # cut short by another argument
    if last in edges.ends or last in reading.moments or not taken.has_room(tokens, last, last + 1):
        return False
    following = tokens.words[last]
    if following in small.name_ends:
        after = last + 1
        while tokens.word(after) in small.articles:
            after += 1
        free = after < len(tokens) and taken.has_room(tokens, after, after + 1)
        return free and after not in reading.moments and after not in edges.known
    return not any(following in ends for ends in context.leads.values())


def says_nothing_new(
    context: TextContext, reading: ParsedText, place: Place, edges: TextEdges
) -> bool:
    """Whether all words there are known for other things than values: the rolls of 5 rolls."""
    words = reading.tokens.words[slice(*place)]
    return tuple(words) not in context.known and all(
        index in edges.known or not is_word(word)
        for index, word in zip(range(*place), words, strict=True)
    )


def is_initial(reading: ParsedText, index: int) -> bool:
    """Whether a word with a capital begins the sentence there."""
    return begins_sentence(reading, index) and is_capital(reading, index)


def text_at(reading: ParsedText, place: Place, kind: SourceKind = "recognizer") -> Candidate:
    """The words of `place` as they were written; a quote without its marks."""
    tokens = reading.tokens
    start, end = tokens.starts[place[0]], tokens.ends[place[1] - 1]
    if place[1] - place[0] == 1 and tokens.words[place[0]] == _QUOTE:
        start, end = start + 1, end - 1
    return Candidate(start, end, *place, reading.text[start:end], kind)


def _scored_places(
    plan: ParameterPlan,
    context: TextContext,
    reading: ParsedText,
    taken: SpanSet,
    *,
    alone: bool,
    only: bool,
    edges: TextEdges,
    runs: Sequence[Place],
) -> Iterator[tuple[int, Place]]:
    tokens = reading.tokens
    sentences = context.sentences or "saying" in plan.name.topics
    ends = context.stops(reading.tokens, edges)
    for index in range(min(len(tokens), _MAX_LEADS)):
        pair = tuple(tokens.words[max(0, index - 2) : index])
        for lead, points in ((pair, _TWO_WORDS), (pair[-1:], _ONE_WORD)):
            known = context.leads.get(lead)
            place = _led_to(context, reading, taken, index, known, edges) if known else None
            if not known or not place or (not lead and runs and (alone or only)):
                continue
            if not lead and context.capitalised and not _overlaps(place, runs):
                shown = place[1] - place[0] in context.lengths - {1}
                ended = tokens.word(place[1]) in known
                if runs or place[0] in edges.known or not (shown or ended):
                    continue  # to stand at the beginning says too little
            yield (points if lead else _ONE_WORD), place
    for points, first, whole in _announced(plan, reading, edges, sentences=sentences, alone=alone):
        if tokens.word(first) == _QUOTE:
            yield points, (first, first + 1)
            continue
        place = (
            _phrase_from(reading, taken, first, edges)
            if whole
            else name_from(reading, taken, first, ends=ends)
        )
        if place:
            yield points, place
    if alone and context.introduced:
        for place in _introduced(reading, taken, edges.ends):
            yield _USUAL, place
    if alone or only:
        for run in runs:
            verb = run[1] - run[0] == 1 < len(runs) and begins_sentence(reading, run[0])
            weak = verb or _led_elsewhere(context, tokens, run[0])
            yield (_SMALL if weak else _CAPITALS), run
    if not alone:
        return
    for length in {len(words) for words in context.known}:
        for first in range(min(len(tokens) - length + 1, _MAX_LEADS)):
            if tuple(tokens.words[first : first + length]) in context.known:
                yield _KNOWN, (first, first + length)
    if edges is NO_EDGES:
        capitals = capital_runs(reading, taken) if context.capitalised else []
        if len(capitals) == 1:
            yield _CAPITALS, capitals[0]


def _introduced(reading: ParsedText, taken: SpanSet, ends: frozenset[int]) -> Iterator[Place]:
    """Things that are named by what they are, and no people: a red wallet, his hearing aid."""
    small, words = small_words(reading.languages), reading.tokens.words
    senses = sense_reader((*reading.languages, "en")[0]).senses(words)
    people = {at for one in senses if one.sense == "person" for at in range(one.first, one.last)}
    for index, word in enumerate(words[:_MAX_LEADS]):
        if word in small.introducing and index + 1 not in people:
            inner = frozenset(at for at in ends if words[at] not in small.owning)
            place = name_from(reading, taken, index + 1, ends=inner)
            if place is not None:
                yield place


def _announced(
    plan: ParameterPlan, reading: ParsedText, edges: TextEdges, *, sentences: bool, alone: bool
) -> Iterator[tuple[int, int, bool]]:
    """Yield points, the first word of what is announced, and whether it is a whole sentence.

    By the parameter's name (title: Buy milk); when `alone`, by usual leads: in Oslo, called Kim.
    """
    small = small_words(reading.languages)
    tokens = reading.tokens
    own = plan.name.before - plan.name.leads
    topics = [t for t in plan.name.topics if t in ("place", "topic", "saying")]
    usual = _LEADS["called"].union(*(_LEADS[t] for t in topics)) | {":"}
    for index, word in enumerate(tokens.words[:_MAX_LEADS]):
        following = tokens.word(index + 1)
        if word in own and (following in (":", "=", _QUOTE) or following in FILLERS):
            first = index + 1
            while tokens.word(first) in FILLERS - small.articles:
                first += 1
            phrase = tokens.words[index + 1] == ":" and tokens.word(first) in small.openers
            yield _NAMED, first, sentences or phrase
        elif word in own and (colon := _announcing_colon(reading, index + 1, edges)) is not None:
            yield _NAMED, colon + 1, True
        elif word in own and is_word(following) and index + 1 not in edges.ends:
            before = tokens.word(index - 1)
            if index == 0 or before == "," or before in small.joints:
                yield _NAMED, index + 1, sentences
        if alone and word in usual:
            yield _USUAL, index + 1, sentences or (word == ":" and "called" in plan.name.topics)
        if plan.searches and _leads_to_part(plan, tokens, index):
            yield _NAMED, index + 1, False


def _leads_to_part(plan: ParameterPlan, tokens: Tokens, index: int) -> bool:
    """Whether a part of a text that is searched stands right after a word.

    With ghost in the title, whose title contains ghost; and called ghost, of a name or title.
    """
    word, named = tokens.words[index], frozenset(plan.name.words)
    if word in _LEADS["called"]:
        return not named.isdisjoint(_CALLED)
    if word not in _CONTAINING:
        return False
    if tokens.word(index - 1) in named:
        return True
    rest = tokens.words[index + 2 : index + 2 + _LONGEST_BETWEEN]
    return any(
        each == "in" and any(word in named for word in rest[at + 1 : at + 3])
        for at, each in enumerate(rest)
    )


def _led_to(
    context: TextContext,
    reading: ParsedText,
    taken: SpanSet,
    first: int,
    ends: frozenset[str],
    edges: TextEdges,
) -> Place | None:
    small = small_words(reading.languages)
    tokens = reading.tokens
    if "" not in ends:
        stop = min(first + _LONGEST_BETWEEN, len(tokens))
        last = next((i for i in range(first + 1, stop) if tokens.words[i] in ends), None)
        return None if last is None else _content(tokens, taken, first, last)
    if context.sentences:
        return _phrase_from(reading, taken, first, edges)
    stops = context.stops(tokens, edges)
    skip = small.possessives if context.titles else small.articles
    place = name_from(reading, taken, first, skip=skip, ends=stops)
    if place is None:
        return None
    first, last = place
    while first < last and tokens.words[first] in context.vocabulary:
        first += 1
        if tokens.word(first) == "of" and first + 1 < last:
            first += 1  # the price of NVDA is NVDA
            break
    else:
        first = place[0]
    known_ends = (i for i in range(first + 1, last) if tokens.words[i] in ends)
    return first, next(known_ends, last)


def _content(tokens: Tokens, taken: SpanSet, first: int, last: int) -> Place | None:
    small = small_words(tokens.languages)
    while first < last and tokens.words[first] in small.functions:
        first += 1
    if first == last or not taken.has_room(tokens, first, last):
        return None
    words = tokens.words[first:last]
    return (first, last) if all(w[0].isalnum() or w in "-'.’&" for w in words) else None


def _acceptable(context: TextContext, reading: ParsedText, place: Place, edges: TextEdges) -> bool:
    small = small_words(reading.languages)
    words = reading.tokens.words[place[0] : place[1]]
    if words == [_QUOTE]:
        return True
    if is_hollow(reading, place, edges):
        return False
    if not context.sentences and words[0] in small.pronouns:
        return False
    plain = [word for word in words if word[0].isalnum()]
    start = reading.tokens.starts[place[0]]
    written = reading.clean[start : reading.tokens.ends[place[1] - 1]]
    if context.capitalised and words[0].isdigit() and written.islower():
        return False  # 3 cities
    if words[0] in _SET_PHRASES and (len(plain) == 1 or reading.clean[start].islower()):
        return False
    return not all(word in small.functions or word in context.vocabulary for word in plain)


def is_hollow(reading: ParsedText, place: Place, edges: TextEdges) -> bool:
    """Whether the words there name nothing, as pronouns do; a capital within a sentence does."""
    small = small_words(reading.languages)
    words = reading.tokens.words
    spoken = [index for index in range(*place) if words[index][0].isalnum()]
    if all(words[index] in small.pronouns for index in spoken):
        return True
    return all(
        index in edges.empty
        and (index == 0 or not is_capital(reading, index) or begins_sentence(reading, index))
        for index in spoken
    )


def bounded_name(
    context: TextContext, reading: ParsedText, place: Place, edges: TextEdges
) -> Place | None:
    """Return what of `place` is a name: without small words before it, up to one that ends it.

    None where nothing there names anything.
    """
    first, last = place
    if reading.tokens.words[first] == _QUOTE:
        return place
    if is_hollow(reading, place, edges):
        return None
    colon = _announcing_colon(reading, first, edges)
    if colon is not None and colon + 1 < last:
        return colon + 1, last
    if context.sentences or not context.plain:
        return place
    while first < last and first in edges.empty & edges.ends and not is_capital(reading, first):
        first += 1
    stops = (at for at in range(first + 1, last) if at in edges.ends)
    end = next((at for at in stops if not is_capital(reading, at)), last)
    return _trimmed(reading.tokens, first, end)


def name_from(
    reading: ParsedText,
    taken: SpanSet,
    first: int,
    *,
    skip: frozenset[str] | None = None,
    ends: frozenset[int] = frozenset(),
) -> Place | None:
    """Return the name that begins at the word `first`, after words to `skip`, or None.

    It ends with its sentence, at a preposition, at a comma without a capital letter behind it
    (Paris, France), before any date, time or other argument, and before a word in small
    letters at one of the places in `ends`.
    """
    small = small_words(reading.languages)
    tokens = reading.tokens
    skip = small.articles if skip is None else skip
    while tokens.word(first) in skip:
        if tokens.words[first] in small.possessives:
            return None
        first += 1
    if tokens.word(first) in _KINDS_OF_PLACE and tokens.word(first + 1) == "of":
        first += 2  # the city of Prague
    last = first
    while last < len(tokens) and last - first < _LONGEST_NAME and not _stops(reading, taken, last):
        word = tokens.words[last]
        if (word in small.name_ends and last > first) or (
            word == "," and not _capital(reading, last + 1)
        ):
            break
        if last > first and last in ends and not is_capital(reading, last):
            break
        last += 1
    return _trimmed(tokens, first, last)


def sentence_from(
    reading: ParsedText, taken: SpanSet, first: int, *, trailing: frozenset[str] | None = None
) -> Place | None:
    """The words from `first` to the end of the message, or to another argument.

    Words of `trailing` at its end are left out.
    """
    tokens = reading.tokens
    while tokens.word(first) in (":", ",", "-", "that"):
        first += 1
    for last in range(first, len(tokens)):
        if last - first > _LONGEST_SENTENCE:
            return None
        is_data = tokens.words[last] in (BLOCK + "array", BLOCK + "object")
        if is_data or not taken.has_room(tokens, last, last + 1):
            return _trimmed(tokens, first, last)
    if trailing is None:
        trailing = small_words(reading.languages).polite
    return _trimmed(tokens, first, max(first, len(tokens)), trailing)


def _phrase_from(reading: ParsedText, taken: SpanSet, first: int, edges: TextEdges) -> Place | None:
    """As `sentence_from`, without what announces the text, and what leads to the next argument."""
    small = small_words(reading.languages)
    tokens = reading.tokens
    colon = _announcing_colon(reading, first, edges)
    if colon is None and tokens.word(first - 1) == ":":
        colon = first - 1
    if colon is None or edges is NO_EDGES:
        place = sentence_from(reading, taken, first)
    else:
        place = sentence_from(reading, taken, colon + 1, trailing=small.polite - PRESENT)
        if place and place[1] == len(tokens) - 1 and tokens.words[-1] in "?!":
            place = place[0], len(tokens)  # the mark of what is said, and not of who says it
    if place is None or edges is NO_EDGES:
        return place
    first, last = place
    if last < len(tokens) and tokens.words[last] not in _SENTENCE_ENDS | {".", ","}:
        comma = next((at for at in range(last - 1, first, -1) if tokens.words[at] == ","), None)
        if comma is not None and all(at in edges.known for at in range(comma + 1, last)):
            return _trimmed(tokens, first, comma, small.polite)
    return place


def _announcing_colon(reading: ParsedText, first: int, edges: TextEdges) -> int | None:
    """The colon before which only known words stand: for the maid: knock first."""
    small = small_words(reading.languages)
    tokens = reading.tokens
    for index in range(first, min(first + _LONGEST_BETWEEN, len(tokens))):
        if tokens.words[index] == ":":
            return None if tokens.glued(index + 1) else index
        addressed = first < index and tokens.words[first] in small.prepositions  # for the maid
        if not is_word(tokens.words[index]) or not (addressed or index in edges.known):
            return None
    return None


def _stops(reading: ParsedText, taken: SpanSet, index: int) -> bool:
    tokens = reading.tokens
    word = tokens.words[index]
    if word in _SENTENCE_ENDS or word in _OPENERS or word == ":" or word[0] == BLOCK:
        return True
    if word == "." and not tokens.glued(index + 1):
        # It ends a sentence, and is none of St. or D.C.
        return index + 1 == len(tokens) or len(tokens.word(index - 1)) > 3
    return index in reading.moments or not taken.has_room(tokens, index, index + 1)


def _capital(reading: ParsedText, index: int) -> bool:
    small = small_words(reading.languages)
    tokens = reading.tokens
    if index >= len(tokens) or not reading.clean[tokens.starts[index]].isupper():
        return False
    word = tokens.words[index]
    return word not in small.functions or (word != "i" and len(word) == 1)


def _trimmed(
    tokens: Tokens, first: int, last: int, trailing: frozenset[str] | None = None
) -> Place | None:
    small = small_words(tokens.languages)
    trailing = small.loose if trailing is None else trailing
    while last > first:
        word = tokens.words[last - 1]
        if word not in trailing and (word[0].isalnum() or word in (")", "]", "%", "+", "#")):
            break
        last -= 1
    while first < last and not (tokens.words[first][0].isalnum() or tokens.words[first] in "#@$("):
        first += 1
    words = tokens.words[first:last]
    telling = [w for w in words if w[0].isdigit() or (is_word(w) and w not in small.functions)]
    return (first, last) if telling or words == [_QUOTE] else None


def capital_runs(reading: ParsedText, taken: SpanSet, nouns: Container[str] = ()) -> list[Place]:
    """Names in a text, going by capital letters; none in a text that is full of them.

    `nouns` have a capital whatever they stand for.
    """
    small = small_words(reading.languages)
    tokens = reading.tokens
    upper = [
        is_word(word) and reading.clean[tokens.starts[index]].isupper()
        for index, word in enumerate(tokens.words)
    ]
    if sum(upper) * 2 > sum(is_word(word) or is_digits(word) for word in tokens.words) + 1:
        return []
    runs: list[Place] = []
    for index, is_upper in enumerate(upper):
        word = tokens.words[index]
        begins = index == 0 or tokens.words[index - 1] in (".", "?", "!", ":")
        written = reading.clean[tokens.starts[index] : tokens.ends[index]]
        begins = begins and not (len(written) > 1 and written.isupper())  # but NVDA is a name
        if not is_upper or begins or word in small.functions or word in _ACRONYMS:
            continue
        if not taken.has_room(tokens, index, index + 1) or word in nouns:
            continue
        between = tokens.words[runs[-1][1] : index] if runs else []
        joins = all(word in small.particles or word in "-'’." for word in between)
        joins = joins or (between[-1:] == ["s"] and between[0] in "'’")  # Miller's Pharmacy
        if runs and joins and len(between) < 4:
            runs[-1] = (runs[-1][0], index + 1)
        else:
            runs.append((index, index + 1))
    return runs
