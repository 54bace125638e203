"""What the words of a message do, beside those that name things.

The lists are a language's own (`senses`, `remarks` and `moods` of its file). A word in none of
them names something, or is not known.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final, Literal, NamedTuple

from server.text.language import Language, Sense, load_language, shipped_names
from server.text.stems import bare_verb, stem
from server.text.tokens import Tokens, is_digits, is_word, split_words

_APOSTROPHES: Final = {"’": "'", "´": "'", "`": "'"}
_CLAUSE_ENDS: Final = frozenset(",.;:!?–—\n")
_SENTENCE_ENDS: Final = frozenset(".!?;\n")
_LONGEST_READ: Final = 400
"""Words of a message that are looked at; what is longer is no question."""

_SHORTEST_SUBJECT: Final = 5

BEARS_NOTHING: Final[frozenset[str]] = frozenset({"filler", "light"})

Mood = Literal["request", "question", "statement"]


class WordSense(NamedTuple):
    """The words from `first` up to `last`, as one phrase of a language's list."""

    first: int
    last: int
    sense: Sense
    phrase: str


class Clause(NamedTuple):
    """The words from `first` up to `last`; `tells` says that it reads as a mere remark."""

    first: int
    last: int
    tells: bool


class Action(NamedTuple):
    """A verb at the words from `first` up to `last`, and the groups of verbs it is one of.

    `particle` is the place of a part of it that stands apart: the “off” of “switch it off”.
    """

    first: int
    last: int
    groups: frozenset[int]
    particle: int | None = None

    @property
    def places(self) -> Sequence[int]:
        places = [*range(self.first, self.last)]
        return places if self.particle is None else [*places, self.particle]


ASKS_TO_BE_TOLD: Final = 0
"""The group of verbs by which people ask to be told something."""


class _PhraseList:
    """Phrases by their first word, found longest first. Sorted when first looked into."""

    def __init__(self, phrases: Iterable[tuple[str, Sense]]) -> None:
        self._listed = tuple(phrases)

    @cached_property
    def _sorted(self) -> tuple[dict[tuple[str, ...], tuple[Sense, str]], dict[str, int]]:
        """The phrases by their words, and the length of the longest by its first word."""
        known: dict[tuple[str, ...], tuple[Sense, str]] = {}
        longest: dict[str, int] = {}
        for phrase, sense in self._listed:
            words = split_words(phrase)
            if words and words not in known:
                known[words] = sense, phrase
                longest[words[0]] = max(longest.get(words[0], 0), len(words))
        return known, longest

    def at(self, words: Sequence[str], index: int) -> WordSense | None:
        known, longest = self._sorted
        most = longest.get(words[index])
        if most is None:
            return None
        for last in range(min(index + most, len(words)), index, -1):
            found = known.get(tuple(words[index:last]))
            if found is not None:
                return WordSense(index, last, *found)
        return None

    def begins(self, words: Sequence[str], index: int) -> bool:
        return index < len(words) and self.at(words, index) is not None

    def within(self, words: Sequence[str], first: int, last: int) -> WordSense | None:
        for index in range(first, last):
            found = self.at(words, index)
            if found is not None and found.last <= last:
                return found
        return None


def _plain(phrases: Iterable[str]) -> _PhraseList:
    return _PhraseList((phrase, "filler") for phrase in phrases)


class SenseReader:
    """Reads the senses of one language's words."""

    def __init__(self, language: Language) -> None:
        self.code = language.language
        self._senses = _PhraseList(
            (phrase, sense) for sense, phrases in language.senses.items() for phrase in phrases
        )
        self._opens, self._asks = _plain(language.remarks.opens), _plain(language.remarks.asks)
        self._subjects = _plain(language.remarks.subjects)
        self._states = _plain(language.remarks.states)
        self._copulas = _plain(language.remarks.copulas)
        self._relatives = _plain(language.remarks.relatives)
        self._declines = _plain(language.moods.declines)
        moods = language.moods
        self._requests, self._questions = _plain(moods.requests), _plain(moods.questions)
        self._counts = _plain(language.rows.counts)
        self._contrasts, self._advice = frozenset(moods.contrasts), _plain(moods.advice)
        self._before_verbs = language.group("before_verbs")
        self._refusals, self._conditions = _plain(moods.refusals), _plain(moods.conditions)
        groups: dict[str, set[int]] = {}
        for number, group in enumerate(language.actions):
            for phrase in group:
                groups.setdefault(phrase, set()).add(number)
        self._actions = _plain(groups)
        self._groups = {phrase: frozenset(numbers) for phrase, numbers in groups.items()}
        self._language = language
        self._articles = language.group("articles")
        self._prepositions = language.group("prepositions")
        # “and”, “or”, “then”: what follows one may be a request of its own.
        self._joins = frozenset(language.senses.get("choice", ()))
        self._before_nouns = self._articles | self._prepositions - {"to"} - self._joins
        self._verb_ends = (
            _CLAUSE_ENDS
            | {word for phrase in language.joints for word in phrase.split()}
            | set(language.senses.get("filler", ()))
        )
        self._courtesies = _plain([*language.politeness.please, *language.politeness.greetings])
        self._known = frozenset(
            phrase
            for sense in ("filler", "light")
            for phrase in language.senses.get(sense, ())
            if " " not in phrase
        )

    @property
    def small_words(self) -> frozenset[str]:
        """Single words that bear nothing, or hardly anything."""
        return self._known

    def is_article(self, word: str) -> bool:
        return word in self._articles

    def is_preposition(self, word: str) -> bool:
        return word in self._prepositions

    def is_to_me(self, word: str) -> bool:
        """Whether it is the person who asks, to whom something is told or given."""
        return word in self._language.group("to_me")

    def is_speaker(self, word: str) -> bool:
        """Whether it is the person who asks: I, my."""
        return word in self._language.group("speaker")

    def is_somebody_else(self, word: str) -> bool:
        """Whether it stands for a person who does not ask: she, their."""
        return word in self._language.group("somebody_else")

    def is_state(self, words: Sequence[str], index: int) -> bool:
        """Whether a verb stands there that somebody's name may stand beside: has, does."""
        return 0 <= index < len(words) and self._states.at(words, index) is not None

    def leads_to_verb(self, word: str) -> bool:
        """Whether a verb follows it in a request, and no noun: to, can you."""
        return word in self._before_verbs

    def asks_how(self, words: Sequence[str], first: int) -> bool:
        """Whether a clause that begins there asks how something is done."""
        return self._advice.begins(words, first)

    def is_contrast(self, word: str) -> bool:
        """Whether what follows it speaks against what stands before it: but."""
        return word in self._contrasts

    def is_lead(self, word: str) -> bool:
        """Whether what follows belongs to what stands before: of, with, for."""
        return word in self._prepositions or word in self._language.group("owner_leads")

    def is_owner_lead(self, word: str) -> bool:
        """Whether what follows it has what stands before: of."""
        return word in self._language.group("owner_leads")

    def asks_for_person(self, words: Sequence[str], clause: Clause) -> bool:
        """Whether a clause begins with a word that asks for a person."""
        first = next((w for w in words[clause.first : clause.last] if is_word(w)), "")
        return first in self._language.group("ask_for_people")

    def leads_to_change(self, word: str) -> bool:
        """Whether what follows may say how much something changes: by."""
        return word in self._language.group("change_leads")

    def changes(self, words: Sequence[str]) -> bool:
        """Whether any word says that something goes up or down."""
        verbs = self._language.group("change_verbs")
        return any(word in verbs for word in words) or any(
            one.sense == "direction" for one in self.senses(words)
        )

    def asks_how_many(self, words: Sequence[str]) -> bool:
        """Whether a number of things is asked for, and not the things: how many, number of."""
        return self._counts.within(words, 0, len(words)) is not None

    def asks_in(self, words: Sequence[str], first: int, last: int) -> bool:
        """Whether a word stands there by which a remark asks for something after all."""
        return self._asks.within(words, first, last) is not None

    def only_leads(self, words: Sequence[str]) -> bool:
        """Whether the words before a verb only ask: please, and, can you."""
        leads = self._language.group("polite") - self._language.group("pronouns") | self._joins
        at = 0
        while at < len(words):
            asks = self._requests.at(words, at)
            if asks is None and words[at] not in leads:
                return False
            at = asks.last if asks is not None else at + 1
        return True

    def asks(self, words: Sequence[str], first: int) -> bool:
        """Whether a clause begins there as a question does: why, is the."""
        return self._questions.begins(words, first)

    def refers_back(self, word: str) -> bool:
        """Whether it stands for a thing that was named: it, them, his."""
        return word in self._language.group("back_references")

    def is_for_whom(self, word: str) -> bool:
        """Whether it leads to whom something is done for."""
        return word in self._language.group("for_whom")

    def knows(self, words: Sequence[str]) -> int:
        """How many of the words are ones that any text of the language has."""
        return sum(word in self._known for word in words)

    def covers(self, words: Sequence[str]) -> int:
        """How many of the words stand in phrases of the language's lists."""
        return sum(sense.last - sense.first for sense in self.senses(words))

    def telling(self, text: str) -> list[str]:
        """The words of a text that say what it is about; its long ones, where none does."""
        words = split_words(text)
        away = {at for one in self.senses(words) for at in range(one.first, one.last)}
        spoken = [
            (at, word)
            for at, word in enumerate(words)
            if is_word(word) and word not in self._before_nouns
        ]
        found = [word for at, word in spoken if at not in away]
        return found or [word for _, word in spoken if len(word) >= _SHORTEST_SUBJECT]

    def denies(self, words: Sequence[str]) -> bool:
        """Whether any of the words is a no."""
        return any(one.sense in ("negation", "exclusion") for one in self.senses(words))

    def wanting(self, words: Sequence[str], clause: Clause) -> WordSense | None:
        """Who wants something, where that is one of the asker's own people: our band needs."""
        first = clause.first
        asked = self._asks_for_own(words, first)
        first += asked
        if first + 2 >= clause.last or words[first] not in self._language.group("own"):
            return None
        person = words[first + 1]
        wants = any(self._asks.begins(words, at) for at in (first + 2, first + 3))
        if (
            not (wants or asked)
            or not is_word(person)
            or self._senses.at(words, first + 1) is not None
        ):
            return None
        return WordSense(first + 1, first + 2, "person", person)

    def senses(self, words: Sequence[str]) -> list[WordSense]:
        """Every phrase of the lists, in order, none overlapping another, the longest first."""
        found, index = list[WordSense](), 0
        while index < len(words):
            sense = self._senses.at(words, index)
            if sense is not None:
                found.append(sense)
            index = sense.last if sense is not None else index + 1
        return found

    def clauses(self, words: Sequence[str], joints: Collection[int] = ()) -> list[Clause]:
        """The parts of a message between its stops and commas.

        `joints` are the places of those within numbers and the like: 75.50, 7:30.
        """
        clauses, first = list[Clause](), 0
        for index in range(len(words) + 1):
            if index == len(words) or (words[index] in _CLAUSE_ENDS and index not in joints):
                if any(is_word(word) for word in words[first:index]):
                    clauses.append(Clause(first, index, self._tells(words, first, index)))
                first = index + 1
        return clauses

    def _tells(self, words: Sequence[str], first: int, last: int) -> bool:
        opens = self._opens.begins(words, first) and not self._conditions.begins(words, first)
        return opens and not self._asks.within(words, first, last)

    def states(self, words: Sequence[str], first: int, last: int) -> bool:
        """Whether a part of a message only tells something, and asks for nothing.

        By how it begins (my friend makes cards); because it begins with a thing, of which a verb
        follows (the cards you made helped); or because it says what something is (cards are dull).
        """
        if self._asks.within(words, first, last) or self._requests.begins(words, first):
            return False
        if self._opens.begins(words, first):
            return not self._conditions.begins(words, first)
        if self._subjects.begins(words, first):
            return self._states.within(words, first + 1, last) is not None
        says = self._copulas.within(words, first + 1, last)
        if says is None or self._action_at(words, first) is not None:
            return False
        return self._relatives.within(words, first, says.first) is None

    def request_opening(self, words: Sequence[str], first: int) -> int:
        """Return where the opening of a request ends that begins there; `first` without one."""
        found = self._requests.at(words, first)
        return first if found is None else found.last

    def decline(self, words: Sequence[str], first: int, last: int) -> WordSense | None:
        """What says of a thing that it is not wanted, where nothing but the thing is named."""
        return self._declines.within(words, first, last)

    def actions(self, words: Sequence[str], empty: Collection[int]) -> list[Action]:
        """The verbs by which a message asks for something: those that its clauses begin with.

        `empty` are the places of words that bear nothing.
        """
        found, begins = list[Action](), True
        asked_until = 0
        for index, word in enumerate(words):
            if index < asked_until:
                continue
            if word in _CLAUSE_ENDS or word in self._joins:
                begins = True
                continue
            asks = self._requests.at(words, index) if begins else None
            if asks is not None and self._leads_on(words, asks.last):
                asked_until = asks.last  # “I want to know” asks to be told, and demands nothing
                continue
            if begins or (index and words[index - 1] in self._before_verbs):
                is_noun = (index > 0 and words[index - 1] in self._before_nouns) or list(
                    words[index + 1 : index + 3]
                ) == ["'", "s"]
                if not is_noun and (action := self._action_at(words, index)) is not None:
                    found.append(action)
            begins = begins and (index in empty or not is_word(word))
        if self._language.text.verbs_last:
            found += self._last_verbs(words, found)
        return found

    def _leads_on(self, words: Sequence[str], last: int) -> bool:
        """Whether the opening of a request that ends there goes on with what is asked for."""
        return not self._before_verbs.isdisjoint(words[last - 1 : last + 1])

    def _last_verbs(self, words: Sequence[str], found: Sequence[Action]) -> Iterator[Action]:
        """The verbs that clauses end with: das Zimmer auf frei setzen."""
        known = {at for action in found for at in action.places}
        for index, word in enumerate(words):
            after = words[index + 1] if index + 1 < len(words) else "."
            if index in known or not is_word(word) or after not in self._verb_ends:
                continue
            if (groups := self._groups.get(word)) is not None and index:
                yield Action(index, index + 1, groups)

    def verb_at(self, words: Sequence[str], index: int) -> Action | None:
        """The verb of the lists that stands at a place, if one does."""
        return self._action_at(words, index) if index < len(words) else None

    def _action_at(self, words: Sequence[str], index: int) -> Action | None:
        whole = self._actions.at(words, index)
        if whole is None and (bare := bare_verb(words[index], self.code)) != words[index]:
            groups = self._groups.get(bare)
            return Action(index, index + 1, groups) if groups is not None else None
        if whole is not None and whole.last - whole.first > 1:
            return Action(whole.first, whole.last, self._groups[whole.phrase])
        # “switch the lights off”: a particle may stand apart from its verb.
        for at in range(index + 2, len(words)):
            if words[at] in _CLAUSE_ENDS:
                break
            apart = self._groups.get(f"{words[index]} {words[at]}")
            if apart is not None:
                return Action(index, index + 1, apart, at)
        if whole is None:
            return None
        return Action(whole.first, whole.last, self._groups[whole.phrase])

    def mood(self, words: Sequence[str], first: int = 0) -> Mood:
        """Whether a clause that begins at `first` asks for something, about something, or tells."""
        while (polite := self._courtesies.at(words, first) if first < len(words) else None) or (
            first < len(words)
            and not (is_word(words[first]) or is_digits(words[first]))
            and words[first][0] != "\0"
        ):
            first = polite.last if polite is not None else first + 1
        asks = self._requests.at(words, first) if first < len(words) else None
        about = self._questions.at(words, first) if first < len(words) else None
        if asks is not None and (about is None or asks.last >= about.last):
            return "request"
        if about is not None:
            return "question"
        if self._asks_for_own(words, first):
            return "request"
        if _ends_asking(words, first) and self._action_at(words, first) is None:
            return "question"
        return "statement" if self._opens.begins(words, first) else "request"

    def _asks_for_own(self, words: Sequence[str], first: int) -> bool:
        """Whether it asks on behalf of the asker's own people: could my daughter have."""
        if first + 3 >= len(words) or words[first] not in self._language.group("allowing"):
            return False
        is_state = words[first + 3] in self._language.group("being")
        return words[first + 1] in self._language.group("own") and not is_state

    def refusal(self, words: Sequence[str], first: int, last: int) -> WordSense | None:
        """What takes back what the words ask for, if anything does."""
        return self._refusals.within(words, first, last)

    def condition(self, words: Sequence[str], first: int, last: int) -> WordSense | None:
        """What makes a request depend on something, if anything does."""
        return self._conditions.within(words, first, last)


def _ends_asking(words: Sequence[str], first: int) -> bool:
    """Whether the sentence that begins there ends with a question mark."""
    return next((word for word in words[first:] if word in _SENTENCE_ENDS), "") == "?"


@cache
def sense_reader(code: str) -> SenseReader:
    """Return the reader of a language that ships; its lists may be empty."""
    return SenseReader(load_language(code))


@dataclass(frozen=True)
class MessageSenses:
    """What was read of one message: `words` are those of its tokens, in plain apostrophes.

    Each template is held against it, so that what is the same for all is worked out once.
    """

    reader: SenseReader
    words: Sequence[str]
    starts: Sequence[int]
    senses: Sequence[WordSense]
    clauses: Sequence[Clause]
    actions: Sequence[Action]
    empty: frozenset[int]
    """Places of the words that bear nothing, or hardly anything."""

    def telling(self, clause: Clause) -> Iterator[str]:
        """The words of a clause that bear something."""
        for at in range(clause.first, clause.last):
            if at not in self.empty and is_word(self.words[at]):
                yield self.words[at]

    def clause_at(self, start: int) -> Clause | None:
        """The clause that the word stands in which begins at a character."""
        at = next((at for at, one in enumerate(self.starts) if one == start), None)
        found = (one for one in self.clauses if at is not None and one.first <= at < one.last)
        return next(found, None)

    def clause_number_at(self, start: int) -> int:
        """The number of the clause that a word stands in which begins at a character; else -1."""
        for number, (first, last) in enumerate(self._clause_starts):
            if first <= start <= last:
                return number
        return -1

    @cached_property
    def _clause_starts(self) -> Sequence[tuple[int, int]]:
        """Where the first and the last word of each clause begin."""
        return [(self.starts[one.first], self.starts[one.last - 1]) for one in self.clauses]

    def asking(self) -> Sequence[Clause]:
        """The clauses that do not merely tell something; all, where every one does."""
        return [clause for clause in self.clauses if not clause.tells] or self.clauses

    @cached_property
    def mood(self) -> Mood:
        """Whether the part of a message that is no remark asks for something, or about it.

        A request that begins after what only tells something decides: it rained, could you move it.
        """
        reader, words, asking = self.reader, self.words, self.asking()
        first = next((clause.first for clause in asking), 0)
        for clause in asking[1:]:
            opened = reader.request_opening(words, clause.first)
            commands = (clause.first <= one.first < clause.last for one in self.actions)
            if opened > clause.first and any(commands) and not reader.asks(words, first):
                return "request"
        return reader.mood(words, first)

    @cached_property
    def asks_how_many(self) -> bool:
        """Whether a number of things is asked for, and not the things."""
        return self.reader.asks_how_many(self.words)

    @cached_property
    def telling_stems(self) -> Sequence[str]:
        """Stems of the words that say what the message is about."""
        return self.telling_stems_without(())

    def telling_stems_without(self, taken: Iterable[int]) -> Sequence[str]:
        """Stems of the words that say what the message is about, but of those at `taken`."""
        away = self.empty.union(taken)
        words = (w for at, w in enumerate(self.words) if at not in away and is_word(w))
        return [stem(word, self.reader.code) for word in words]

    def parts(self) -> Iterator[Clause]:
        """The clauses, those cut in two that turn: I passed N4, but make cards for N3."""
        for clause in self.clauses:
            first = clause.first
            for at in range(first + 1, clause.last):
                if self.reader.is_contrast(self.words[at]):
                    yield self._part(first, at)
                    first = at + 1
            if first < clause.last:
                yield self._part(first, clause.last)

    def is_of_people(self, clause: Clause) -> bool:
        """Whether a clause begins with somebody who is told about, and who wants nothing."""
        at = clause.first
        while at < clause.last and self.reader.is_article(self.words[at]):
            at += 1
        person = any(one.first == at and one.sense == "person" for one in self.senses)
        return person and not self.reader.asks_in(self.words, clause.first, clause.last)

    def _part(self, first: int, last: int) -> Clause:
        return Clause(first, last, self.reader.states(self.words, first, last))

    def is_asking(self, action: Action) -> bool:
        """Whether a verb stands in a part of the message that does not merely tell something.

        The like of “I'd like” is no verb of its own.
        """
        for part in self.parts():
            if part.first <= action.first < part.last:
                opened = self.reader.request_opening(self.words, part.first)
                return not part.tells and action.first >= opened
        return False

    def is_command(self, action: Action) -> bool:
        """Whether a verb asks for something to be done, and is no noun: not the order of 7.

        What it is done to stands after it, with an article (pay my bill), or what makes a verb of
        it before it (I'd like to order, how do I order).
        """
        words, reader = self.words, self.reader
        first = next((clause.first for clause in self.asking()), 0)
        led = action.first > 0 and reader.leads_to_verb(words[action.first - 1])
        if reader.asks_how(words, first):
            return led
        if reader.mood(words, first) != "request":
            return False
        after = words[action.last] if action.last < len(words) else ""
        return led or (reader.is_article(after) and action.first not in self.empty)

    def refusals(self) -> Iterator[WordSense]:
        """What takes back what the message asks for.

        What is not so is no more than a reason where a command for the same thing follows it:
        “she can't come, cancel her visit”.
        """
        for clause in self.asking():
            found = self.reader.refusal(self.words, clause.first, clause.last)
            if found is not None and not self._is_reason(clause, found):
                yield found

    def _is_reason(self, clause: Clause, refusal: WordSense) -> bool:
        if any(clause.first <= one.first < clause.last for one in self.actions):
            return False
        if self.reader.verb_at(self.words, refusal.last) is not None:
            return False
        place = range(refusal.first, refusal.last)
        rest = [at for at in range(clause.first, clause.last) if at not in place]
        if not any(at not in self.empty and is_word(self.words[at]) for at in rest):
            return False
        return any(
            self._commands(one) and self.reader.refusal(self.words, one.first, one.last) is None
            for one in self.clauses
            if one.first >= clause.last
        )

    def _commands(self, clause: Clause) -> bool:
        """Whether a clause begins with a verb, and says by a pronoun what it is about."""
        verb = next(
            (
                one
                for one in self.actions
                if clause.first <= one.first < clause.last
                and self.reader.only_leads(self.words[clause.first : one.first])
            ),
            None,
        )
        return verb is not None and any(
            self.reader.refers_back(word) for word in self.words[verb.last : clause.last]
        )

    def conditions(self) -> Iterator[WordSense]:
        """What makes the request depend on something, the “if” of “tell me if” left aside."""
        found = (self.reader.condition(self.words, c.first, c.last) for c in self.asking())
        return (sense for sense in found if sense is not None and not self._is_within(sense))

    def _is_within(self, found: WordSense) -> bool:
        """Whether it is but a part of a longer phrase that bears nothing."""
        return any(
            one.first <= found.first and found.last <= one.last and one.sense in BEARS_NOTHING
            for one in self.senses
        )


def read_senses(tokens: Tokens, codes: Sequence[str]) -> MessageSenses:
    """Read a message in that of the languages whose phrases most of its words stand in.

    Small words alone do not tell: “don't delete it” has as many of French as of English.
    """
    words = [_APOSTROPHES.get(word, word) for word in tokens.words[:_LONGEST_READ]]
    reader = sense_reader(codes[0])
    if len(codes) > 1:
        readers = [sense_reader(code) for code in codes]
        reader = max(readers, key=lambda one: one.covers(words))
    senses = reader.senses(words)
    empty = empty_places(senses)
    joints = {at for at in range(1, len(words) - 1) if _is_joint(tokens, words, at)}
    clauses, actions = reader.clauses(words, joints), reader.actions(words, empty)
    wanting = (one for clause in clauses if (one := reader.wanting(words, clause)) is not None)
    senses = sorted([*senses, *wanting])
    return MessageSenses(reader, words, tokens.starts, senses, clauses, actions, empty)


def _is_joint(tokens: Tokens, words: Sequence[str], at: int) -> bool:
    """Whether a stop stands within a number or the like, and ends no clause: 75.50, 7:30."""
    glued = tokens.glued(at) and tokens.glued(at + 1)
    return (
        words[at] in _CLAUSE_ENDS and glued and words[at - 1].isalnum() and words[at + 1].isalnum()
    )


def empty_places(senses: Iterable[WordSense]) -> frozenset[int]:
    """Where the words stand that bear nothing, or hardly anything."""
    bearing_nothing = (one for one in senses if one.sense in BEARS_NOTHING)
    return frozenset(at for one in bearing_nothing for at in range(one.first, one.last))


def languages_of(texts: Iterable[str], named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the languages that some texts are written in, the commonest first.

    `named` are languages that somebody says they are in. English where nothing tells.
    """
    known = [code for code in shipped_names() if load_language(code).senses]
    counts = dict.fromkeys(known, 0)
    for text in texts:
        words = split_words(text)
        scores = {code: sense_reader(code).knows(words) for code in known}
        best = max(scores.values(), default=0)
        # A text that reads as well in two languages tells for neither.
        likely = [code for code, score in scores.items() if best and score == best]
        if len(likely) == 1:
            counts[likely[0]] += 1
    most = max(counts.values(), default=0)
    found = [code for code in known if counts[code] * 5 >= most > 0]
    found.sort(key=lambda code: -counts[code])
    more = (code.partition("-")[0].lower() for code in named)
    return tuple(dict.fromkeys([*found, *(code for code in more if code in known)])) or ("en",)
