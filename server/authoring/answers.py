"""What a result tells, and how people ask for it: when is loan 7 due, who drives van 3."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from server.authoring.naming import words
from server.authoring.phrases import bare, is_plural, name_words, participle, phrases, singular
from server.authoring.subjects import Subject, is_verb

_NOMINAL: Final = (("y", ""), ("y", "e"), ("al", "e"), ("ure", ""), ("ion", ""), ("ion", "e"))
"""Endings of nouns that verbs have made, and what the verbs have there: delivery, arrival."""
_MOMENTS: Final = ("date", "datetime", "time")
_AT_END: Final = frozenset({"on", "at", "by", "date", "time", "day"})
_MOST: Final = 6


def asked_of_one(subject: Subject) -> list[str]:
    """Frames that ask for what the result of one thing tells, the most telling first."""
    found = dict.fromkeys(frame for frame in _ranked(subject, subject.tells) if frame)
    undescribed = phrases().frames["undescribed"] if subject.kind == "get" else ()
    return [*([] if subject.is_described else undescribed), *found][:_MOST]


def asked_of_several(subject: Subject) -> list[str]:
    """Frames that ask what the result says of the whole, and when something is so of its parts."""
    of_parts = [
        _of_many(_when(name)).replace("{it}", "{owners} {part}")
        for name, kind in subject.tells
        if _is_moment(name, kind)
    ]
    of_whole = [frame.replace("{it}", "{owner}") for frame in _ranked(subject, subject.tells_whole)]
    found = [frame for pair in zip_longest(of_whole, of_parts) for frame in pair if frame]
    return [*dict.fromkeys(found)][: _MOST // 2 + 1]


def _of_many(frame: str) -> str:
    for one, many in (("is {", "are {"), ("was {", "were {"), ("does {", "do {")):
        frame = frame.replace(one, many)
    return frame


def _is_moment(name: str, kind: str) -> bool:
    return kind in _MOMENTS or (kind == "string" and name_words(name)[-1] in ("date", "time"))


def _ranked(subject: Subject, tells: Sequence[tuple[str, str]]) -> Iterator[str]:
    known = phrases()
    own = {words(subject.owner), subject.noun, "name", "title"}
    spoken = [(n, k) for n, k in tells if words(n) not in own | known.unspoken_results]
    for name, kind in spoken:
        if _is_moment(name, kind):
            yield _when(name)
    lists = [name_words(name) for name, kind in spoken if kind == "array"]
    for parts in [each for each in lists if is_plural(each[-1])][:2]:
        yield f"does {{it}} have any {' '.join(parts)}?"
    for name, _ in spoken:
        label = [word for word in name_words(name) if word not in known.identifiers]
        is_person = bool(label) and label[-1].removesuffix("s") in known.people
        if is_person and label != [subject.noun]:
            yield f"who is the {' '.join(label)} of {{it}}?"
    for name, kind in spoken:
        parts = name_words(name)
        if kind in ("boolean", "array") or _is_moment(name, kind):
            continue
        if parts[-1] in known.identifiers:
            continue
        special = [each for each in known.parts if {*parts, *map(singular, parts)} & each.words]
        yield f"what is the {' '.join(parts)} of {{it}}?"
        if special and parts[-1] in special[0].words:
            yield special[0].frames[0] if special[0].frames else ""
    for name, kind in spoken:
        parts = name_words(name)
        if kind == "boolean" and len(parts) > 1 and participle_like(parts[-1]):
            yield f"is the {' '.join(parts[:-1])} {parts[-1]} for {{it}}?"


def participle_like(word: str) -> bool:
    """Whether a word says that something was done: paid, signed."""
    return word.endswith("ed") or word in phrases().grammar.irregular_participles.values()


def _when(name: str) -> str:
    """How people ask for a moment by its name: expires_on, due_date, created_at, delivery_date."""
    parts = name_words(name)
    if "date" in parts and is_verb(parts[0]) is False and len(parts) > 2:  # date of birth
        return f"when is the {' '.join(parts)} of {{it}}?"
    while len(parts) > 1 and parts[-1] in _AT_END:
        parts = parts[:-1]
    last = parts[-1]
    if "due" in parts:
        return "when is {it} due?"
    if participle_like(last):
        return f"when was {{it}} {last}?"
    verb = last if is_verb(last) else bare(last)
    if verb in phrases().happening:
        return f"when does {{it}} {verb}?"
    for ending, own in _NOMINAL:
        if last.endswith(ending):
            verb = f"{last.removesuffix(ending)}{own}"
            if verb in phrases().happening:
                return f"when will {{it}} {verb}?"
            if is_verb(verb):
                return f"when will {{it}} be {participle(verb)}?"
    if len(parts) == 1 and last in (*_AT_END, "timestamp"):
        return "when is {it}?"
    return f"when is the {' '.join(parts)} of {{it}}?"
