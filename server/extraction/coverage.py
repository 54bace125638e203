"""Each word of a question, and who took it: an argument, the template, the language, or nobody."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from server.core.coverage import VALUE_KINDS, Coverage, CoveredWord, WordRole
from server.core.tools import Source
from server.extraction.frame import SIGNS, Frame
from server.extraction.library_words import LibraryWords
from server.extraction.plan import ParameterPlan, TemplatePlan
from server.extraction.small_words import small_words
from server.extraction.value_kinds import SELF_EXPLAINING
from server.extraction.values import Extraction
from server.text.language import load_language
from server.text.parsed_text import ParsedText
from server.text.rows.reader import read_row_question
from server.text.senses import (
    ASKS_TO_BE_TOLD,
    BEARS_NOTHING,
    MessageSenses,
    WordSense,
)
from server.text.stems import bare_verb, stem, without_accents
from server.text.tokens import BLOCK, is_digits, is_word

_SHORTEST_SLIP: Final = 5
_SHORTEST_HEAD: Final = 4
_SHORTEST_MODIFIER: Final = 3
"""Letters that the last part of a compound has at least, and what stands before it."""
_LEADS_REACH: Final = 3
_LISTS: Final = frozenset({"numbers"})
_QUERY: Final = "rows_query"


class _Account:
    """The roles of the tokens, filled in from the surest to the least sure."""

    def __init__(self, size: int) -> None:
        self.roles: list[tuple[WordRole, str | None, str] | None] = [None] * size

    def take(
        self, places: Iterable[int], role: WordRole, of: str | None = None, kind: str = ""
    ) -> None:
        for at in places:
            if self.roles[at] is None:
                self.roles[at] = role, of, kind


def cover(
    reading: ParsedText,
    senses: MessageSenses,
    plan: TemplatePlan,
    frame: Frame,
    library: LibraryWords,
    found: Extraction,
) -> Coverage:
    """Account for every word of a question as one template takes it.

    `found` says where its arguments stand, and which clauses only tell something.
    """
    tokens = reading.tokens
    size = len(senses.words)
    account = _Account(size)
    _take_values(account, reading, senses, plan, found.sources)
    _take_read_of_rows(account, reading, plan, found.sources)
    for start, end in found.refused:
        places = range(reading.tokens.index_at(start), reading.tokens.index_at(end - 1) + 1)
        account.take((at for at in places if at < size), "value", None, "refused")
    for clause in found.asides:
        account.take(range(clause.first, min(clause.last, size)), "filler", None, "remark")
    _take_unused_values(account, reading, senses)
    _take_parts(account, senses, plan, found.arguments)
    begins = next((one for one in senses.senses if one.first == 0), None)
    if begins is not None and begins.sense == "choice":  # “and post 7?” chooses nothing
        account.take(range(begins.last), "filler", None, "filler")
    _take_words(account, reading, senses, plan, frame, library)
    words: list[CoveredWord] = []
    for at in range(size):
        word = senses.words[at]
        is_sign = word[0] == BLOCK or word in SIGNS
        # Numerals of other scripts, and words that begin with one (“²x”), are neither.
        if not (is_word(word) or is_digits(word) or is_sign or word.isalnum()):
            continue
        role, of, kind = account.roles[at] or ("unread", None, "sign")
        glued = (
            words
            and words[-1].role == role
            and words[-1].of == of
            and tokens.starts[at] <= words[-1].end + 1
            and not reading.clean[words[-1].end : tokens.starts[at]].isspace()
            # The sign of “10^2” is no part of either number.
            and not (words[-1].kind != kind and {words[-1].kind, kind} & VALUE_KINDS)
        )
        if glued:  # the parts of “what's”, “2026-03-01”, “e-mail”
            words[-1] = words[-1]._replace(end=tokens.ends[at])
        else:
            words.append(CoveredWord(tokens.starts[at], tokens.ends[at], role, of, kind))
    return Coverage(reading.text, tuple(words))


def _take_values(
    account: _Account,
    reading: ParsedText,
    senses: MessageSenses,
    plan: TemplatePlan,
    sources: Mapping[str, Source],
) -> None:
    tokens, size = reading.tokens, len(senses.words)
    by_key = {one.key: one for one in plan.parameters}
    places: list[tuple[ParameterPlan, int, int]] = []
    for name, source in sources.items():
        if source.span is None or name not in by_key:
            continue
        start, end = source.span
        first, last = tokens.index_at(start), tokens.index_at(end - 1) + 1
        # The value as it was recognised: with its unit, with the time beside its date.
        for span in reading.spans:
            touches = span.kind == "currency" and (span.last == first or span.first == last)
            if touches or (span.start < end and start < span.end and span.kind != "quoted"):
                first, last = min(first, span.first), max(last, span.last)
        first, last = max(first, 0), min(last, size)
        if first < last:
            places.append((by_key[name], first, last))
            held: Iterable[int] = range(first, last)
            if by_key[name].role in _LISTS:
                held = [at for at in held if _is_member(at, reading, senses)]
            # A sum, or what is asked of a table, says by itself what is to be done.
            kind = "asked" if by_key[name].role in SELF_EXPLAINING else ""
            account.take(held, "value", name, kind)
    for one, first, last in places:
        at = first - 1
        # “for under 1500”: what usually announces such a value is part of it.
        while at >= max(0, first - _LEADS_REACH) and account.roles[at] is None:
            if senses.words[at] not in one.name.before:
                break
            account.take(range(at, at + 1), "value", one.key, "lead")
            at -= 1
        if last < size and senses.words[last] in one.name.after:
            account.take(range(last, last + 1), "value", one.key, "lead")


def _take_read_of_rows(
    account: _Account, reading: ParsedText, plan: TemplatePlan, sources: Mapping[str, Source]
) -> None:
    """What was understood of a question about rows, where not all of it was."""
    blocks = reading.of("array")
    for one in plan.groups["query"] if len(blocks) == 1 else ():
        if one.key not in sources:
            read = read_row_question(reading, blocks[0]).read
            account.take((at for at in read if at < len(account.roles)), "value", one.key)


def _is_member(at: int, reading: ParsedText, senses: MessageSenses) -> bool:
    """Whether a word between the first and the last member of a list is one, or joins them."""
    word = senses.words[at]
    if not is_word(word) or word in small_words(reading.languages).joints:
        return True
    return any(span.first <= at < span.last for span in reading.spans)


def _take_parts(
    account: _Account, senses: MessageSenses, plan: TemplatePlan, arguments: Mapping[str, Any]
) -> None:
    """Other words by which a listed value is known: the "repaired" of a windscreen repair."""
    code = senses.reader.code
    for one in plan.parameters:
        value = arguments.get(one.key)
        if not one.choices or not isinstance(value, str):
            continue
        if not any(taken is not None and taken[1] == one.key for taken in account.roles):
            continue
        known = {stem(word, code) for word in one.choices.words_of(value)}
        for at, word in enumerate(senses.words):
            if at not in senses.empty and is_word(word) and stem(word, code) in known:
                account.take(range(at, at + 1), "value", one.key, "part")


def _take_unused_values(account: _Account, reading: ParsedText, senses: MessageSenses) -> None:
    tokens, size = reading.tokens, len(senses.words)
    for start, end in reading.values:
        first, last = tokens.index_at(start), tokens.index_at(end - 1) + 1
        places = range(first, min(last, size))
        if all(account.roles[at] is None for at in places):
            if all(senses.words[at] in senses.reader.small_words for at in places):
                continue  # the “one” of “this one”
            kind = next((s.kind for s in reading.spans if s.start == start), "number")
            of = _said_before(account, reading, start)
            account.take(places, "value" if of else "unread", of, kind)


def _said_before(account: _Account, reading: ParsedText, start: int) -> str | None:
    """The argument that has the same length of time, said otherwise: half a year, so 6 months."""
    own = [span for span in reading.of("duration") if span.start == start]
    for span in reading.of("duration") if own else ():
        taken = account.roles[span.first] if span.first < len(account.roles) else None
        same = span.start != start and span.value == own[0].value
        if same and taken is not None and taken[0] == "value":
            return taken[1]
    return None


def _take_words(
    account: _Account,
    reading: ParsedText,
    senses: MessageSenses,
    plan: TemplatePlan,
    frame: Frame,
    library: LibraryWords,
) -> None:
    words, code = senses.words, senses.reader.code
    _take_actions(account, senses, frame, library)
    sense_at = {sense.first: sense for sense in senses.senses}
    covered_by_sense = {
        at: sense for sense in senses.senses for at in range(sense.first, sense.last)
    }
    for at, word in enumerate(words):
        if account.roles[at] is not None or not (
            is_word(word) or word[0] == BLOCK or word in SIGNS
        ):
            continue
        sense = sense_at.get(at)
        if sense is not None:
            places = range(sense.first, sense.last)
            if sense.sense in BEARS_NOTHING:
                account.take(places, "filler", None, sense.sense)
                continue
            if _is_licensed(sense, frame):
                account.take(places, "operator", frame.template_id, sense.sense)
                continue
            is_single = sense.last - sense.first == 1
            if not (is_single and stem(word, code) in frame.stems):
                beside = _is_beside_the_point(sense, senses, plan, library)
                account.take(places, "filler" if beside else "unread", None, sense.sense)
                continue
        if not is_word(word):
            known = word in frame.phrases
            account.take(range(at, at + 1), "operator" if known else "unread", None, "sign")
            continue
        around = covered_by_sense.get(at)
        if sense is None and around is not None and _is_cut(around, account):
            # The “off” of “30% off”, whose sign belongs to the number.
            known = _is_licensed(around, frame)
            account.take(
                range(at, around.last), "operator" if known else "unread", None, around.sense
            )
            continue
        if sense is None and around is not None and around.sense in BEARS_NOTHING:
            account.take(range(at, at + 1), "filler", None, around.sense)
            continue
        root = stem(word, code)
        if root in frame.stems or _is_form_of(word, senses, frame):
            account.take(range(at, at + 1), "frame", frame.template_id)
        elif root in library.stems:
            account.take(range(at, at + 1), "unread", None, "foreign")
        elif len(word) >= _SHORTEST_SLIP and (near := library.near(word, senses.reader)):
            _take_slip(account, at, near, frame)
        elif at not in covered_by_sense:
            kind = "name" if _is_name(reading, at, code) else "word"
            account.take(range(at, at + 1), "unread", None, kind)
        else:
            account.take(range(at, at + 1), "filler", None, covered_by_sense[at].sense)


def _is_beside_the_point(
    sense: WordSense, senses: MessageSenses, plan: TemplatePlan, library: LibraryWords
) -> bool:
    """Whether it changes nothing that all is said, or who somebody is.

    A list holds all there is anyway. People matter to a library that names them, where they own
    something or something is theirs; that it is done for them changes nothing.
    """
    is_read = plan.template.effect == "read"
    if sense.sense == "universal":
        return is_read
    if sense.sense != "person" or stem(sense.phrase, senses.reader.code) in library.stems:
        return False
    words, reader = senses.words, senses.reader
    if list(words[sense.last : sense.last + 2]) == ["'", "s"]:
        return False
    before = sense.first - 1
    while before > 0 and before in senses.empty and not reader.is_lead(words[before]):
        before -= 1
    if before < 0 or not reader.is_lead(words[before]):
        return True
    return reader.is_for_whom(words[before]) and not is_read


def _is_licensed(sense: WordSense, frame: Frame) -> bool:
    """Whether the template's examples say what such a word does here."""
    if sense.sense == "condition" and frame.conditional:
        return True
    if frame.patterned.issuperset(sense.phrase.split()):
        return True
    return not frame.phrases.isdisjoint({sense.phrase, sense.phrase.removesuffix("s")})


def _take_actions(
    account: _Account, senses: MessageSenses, frame: Frame, library: LibraryWords
) -> None:
    """Verbs that ask for what the template does, and those that ask for something else."""
    code = senses.reader.code
    for action in senses.actions:
        first, groups, place = action.first, action.groups, action.places
        known = all(stem(senses.words[at], code) in frame.stems for at in place)
        known = known and not (frame.examples and senses.is_command(action))
        if any(account.roles[at] is not None for at in place) or known:
            continue
        if not groups.isdisjoint(frame.actions):
            account.take(place, "frame", frame.template_id, "action")
        elif (
            first not in senses.empty
            or len(place) > 1  # “take” may be anything, “take off” is not
            or ASKS_TO_BE_TOLD in groups
            or senses.is_command(action)
        ):
            known = any(stem(senses.words[at], code) in library.stems for at in place)
            account.take(place, "unread", None, "elsewhere" if known else "action")


def _is_cut(sense: WordSense, account: _Account) -> bool:
    """Whether a value has taken how an operator begins, and left the rest."""
    taken = account.roles[sense.first]
    return sense.sense not in BEARS_NOTHING and taken is not None and taken[0] == "value"


def _take_slip(account: _Account, at: int, near: Sequence[str], frame: Frame) -> None:
    place = range(at, at + 1)
    if any(other in frame.stems for other in near):
        account.take(place, "frame", frame.template_id, "slip")
    elif "" in near:
        account.take(place, "filler", None, "slip")
    else:
        account.take(place, "unread", None, "foreign")


def _is_form_of(word: str, senses: MessageSenses, frame: Frame) -> bool:
    """Whether it is a word of the template's with something attached, or with accents left out.

    A verb with its pronouns is: anótale; and a compound whose last part is: Papierhandtuch.
    """
    code = senses.reader.code
    text = load_language(code).text
    if code != "en" and without_accents(word) in frame.unaccented:
        return True
    typed = word
    for plain, letter in text.digraphs.items():
        typed = typed.replace(plain, letter)
    if typed != word and stem(typed, code) in frame.stems:
        return True
    if text.clitics and stem(bare_verb(word, code), code) in frame.stems:
        return True
    if not text.capital_nouns or len(word) < _SHORTEST_HEAD + _SHORTEST_MODIFIER:
        return False
    return any(
        stem(word[cut:], code) in frame.stems
        for cut in range(_SHORTEST_MODIFIER, len(word) - _SHORTEST_HEAD + 1)
    )


def _is_name(reading: ParsedText, at: int, code: str) -> bool:
    """Whether a word is written with a capital where no sentence begins, and no noun has one."""
    if load_language(code).text.capital_nouns:
        return False
    tokens = reading.tokens
    if not reading.clean[tokens.starts[at]].isupper() or at == 0:
        return False
    return tokens.words[at - 1] not in ".!?:"
