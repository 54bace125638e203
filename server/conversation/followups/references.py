"""What a message points to: one of the offers, a place in a list, the last value."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from server.conversation.followups.lexicon import Lexicon
from server.conversation.followups.utterances import Utterance
from server.core.turn import CompletedCall
from server.library.model import Parameter, Template
from server.library.sql_model import SqlExecution
from server.text.stems import inflections, stem
from server.text.tokens import Word, message_words, words_of

_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_IDENTITY: Final = frozenset({"id", "number", "no", "nr", "code", "key"})

ReferenceKind = Literal["last", "previous", "specific"]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Reference:
    """`position` counts from the end for `last` (1) and `previous` (2), else from the start."""

    kind: ReferenceKind
    position: int
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A row that was shown, and the call that showed it."""

    row: Mapping[str, Any]
    by: CompletedCall


def read_reference(text: str, wording: Lexicon, things: Collection[str] = ()) -> Reference | None:
    """The place in a list that a message speaks of: "the second one you showed".

    `things` are nouns of what was listed, which may stand behind the place. More than one
    place is none.
    """
    words = message_words(text)
    inside = tuple(word.text for word in words)
    found: list[Reference] = []
    at = 0
    while at < len(words):
        kind, position, end = _place(inside, at, wording)
        if end == at:
            at += 1
            continue
        first, last = at, end
        if last < len(words) and (inside[last] in wording.things or inside[last] in things):
            last += 1
        elif last < len(words) and wording.shown.at(inside, last) == last:
            at = end
            continue
        last = wording.shown.at(inside, last)
        while first and inside[first - 1] in wording.before:
            first -= 1
        found.append(Reference(kind, position, (words[first].start, words[last - 1].end)))
        at = last
    return found[0] if len(found) == 1 else None


def read_result(text: str, wording: Lexicon) -> Span | None:
    """Where a message speaks of the value of the last answer, if it does so once."""
    words = message_words(text)
    inside = tuple(word.text for word in words)
    found: list[Span] = []
    at = 0
    while at < len(words):
        end = wording.results.at(inside, at)
        if end > at:
            found.append((words[at].start, words[end - 1].end))
        at = max(end, at + 1)
    return found[0] if len(found) == 1 else None


def read_possessive(text: str, wording: Lexicon) -> tuple[Span, str] | None:
    """The one word that stands for a thing with a number, and how its name is put there."""
    found = [
        ((word.start, word.end), wording.possessives[word.text])
        for word in message_words(text)
        if word.text in wording.possessives
    ]
    return found[0] if len(found) == 1 else None


def has_anaphor(words: Sequence[Word], wording: Lexicon) -> bool:
    return any(word.text in wording.anaphors for word in words)


def resolve_reference(reference: Reference, done: Sequence[CompletedCall]) -> ShownValue | None:
    """The row that a reference points to; None when there is none in that place.

    The last and the one before it are counted from the end of everything that was shown;
    the first, the second … from the start of the latest list of several, and of everything
    that was shown where there is no list so long.
    """
    position = reference.position
    everything = [ShownValue(row, call) for call in done for row in call.rows]
    if not 0 < position <= len(everything):
        return None
    if reference.kind != "specific":
        return everything[-position]
    for call in reversed(done):
        if len(call.rows) >= max(position, 2):
            return ShownValue(call.rows[position - 1], call)
    return everything[position - 1]


def only_shown(done: Sequence[CompletedCall]) -> ShownValue | None:
    """The row of the last answer that showed any, when it showed but one."""
    last = next((call for call in reversed(done) if call.rows), None)
    return ShownValue(last.rows[0], last) if last is not None and len(last.rows) == 1 else None


def _place(words: tuple[str, ...], at: int, wording: Lexicon) -> tuple[ReferenceKind, int, int]:
    if (end := wording.previous.at(words, at)) > at:
        return "previous", 2, end
    if (end := wording.last.at(words, at)) > at:
        return "last", 1, end
    position = wording.positions.get(words[at])
    return ("specific", position, at + 1) if position is not None else ("last", 0, at)


_MOST_WORDS: Final = 8


def by_place(saying: Utterance, offered: Sequence[Template], wording: Lexicon) -> Template | None:
    """The template at the place that a short message names: "the first", "2", "option 2"."""
    words = [word.text for word in saying.words]
    named = [word for word in words if word not in wording.idle and word not in wording.things]
    if len(named) == 1 and named[0].isdecimal():
        return _at(int(named[0]), offered)
    reference = read_reference(saying.text, wording)
    if reference is None or len(words) > _MOST_WORDS:
        return None
    if any(word.text not in wording.things for word in saying.left([reference.span], wording)):
        return None
    if reference.kind == "specific":
        return _at(reference.position, offered)
    return offered[-1] if reference.kind == "last" else None


def by_words(saying: Utterance, offered: Sequence[Template], wording: Lexicon) -> Template | None:
    """The template whose description, or else whose examples, have every word of the message.

    One word at least has to be in no other's. A question chooses nothing.
    """
    words = [word.text for word in saying.words]
    said = {stem(word) for word in words if word not in wording.idle | wording.never}
    opens = (wording.idle | wording.never) - wording.asks
    first = next((word for word in words if word not in opens), "")
    if not said or len(words) > _MOST_WORDS or first in wording.asks:
        return None
    about = [(each.description, each.id.replace("_", " "), *each.tags) for each in offered]
    for texts in (about, [each.nl_examples for each in offered]):
        vocabularies = [{stem(w) for said in own for w in words_of(said)} for own in texts]
        for template, known in zip(offered, vocabularies, strict=True):
            others = (other for other in vocabularies if other is not known)
            if said <= known and not said <= set[str]().union(*others):
                return template
    return None


def _at(position: int, offered: Sequence[Template]) -> Template | None:
    return offered[position - 1] if 0 < position <= len(offered) else None


Row = Mapping[str, Any]


def row_value(parameter: Parameter, row: Row, shown_by: Template) -> Any:
    """The value of a parameter in a row that `shown_by` listed; None when it has none.

    A field of the parameter's name is its value; so is `government` of `government_number`,
    and the `id` or `number` of a row of posts of `post_id`.
    """
    wanted = _words(parameter.name)
    fields = {_words(name): value for name, value in row.items()}
    if wanted in fields:
        return fields[wanted]
    if len(wanted) < 2 or wanted[-1] not in _IDENTITY:
        return None
    owner = wanted[:-1]
    if owner in fields:
        return fields[owner]
    if len(owner) == 1 and owner[0] in nouns(shown_by):
        for name in (wanted[-1:], *((word,) for word in sorted(_IDENTITY))):
            if name in fields:
                return fields[name]
    return None


def row_identity(
    row: Row, shown_by: Template, templates: Sequence[Template]
) -> tuple[str, Any] | None:
    """What a row is called by: the parameter that takes it, and its value there.

    Of parameters that could, the one that most templates have.
    """
    kinds = nouns(shown_by)
    found = [
        (name, value)
        for template in templates
        for parameter in template.required
        if _is_identity(name := _full_name(parameter, template)) and _words(name)[0] in kinds
        if (value := row_value(replace(parameter, name=name), row, shown_by)) is not None
    ]
    if not found:
        return None
    ((name, _),) = Counter(name for name, _ in found).most_common(1)
    return name, dict(found)[name]


def _full_name(parameter: Parameter, template: Template) -> str:
    """The name of a parameter; the `id` of a template that asks a table is of what that lists."""
    words = _words(parameter.name)
    if len(words) != 1 or words[0] not in _IDENTITY or not _table_of(template):
        return parameter.name
    thing = min(inflections(_table_of(template)), key=len)
    return f"{thing}_{parameter.name}"


def _table_of(template: Template) -> str:
    """What a template that asks a database lists: the last word of its table's name."""
    execution = template.execution
    words = _words(execution.table) if isinstance(execution, SqlExecution) else ()
    return words[-1] if words else ""


def named(arguments: Mapping[str, Any]) -> tuple[str, Any] | None:
    """The one argument that names a thing by its number, as `post_id` does."""
    found = [(name, value) for name, value in arguments.items() if _is_identity(name)]
    return found[0] if len(found) == 1 else None


def noun_of(name: str) -> str:
    return " ".join(_words(name)[:-1])


def nouns(template: Template) -> frozenset[str]:
    """What a template lists, in one and in many: by its tags and table, else by its name's end."""
    words = {word for tag in template.tags for word in _words(tag)}
    words |= {_words(template.id)[-1]} if _words(template.id) else set()
    words |= {_table_of(template)} - {""}
    return frozenset(form for word in words for form in inflections(word))


def _is_identity(name: str) -> bool:
    words = _words(name)
    return len(words) == 2 and words[1] in _IDENTITY


def _words(name: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _PARTS.findall(name))
