"""Whether a message asks for what a template does, by its form: not, if, why, except.

What takes a request back or makes it depend on something is never overlooked, whatever a model or
a rule says of the rest: only the template's own examples can say that such a word belongs there.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

from server.core.coverage import Coverage, CoveredWord
from server.core.turn import Turn
from server.extraction.extractor import Extractor
from server.extraction.frame import Frame
from server.library.model import Template
from server.library.sql_model import SqlExecution
from server.text.senses import (
    ASKS_TO_BE_TOLD,
    Clause,
    MessageSenses,
    SenseReader,
    WordSense,
    empty_places,
)
from server.text.stems import stem
from server.text.tokens import is_word, split_words

_SUMS: Final = frozenset("^*×÷√±≠≤≥<>=")
"""Signs that change what is worked out."""

Kind = Literal[
    "negation", "exclusion", "condition", "restriction", "reason", "question", "statement",
    "action", "sign", "counter", "detail",
]  # fmt: skip

_NUMERIC: Final = frozenset({"integer", "number", "money", "percentage"})
_MOMENTS: Final = frozenset({"date", "datetime", "offset", "time"})
"""Kinds of unread words that say when; nothing that is asked for at one time is right at any."""

_NAMING: Final = frozenset({"word", "foreign"})
"""Kinds of unread words that name something, and are no name of their own."""

_BINDING: Final[Mapping[str, Kind]] = {
    "exclusion": "exclusion",
    "restriction": "restriction",
    "reason": "reason",
}
"""Kinds of operators that no call may leave unread, beside what refuses it."""


class Objection(NamedTuple):
    """Why a message does not ask for this: the words that say so, and of what kind they are.

    Of the kind `counter`, they are a counter example that the message is nearer to than to any
    example.
    """

    kind: Kind
    words: str


def objection(
    template: Template, frame: Frame, senses: MessageSenses, coverage: Coverage
) -> Objection | None:
    """Return what in a message speaks against doing what the template does, if anything does.

    A template that reads and takes nothing has nothing that such a word could narrow, and does no
    harm: there it only counts as evidence. One that answers for whoever asks is about nobody else.
    """
    if template.is_for_caller and (other := _somebody_else(frame, senses, coverage)) is not None:
        return other
    if template.effect == "read" and not template.parameters:
        return None
    if (moment := _moment_left(frame, senses, coverage)) is not None:
        return moment
    if (bound := _bound_left(coverage)) is not None:
        return bound
    if (asked := _attribute_left(template, senses, coverage)) is not None:
        return asked
    for word in coverage.unread():
        text = coverage.text[word.start : word.end]
        if word.kind == "question" and _asks_for_person(word, senses):
            return Objection("reason", text)
        if word.kind in _BINDING and not (
            word.kind == "restriction" and _stands_apart(word.start, senses, coverage)
        ):
            return Objection(_BINDING[word.kind], text)
        if word.kind == "sign" and text in _SUMS:
            return Objection("sign", text)
        if word.kind == "number" and _works_out(template):
            return Objection("sign", text)  # a sum that leaves out a number is another one
        if word.kind == "arithmetic" and _is_before_value(word, coverage):
            return Objection("sign", text)  # minus 3 is not 3
    if (order := _unknown_order(senses, coverage)) is not None:
        return order
    if template.effect != "write":
        # To a read, an “if” may tell no more than what it is about: “if I buy 9 more, how many …”.
        return _unlicensed("negation", senses.refusals(), senses, frame, coverage)
    if (against := _against_write(senses, frame, coverage)) is not None:
        return against
    if (change := _change(template, frame, senses, coverage)) is not None:
        return change
    if (lost := _item_left(senses, coverage)) is not None:
        return lost
    for word in coverage.unread():
        if word.kind == "elsewhere":
            return Objection("action", coverage.text[word.start : word.end])
    return None


def write_objection(
    extractor: Extractor, template: Template, turn: Turn, *, by_rule: bool = False
) -> Objection | None:
    """What in a message speaks against a write that a rule or a model would have made of it.

    A keyword that a rule goes by stands in other requests, and in mere remarks, as well. Reads are
    left to who chose them. Never raises.
    """
    if template.effect != "write":
        return None
    reading = extractor.read(turn.text, turn.received_at.astimezone())
    senses, frame = extractor.senses(reading), extractor.frame(template)
    found = extractor.extract_from(reading, template, intent=turn.intent)
    coverage = extractor.cover(reading, template, found)
    against = _against_write(senses, frame, coverage)
    if against is None and by_rule:
        against = _asks_for_other(senses, frame) or _only_tells(senses, frame, coverage)
    return against


def _asks_for_other(senses: MessageSenses, frame: Frame) -> Objection | None:
    """The verb by which a message asks for something that no example of the template asks for."""
    for action in senses.actions:
        words = senses.words[action.first : action.last]
        known = all(stem(word, senses.reader.code) in frame.stems for word in words)
        after = senses.words[action.last] if action.last < len(senses.words) else ""
        # “Get me a quiz” asks for one to be made, “show me the quiz” to see what there is.
        mine = senses.reader.is_to_me(after) and ASKS_TO_BE_TOLD not in action.groups
        is_other = frame.actions.isdisjoint(action.groups) and not (known or mine)
        if is_other and senses.is_asking(action):
            return Objection("action", " ".join(words))
    return None


def _only_tells(senses: MessageSenses, frame: Frame, coverage: Coverage) -> Objection | None:
    """What says that a message tells something, or wants none of it, and asks for nothing."""
    for part in senses.parts():
        declined = senses.reader.decline(senses.words, part.first, part.last)
        if declined is not None:
            return Objection("negation", _text(coverage, senses, declined))
    told = (part.tells or senses.is_of_people(part) for part in senses.parts())
    if frame.moods.get("statement") or not all(told):
        return None
    return Objection("statement", _first_words(coverage, senses)) if senses.clauses else None


def _against_write(senses: MessageSenses, frame: Frame, coverage: Coverage) -> Objection | None:
    """What takes a write back, makes it depend on something, or only asks about it."""
    conditions = () if frame.conditional else senses.conditions()
    against = _unlicensed("negation", senses.refusals(), senses, frame, coverage)
    against = against or _unlicensed("condition", conditions, senses, frame, coverage)
    if against is None and senses.mood == "question" and not frame.moods.get("question"):
        against = Objection("question", _first_words(coverage, senses))
    return against


def _unlicensed(
    kind: Kind,
    found: Iterable[WordSense],
    senses: MessageSenses,
    frame: Frame,
    coverage: Coverage,
) -> Objection | None:
    """The first of the words found that neither an example nor an argument has."""
    for one in found:
        apart = kind == "negation" and _stands_apart(senses.starts[one.first], senses, coverage)
        if not (apart or is_licensed(one, senses, frame) or _is_taken(one, senses, coverage)):
            return Objection(kind, _text(coverage, senses, one))
    return None


def _stands_apart(start: int, senses: MessageSenses, coverage: Coverage) -> bool:
    """Whether a word stands in a clause about something else, before what is asked for.

    “Mrs Graf can't walk, send order 7 to her”: no word of the first clause is of the request.
    """
    clause = senses.clause_at(start)
    if clause is None or any(clause.first <= one.first < clause.last for one in senses.actions):
        return False
    first, last = senses.starts[clause.first], senses.starts[clause.last - 1]
    inside = [word for word in coverage.words if first <= word.start <= last]
    others = [word for word in inside if word.start != start]
    if any(word.role in ("value", "frame", "operator") for word in others):
        return False
    tells = any(word.role == "unread" and word.kind != "number" for word in others)
    later = (word for word in coverage.words if word.start > last)
    return tells and any(word.role in ("value", "frame") for word in later)


def verbs_apart(text: str, frame: Frame, reader: SenseReader) -> set[str]:
    """Stems of the verbs by which alone a text differs from a template's examples."""
    words = split_words(text)
    found = reader.senses(words)
    empty, apart = empty_places(found), set[str]()
    actions = {at: action for action in reader.actions(words, empty) for at in action.places}
    for at, word in enumerate(words):
        root = stem(word, reader.code)
        if at in empty or not is_word(word) or root in frame.stems:
            continue
        action = actions.get(at)
        if action is not None and action.groups.isdisjoint(frame.actions):
            apart.add(root)
        elif not any(sign.isdigit() for sign in word):
            return set()
    return apart


def is_licensed(found: WordSense, senses: MessageSenses, frame: Frame) -> bool:
    """Whether the template's own examples use these words."""
    if _forbids(found, senses, frame):
        return False
    if found.phrase in frame.phrases:
        return True
    code = senses.reader.code
    words = senses.words[found.first : found.last]
    return all(stem(word, code) in frame.stems for word in words)


def _asks_for_person(word: CoveredWord, senses: MessageSenses) -> bool:
    clause = senses.clause_at(word.start)
    if clause is None or senses.starts[clause.first] != word.start:
        return False
    return senses.reader.asks_for_person(senses.words, clause)


def _moment_left(frame: Frame, senses: MessageSenses, coverage: Coverage) -> Objection | None:
    """A date or a time that is said of what is asked for, and that nothing takes.

    What the examples of a template carry without a use says nothing against it.
    """
    left = [word for word in coverage.unread() if word.kind in _MOMENTS - frame.unused]
    for word in left:
        clause = senses.clause_at(word.start)
        if clause is None:
            continue
        start = senses.starts[clause.first]
        end = senses.starts[clause.last - 1] + len(senses.words[clause.last - 1])
        own = [one for one in coverage.words if start <= one.start < end]
        said = coverage.text[word.start : word.end]
        # A plain “again” or “before” is no moment, and no clock.
        if word.kind == "time" and not any(sign.isdigit() for sign in said):
            continue
        if any(one.role in ("value", "frame") for one in own):
            run = [one for one in left if start <= one.start < end]
            return Objection("detail", coverage.text[run[0].start : run[-1].end])
    return None


def _bound_left(coverage: Coverage) -> Objection | None:
    """A number that a comparison makes a bound, and that nothing takes: orders below 500.

    What is asked for within a bound is not all that there is.
    """
    before: CoveredWord | None = None
    for word in coverage.words:
        bounds = before is not None and before.role != "value" and before.kind == "comparison"
        if before is not None and bounds and word.role == "unread" and word.kind == "number":
            return Objection("detail", coverage.text[before.start : word.end])
        before = word
    return None


def _somebody_else(frame: Frame, senses: MessageSenses, coverage: Coverage) -> Objection | None:
    """Whom a message is about, where that is not whoever asks: how many days does Bob have left."""
    reader, words = senses.reader, senses.words
    if any(reader.is_speaker(word) for word in words):
        return None
    unread = {word.start: word for word in coverage.unread()}
    for at, (word, start) in enumerate(zip(words, senses.starts, strict=False)):
        if reader.is_somebody_else(word) and stem(word, reader.code) not in frame.stems:
            return Objection("detail", word)
        found = unread.get(start)
        if found is None or found.kind not in _NAMING | {"name"}:
            continue
        after = words[at + 1] if at + 1 < len(words) else ""
        beside = reader.is_state(words, at - 1) or reader.is_state(words, at + 1)
        led = at > 0 and reader.is_lead(words[at - 1])
        if found.kind == "name" or beside or led or after == "'":
            return Objection("detail", coverage.text[found.start : found.end])
    return None


def _attribute_left(
    template: Template, senses: MessageSenses, coverage: Coverage
) -> Objection | None:
    """What is asked of a value of the data, and what the template knows nothing of: its score."""
    if not isinstance(template.execution, SqlExecution):
        return None
    reader, text = senses.reader, coverage.text
    words = [one for one in coverage.words if not reader.is_article(text[one.start : one.end])]
    for word, lead, following in zip(words, words[1:], words[2:], strict=False):
        is_asked = word.role == "unread" and word.kind in _NAMING
        is_of = reader.is_owner_lead(text[lead.start : lead.end].lower())
        is_value = following.role == "value" and not _is_numeric(following.of, template)
        if is_asked and is_of and is_value:
            return Objection("detail", text[word.start : word.end])
    return None


def _is_numeric(name: str | None, template: Template) -> bool:
    return any(p.name == name and p.type in _NUMERIC for p in template.parameters)


def _item_left(senses: MessageSenses, coverage: Coverage) -> Objection | None:
    """What stands between values that commas part, and is none itself: dog, beagle, male."""
    said = [_words_of(clause, senses, coverage) for clause in senses.clauses]
    for before, own, after in zip(said, said[1:], said[2:], strict=False):
        beside = [*before[-1:], *after[:1]]
        lost = own and all(word.role == "unread" for word in own)
        if lost and all(word.role == "value" for word in beside) and len(beside) > 1:
            return Objection("detail", coverage.text[own[0].start : own[-1].end])
    return None


def _words_of(clause: Clause, senses: MessageSenses, coverage: Coverage) -> list[CoveredWord]:
    """The words of a clause that bear something."""
    first, last = senses.starts[clause.first], senses.starts[clause.last - 1]
    inside = (word for word in coverage.words if first <= word.start <= last)
    return [word for word in inside if word.role != "filler"]


def _unknown_order(senses: MessageSenses, coverage: Coverage) -> Objection | None:
    """A word that nothing is known of, where a verb orders something: acknowledge all alerts."""
    first = next(iter(coverage.words), None)
    if first is None or first.role != "unread" or first.kind != "word":
        return None
    at = bisect_left(senses.starts, first.start) + 1
    following = senses.words[at] if at < len(senses.words) else ""
    all_of = any(one.first == at and one.sense == "universal" for one in senses.senses)
    if all_of or senses.reader.is_article(following):
        return Objection("action", coverage.text[first.start : first.end])
    return None


def _works_out(template: Template) -> bool:
    return any(parameter.type == "expression" for parameter in template.parameters)


def _forbids(found: WordSense, senses: MessageSenses, frame: Frame) -> bool:
    """Whether a negation stands right before a verb of the template's own: don't cancel it.

    Examples that have it elsewhere (“I don't need it”) do not mean that.
    """
    if found.sense != "negation" and not senses.reader.denies(
        senses.words[found.first : found.last]
    ):
        return False
    verb = senses.reader.verb_at(senses.words, found.last)
    own = verb is not None and not verb.groups.isdisjoint(frame.actions)
    return own and senses.words[found.last] not in frame.refused


def _change(
    template: Template, frame: Frame, senses: MessageSenses, coverage: Coverage
) -> Objection | None:
    """An amount by which something changes, where examples show what it is set to: up by 5."""
    if not senses.reader.changes(senses.words):
        return None
    numeric = {one.name for one in template.parameters if one.type in _NUMERIC}
    for word in coverage.words:
        at = bisect_left(senses.starts, word.start)
        lead = senses.words[at - 1] if 0 < at < len(senses.words) else ""
        led = senses.reader.leads_to_change(lead) and lead not in frame.leads
        if led and word.role == "value" and word.of in numeric:
            return Objection("detail", coverage.shown(senses.starts[at - 1], word.end))
    return None


def _is_before_value(word: CoveredWord, coverage: Coverage) -> bool:
    """Whether a number that is an argument stands directly after a word."""
    following = next((one for one in coverage.words if one.start >= word.end), None)
    return (
        following is not None
        and following.role == "value"
        and coverage.text[following.start].isdigit()
        and coverage.text[word.end : following.start].isspace()
    )


def _is_taken(found: WordSense, senses: MessageSenses, coverage: Coverage) -> bool:
    """Whether the words stand in an argument, the “is not” of a filter, and are not against it."""
    if found.first and senses.reader.is_contrast(senses.words[found.first - 1]):
        return False
    place = senses.starts[found.first]
    return any(word.start <= place < word.end and word.role == "value" for word in coverage.words)


def _text(coverage: Coverage, senses: MessageSenses, found: WordSense) -> str:
    start = senses.starts[found.first]
    last = senses.starts[found.last - 1] + len(senses.words[found.last - 1])
    return coverage.text[start:last]


def _first_words(coverage: Coverage, senses: MessageSenses) -> str:
    clause = next(iter(senses.asking()), None)
    if clause is None:
        return ""
    last = min(clause.last, clause.first + 2)
    end = senses.starts[last - 1] + len(senses.words[last - 1])
    return coverage.text[senses.starts[clause.first] : end]
