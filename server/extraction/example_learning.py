"""What a template's own examples teach about where its values stand."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import Final, NamedTuple

from server.extraction.assignment import ContextWords, Words
from server.extraction.example_roles import learn_arrangements
from server.extraction.free_text import (
    TextContext,
    capital_runs,
    find_text,
    name_from,
    sentence_from,
    with_number,
)
from server.extraction.plan import ParameterPlan, TemplatePlan
from server.extraction.slot_filling import ExampleContexts, SlotFilling
from server.extraction.small_words import SmallWords, small_words
from server.extraction.text_chains import find_chain, learn_chain
from server.extraction.text_edges import Place, TextEdges, is_capital, name_runs
from server.extraction.value_kinds import GROUPS
from server.library.model import Domain
from server.text.language import load_language
from server.text.parsed_text import ParsedText
from server.text.senses import BEARS_NOTHING, WordSense, sense_reader
from server.text.tokens import BLOCK, Tokens, is_digits, is_word

ANY_DAY: Final = datetime(2025, 1, 1, 12, tzinfo=UTC)
"""What examples count from; the words around a date are the same on every day."""

_ENGLISH: Final = load_language("en")
_group: Final = _ENGLISH.group
_SENTENCE_LEADS: Final = _group("sentence_leads") | {":"}
_LEADS_TO_SAYING: Final = _ENGLISH.leads["saying"]
_APOSTROPHES: Final = frozenset("'’")
_SENSES_OF_VERBS: Final = BEARS_NOTHING | {"negation"}
"""Senses of what stands after the subject of a sentence: has, just, never."""
_LONGEST_VALUE: Final = 8
_MAX_EXAMPLES: Final = 40


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
        return tuple(self.reading.tokens.words[max(0, self.first - 2) : self.first])

    @property
    def right(self) -> Words:
        return tuple(self.reading.tokens.words[self.last : self.last + 2])

    @property
    def end(self) -> str:
        """The word that ends the value; empty where it ends by itself."""
        small = small_words(self.reading.languages)
        word = self.right[0] if self.right else ""
        if word in _APOSTROPHES and self.reading.tokens.glued(self.last):
            return "'"  # Apple's stock price
        if not is_word(word) or word in small.functions:
            return ""
        begins_value = any(span.first == self.last for span in self.reading.spans)
        return "" if begins_value else word


def learn_examples(
    plan: TemplatePlan, domain: Domain, languages: Sequence[str] = ()
) -> ExampleContexts:
    """Return what the template's `nl_examples` teach about each of its parameters.

    A value's place is known when a pattern captures it, when it is the parameter's `example`,
    when it is quoted, and when no other could be meant. A single free text also learns from
    capital letters, and from where examples differ.
    """
    examples = [
        SlotFilling(
            plan,
            ParsedText(text, ANY_DAY, domain.date_order, languages),
            synonyms=domain.synonyms,
            is_example=True,
        )
        for text in plan.template.nl_examples
    ]
    for example in examples:
        example.fill_from_patterns()
        example.fill_recognized(texts=False)
    known = {
        one.key: [slot for example in examples if (slot := _sure_slot(one, example)) is not None]
        for one in plan.parameters
    }
    chain = learn_chain(plan.groups["text"], [(one.reading, one.taken) for one in examples])
    for example in examples if chain else ():
        places = find_chain(len(chain), example.reading, example.taken)
        for key, place in zip(chain, places, strict=False):
            if not any(slot.reading is example.reading for slot in known[key]):
                known[key].append(ExampleSlot(example.reading, *place))
    required = [one for one in plan.groups["text"] if one.required]
    in_order = _named_in_order(examples, required)
    shown = [*known.values(), *in_order]
    values = {word for slots in shown for slot in slots for word in slot.words}
    phrases: set[str] = set()
    for one in plan.groups["text"]:
        slots = known[one.key]
        alone = [one] == required
        spoken = (
            _spoken(_without(examples, slots)) if alone or plan.groups["text"] == (one,) else []
        )
        said = "saying" in one.name.topics or (len(spoken) > 1 and 2 * len(spoken) >= len(examples))
        if said:
            slots += spoken
        if alone:
            slots += _guessed(examples, slots, names=not said)
        elif plan.groups["text"] == (one,):
            slots += _named(_without(examples, slots))
        elif one in required and not slots:
            slots += in_order[required.index(one)]
        to_do = any(slot.left[-1:] == ("to",) for slot in slots)
        is_phrase = said or ("called" in one.name.topics and to_do)
        if is_phrase:
            phrases.add(one.key)
        learned = _text_context(plan, slots, values, sentences=is_phrase)
        # What the sure examples teach finds the values of the others, which teach more.
        for example in _without(examples, slots):
            text = find_text(one, learned, example.reading, example.taken, alone=alone)
            if text is not None and text.kind == "example":
                ends = frozenset[int]() if learned.sentences else _fillers(example.reading)
                last = min((at for at in ends if text.first < at < text.last), default=text.last)
                slots.append(ExampleSlot(example.reading, text.first, last))
        lonely = alone or len(plan.groups["text"]) == 1
        if lonely and learned.names and not learned.sentences:
            rest = [
                (example, _shown_name(learned, example)) for example in _without(examples, slots)
            ]
            slots += [ExampleSlot(e.reading, *place) for e, place in rest if place is not None]
        values |= {word for slot in slots for word in slot.words}
    texts = {
        one.key: _text_context(plan, known[one.key], values, sentences=one.key in phrases)
        for one in plan.groups["text"]
    }
    words = _context_words(known)
    return ExampleContexts(words, texts, learn_arrangements(plan, examples, words), chain)


def _sure_slot(plan: ParameterPlan, example: SlotFilling) -> ExampleSlot | None:
    reading = example.reading
    found = example.found.get(plan.key)
    alike = example.plan.groups[GROUPS[plan.role]]
    counted = plan.key in example.sure and GROUPS[plan.role] in ("amount", "date")
    known = found is not None and plan.role == "text" and found.kind == "vocabulary"
    if found is not None and (counted or known or found.kind == "template_pattern"):
        return ExampleSlot(reading, found.first, found.last)
    # A sentence that has only one of two currencies may well have it in the other's place.
    shown = {p.key: _example_place(p, example) for p in alike if p.parameter.example is not None}
    place = shown.get(plan.key)
    if place and all(shown[p.key] for p in alike if p.required and p.key in shown):
        return ExampleSlot(reading, *place)
    quotes = reading.of("quoted")
    if plan.role == "text" and len(quotes) == 1 and len(alike) == 1:
        return ExampleSlot(reading, quotes[0].first, quotes[0].last)
    return None


def _example_place(plan: ParameterPlan, example: SlotFilling) -> Place | None:
    wanted = plan.parameter.example
    same = [c for c in example.candidates_of(plan) if c.value == wanted]
    if len(same) == 1:
        return same[0].first, same[0].last
    words = Tokens(wanted).words if isinstance(wanted, str) else []
    spoken, size = example.reading.tokens.words, len(words)
    places = [n for n in range(len(spoken) - size + 1) if words and spoken[n : n + size] == words]
    return (places[0], places[0] + size) if len(places) == 1 else None


def _without(examples: Sequence[SlotFilling], known: Sequence[ExampleSlot]) -> list[SlotFilling]:
    seen = {id(slot.reading) for slot in known}
    return [example for example in examples if id(example.reading) not in seen]


def _context_words(known: Mapping[str, Sequence[ExampleSlot]]) -> dict[str, ContextWords]:
    left: dict[Words, set[str]] = defaultdict(set)
    right: dict[Words, set[str]] = defaultdict(set)
    for name, slots in known.items():
        for slot in slots:
            small = small_words(slot.reading.languages)
            for words in _near_words(slot.left, slot.left[-1:], small):
                left[words].add(name)
            for words in _near_words(slot.right, slot.right[:1], small):
                right[words].add(name)
    return {
        name: ContextWords(
            *(
                frozenset(w for w, names in side.items() if names == {name})
                for side in (left, right)
            )
        )
        for name in known
    }


def _near_words(pair: Words, nearest: Words, small: SmallWords) -> Iterable[Words]:
    for words in {pair, nearest}:
        telling = words and all(is_word(word) or word in ":%" for word in words)
        if telling and (len(words) > 1 or words[0] not in small.generic):
            yield words


def _text_context(
    plan: TemplatePlan, slots: Sequence[ExampleSlot], values: Collection[str], *, sentences: bool
) -> TextContext:
    leads: dict[Words, set[str]] = defaultdict(set)
    for slot in slots:
        for lead in _lead_words(slot.left, small_words(slot.reading.languages)):
            leads[lead].add(slot.end)
    inside = {word for slot in slots for word in slot.words}
    everything = {word for slot in slots for word in slot.reading.tokens.words}
    about = f"{plan.template.description} {plan.template.id}".lower().replace("_", " ")
    described = {word for word in about.split() if word.isalpha()}
    capitals = [_has_capital(slot) for slot in slots]
    later = {word for slot in slots for word in slot.words[1:] if len(word) > 1}
    languages = slots[0].reading.languages if slots else ()
    small = later & small_words(languages).functions
    owning = small_words(languages).owning
    titled = any(_begins_with_article(slot) for slot in slots)
    return TextContext(
        leads={lead: frozenset(ends) for lead, ends in leads.items()},
        known=frozenset(slot.words for slot in slots),
        vocabulary=frozenset((everything | described) - inside - set(values)),
        sentences=sentences or any(_reads_as_sentence(slot) for slot in slots),
        capitalised=bool(capitals) and all(capitals),
        names=bool(capitals) and 3 * sum(capitals) >= 2 * len(capitals),
        titles=titled or (bool(capitals) and all(capitals) and bool(small)),
        plain=bool(slots) and small <= owning,
        owns=bool(slots) and not small.isdisjoint(owning),
        introduced=2 * sum(map(_is_introduced, slots)) >= max(1, len(slots)),
        numbered=any(is_digits(slot.words[0]) for slot in slots),
        lengths=frozenset(sum(map(is_word, slot.words)) for slot in slots),
    )


def _has_capital(slot: ExampleSlot) -> bool:
    """Whether the value begins with a capital, after its number: 14 Canal Street."""
    words = slot.reading.tokens.words
    first = next((at for at in range(slot.first, slot.last) if is_word(words[at])), slot.first)
    return is_capital(slot.reading, first)


def _is_introduced(slot: ExampleSlot) -> bool:
    return slot.left[-1:] != () and slot.left[-1] in small_words(slot.reading.languages).introducing


def _lead_words(left: Words, small: SmallWords) -> Iterable[Words]:
    if not left:
        yield ()
        return
    if left[-1] == "s" and left[-2:-1] and left[-2] in _APOSTROPHES:
        return  # what's, how's: before everything
    if all(is_word(word) or word == ":" for word in left):
        yield left
    if left[-1] not in small.generic and (is_word(left[-1]) or left[-1] == ":"):
        yield left[-1:]


def _begins_with_article(slot: ExampleSlot) -> bool:
    """Whether an article with a capital belongs to the value: The Hobbit."""
    small = small_words(slot.reading.languages)
    words, first = slot.reading.tokens.words, slot.first
    if words[first] not in small.articles:
        first -= 1
    return first > 0 and words[first] in small.articles and is_capital(slot.reading, first)


def _is_name(slot: ExampleSlot) -> bool:
    """Whether all words of the value but the small ones are written with capitals."""
    small = small_words(slot.reading.languages)
    words = slot.reading.tokens.words
    spoken = [at for at in range(slot.first, slot.last) if is_word(words[at])]
    telling = [at for at in spoken if words[at] not in small.functions]
    return len(telling) > 1 and all(is_capital(slot.reading, at) for at in telling)


def _reads_as_sentence(slot: ExampleSlot) -> bool:
    small = small_words(slot.reading.languages)
    words = slot.words
    if _is_name(slot) or _begins_with_article(slot):
        return False
    return (
        len(words) > 4 or words[0] in small.articles or not small.prepositions.isdisjoint(words[1:])
    )


def _named(examples: Sequence[SlotFilling]) -> list[ExampleSlot]:
    """The names of examples that have only one."""
    found: list[ExampleSlot] = []
    nouns = _nouns(examples)
    for example in examples:
        runs = capital_runs(example.reading, example.taken, nouns)
        if len(runs) == 1:
            first, last = runs[0]
            first -= _begins_with_subject(example.reading, first, last)
            found.append(ExampleSlot(example.reading, first, last))
    return found


def _named_in_order(
    examples: Sequence[SlotFilling], texts: Sequence[ParameterPlan]
) -> list[list[ExampleSlot]]:
    """Values of several texts, in their order, where an example has a name for each of them."""
    found: list[list[ExampleSlot]] = [[] for _ in texts]
    if len(texts) < 2:
        return found
    nouns = _nouns(examples)
    for example in examples:
        reading, taken = example.reading, example.taken
        runs = capital_runs(reading, taken, nouns)
        if len(runs) != len(texts):
            continue
        for slots, run in zip(found, runs, strict=True):
            slots.append(ExampleSlot(reading, *with_number(reading, taken, run)))
    return found


def _spoken(examples: Sequence[SlotFilling]) -> list[ExampleSlot]:
    """What examples say word for word: after a colon, or a word that leads to it, to the end."""
    found: list[ExampleSlot] = []
    for example in examples:
        words = example.reading.tokens.words
        colons = [at for at, word in enumerate(words) if word == ":"]
        leads = [at for at, word in enumerate(words) if word in _LEADS_TO_SAYING]
        for lead in (*colons[:1], *leads[:1]):
            place = sentence_from(example.reading, example.taken, lead + 1)
            if place is not None and not any(map(is_word, words[place[1] :])):
                found.append(ExampleSlot(example.reading, *place))
                break
    return found


def _guessed(
    examples: Sequence[SlotFilling], known: Sequence[ExampleSlot], *, names: bool
) -> list[ExampleSlot]:
    """Values by capital letters, where they are `names`, and by what stands around them."""
    found = _named(_without(examples, known)) if names else []
    found += _differing(_without(examples, [*known, *found]))
    if not known and not found:
        return _led_alike(examples)
    rest = [(e, _after_preposition(e)) for e in _without(examples, [*known, *found])]
    return found + [ExampleSlot(e.reading, *place) for e, place in rest if place is not None]


def _nouns(examples: Sequence[SlotFilling]) -> frozenset[str]:
    """What is no name for its capital, where nouns have one: what several examples say."""
    if not examples or not small_words(examples[0].reading.languages).capital_nouns:
        return frozenset()
    template = examples[0].plan.template
    said = Counter(word for e in examples for word in set(e.reading.tokens.words))
    described = Tokens(f"{template.description} {template.id}").words
    return frozenset(word for word, count in said.items() if count > 1).union(described)


def _begins_with_subject(reading: ParsedText, first: int, last: int) -> bool:
    """Whether the word before is part of a name that begins the sentence: Mia Rossi has come."""
    small = small_words(reading.languages)
    words = reading.tokens.words
    if first != 1 or not is_capital(reading, 0) or words[0] in small.functions:
        return False
    following = words[last : last + 3]
    if not following or following[0] in small.prepositions:
        return False
    senses = _senses(reading, following)
    tells = bool(senses) and senses[0].first == 0 and senses[0].sense in _SENSES_OF_VERBS
    return tells or following[0] == ","


def _shown_name(context: TextContext, example: SlotFilling) -> Place | None:
    """The only name with capitals that is as long as those shown, at the beginning as well."""
    edges = example_edges(example.reading, [context])
    runs = name_runs(example.reading, example.taken, edges, titles=context.titles)
    places = [place for run in runs for place in (run, (run[0] + 1, run[1]))]
    fitting = [place for place in places if place[1] - place[0] in context.lengths - {0, 1}]
    return fitting[0] if len(runs) == 1 and fitting else None


def example_edges(reading: ParsedText, contexts: Iterable[TextContext]) -> TextEdges:
    """What an example's words are to its names, as far as the examples themselves tell."""
    small = small_words(reading.languages)
    vocabulary = small.functions.union(*(context.vocabulary for context in contexts))
    known = (index for index, word in enumerate(reading.tokens.words) if word in vocabulary)
    return TextEdges(known=frozenset(known))


def _differing(examples: Sequence[SlotFilling]) -> list[ExampleSlot]:
    """Where examples that begin or end alike differ: "weather in paris", "weather in oslo"."""
    found: dict[tuple[int, int, int], ExampleSlot] = {}
    for (one, a), (two, b) in combinations(enumerate(examples[:_MAX_EXAMPLES]), 2):
        first, second = a.reading.tokens.words, b.reading.tokens.words
        shorter = min(len(first), len(second))
        head = next((n for n in range(shorter) if first[n] != second[n]), shorter)
        left = shorter - head
        tail = next((n for n in range(left) if first[-1 - n] != second[-1 - n]), left)
        if sum(map(is_word, first[:head] + first[len(first) - tail :])) < 2:
            continue
        places = (head, len(first) - tail), (head, len(second) - tail)
        if _could_be_value(a, places[0]) and _could_be_value(b, places[1]):
            found[one, *places[0]] = ExampleSlot(a.reading, *places[0])
            found[two, *places[1]] = ExampleSlot(b.reading, *places[1])
    return [found[key] for key in sorted(found)]


def _could_be_value(example: SlotFilling, place: Place) -> bool:
    small = small_words(example.reading.languages)
    words = example.reading.tokens.words[slice(*place)]
    if not 0 < len(words) <= _LONGEST_VALUE or words[0] in small.functions:
        return False
    if any(word[0] == BLOCK or word in "?!.:" or word in small.prepositions for word in words):
        return False
    return example.taken.has_room(example.reading.tokens, *place)


def _led_alike(examples: Sequence[SlotFilling]) -> list[ExampleSlot]:
    """Values after the word that leads to one in most examples: "to" review, "a" red wallet."""
    found: dict[str, list[ExampleSlot]] = defaultdict(list)
    for example in examples:
        words = example.reading.tokens.words
        small = small_words(example.reading.languages)
        for index, word in enumerate(words):
            introduced = word in small.introducing
            if not introduced and word not in _SENTENCE_LEADS | small.prepositions:
                continue
            if words.count(word) > 1:
                continue
            read = sentence_from if word in _SENTENCE_LEADS else name_from
            place = read(example.reading, example.taken, index + 1)
            if place is not None and introduced:
                fillers = (at for at in _fillers(example.reading) if words[at] not in small.owning)
                inner = (at for at in fillers if place[0] < at < place[1])
                place = place[0], min(inner, default=place[1])
            if place is not None and words[place[0]] not in small.functions:
                found["" if introduced else word].append(ExampleSlot(example.reading, *place))
    best = max(found.values(), key=len, default=[])
    different = {slot.words for slot in best}
    return best if len(different) > 1 and 2 * len(best) >= len(examples) else []


def _senses(reading: ParsedText, words: Sequence[str]) -> Sequence[WordSense]:
    """What words do in the first language of the library; in English where none is said."""
    return sense_reader((*reading.languages, "en")[0]).senses(words)


def _fillers(reading: ParsedText) -> frozenset[int]:
    """Where words stand that are never part of a name."""
    senses = _senses(reading, reading.tokens.words)
    return frozenset(one.first for one in senses if one.sense == "filler")


def _after_preposition(example: SlotFilling) -> Place | None:
    """The last words of an example after its only preposition: "weather for rome"."""
    small = small_words(example.reading.languages)
    tokens = example.reading.tokens
    found = [index for index, word in enumerate(tokens.words) if word in small.prepositions]
    free = [index for index in found if example.taken.has_room(tokens, index, index + 1)]
    if len(free) != 1:
        return None
    fillers = (one.first for one in _senses(example.reading, tokens.words) if one.sense == "filler")
    place = name_from(example.reading, example.taken, free[0] + 1, ends=frozenset(fillers))
    at_end = place is not None and not any(map(is_word, tokens.words[place[1] :]))
    return place if at_end else None
