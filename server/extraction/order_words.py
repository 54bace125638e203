"""Words for the choices of a parameter that are comparisons, or orders of a list.

Of `[">", "<="]`, “more than” is the first; of `[asc, desc]`, “cheapest” is the first; and of
`[price, created_at]` to sort by, it is the first, too.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from server.library.parameters import name_words
from server.text.language import Language, load_language, shipped_names

_COMPARISONS: Final = ("eq", "ne", "gt", "gte", "lt", "lte")
_ORDERED: Final = load_language("en").group("order_names")


def comparison_words(values: Iterable[Any], codes: Sequence[str]) -> dict[str, Any]:
    """The phrases for each value, where all of them are comparisons; empty where one is none."""
    languages = _languages(codes)
    phrases = _phrases_by_operator(languages)
    named = {
        phrase.lower(): operator
        for operator, some in phrases.items()
        for phrase in (operator, *some)
    }
    found = {value: named.get(str(value).replace("_", " ").lower()) for value in values}
    if len(found) < 2 or None in found.values():
        return {}
    words: dict[str, Any] = {}
    for value, operator in found.items():
        words |= dict.fromkeys(phrases[str(operator)], value)
        for language in languages:
            after = {"gte": language.roles.at_least_after, "lte": language.roles.at_most_after}
            # “min” and “max” stand before a value as well as after it.
            several = [p for p in after.get(str(operator), ()) if " " in p]
            words |= dict.fromkeys(several, value)
    return words


def _phrases_by_operator(languages: Sequence[Language]) -> dict[str, list[str]]:
    every = (load_language("common"), *languages)
    return {
        operator: [p for language in every for p in language.operators.get(operator, ())]
        for operator in _COMPARISONS
    }


def order_words(
    values: Iterable[Any], about: Iterable[str], codes: Sequence[str]
) -> dict[str, Any]:
    """The phrases for each value, where all of them are orders such as `asc` and `newest`.

    `about` are words that say what is put in order, for those that two kinds of things read
    differently: the oldest person has the greatest age, the oldest order the least date.
    """
    languages = _languages(codes)
    ends = _ends(tuple(language.language for language in languages))
    subject = {word for text in about for word in name_words(text)}
    by_end: dict[str, Any] = {}
    for value in values:
        said = str(value).replace("_", " ").lower()
        end = _resolved(ends.get(said) or ends.get(f"{said} first") or {}, subject)
        if end is None or end in by_end:
            return {}
        by_end[end] = value
    return {
        phrase: by_end[end]
        for phrase, fields in ends.items()
        if (end := _resolved(fields, subject)) in by_end
    }


Meanings = Mapping[str, frozenset[str]]
"""The ends that a phrase may mean, asc or desc, each with the fields for which it does."""


def _resolved(meanings: Meanings, subject: set[str]) -> str | None:
    if len(meanings) == 1:
        return next(iter(meanings))
    fitting = [end for end, fields in meanings.items() if fields & subject]
    return fitting[0] if len(fitting) == 1 else None


@cache
def _ends(codes: tuple[str, ...]) -> dict[str, Meanings]:
    ends: dict[str, dict[str, frozenset[str]]] = {}

    def add(phrase: str, end: str, fields: Iterable[str] = ()) -> None:
        known = ends.setdefault(phrase.lower(), {})
        known[end] = known.get(end, frozenset()) | frozenset(fields)

    for code in codes:
        language = load_language(code)
        for order, phrases in language.orders.items():
            for phrase in (order, *phrases):
                if phrase not in language.function_words:  # "up", "down"
                    add(phrase, order)
        for degree in language.rows.degrees:
            fields = {word for name in degree.fields for word in name_words(name)}
            for end, superlatives in (("desc", degree.most), ("asc", degree.least)):
                for phrase in superlatives:
                    add(phrase, end, fields)
                    add(f"{phrase} first", end, fields)
        bounds = {*language.roles.at_least, *language.roles.at_most}
        for end, superlatives in (("desc", language.rows.highest), ("asc", language.rows.lowest)):
            for phrase in superlatives:
                if phrase not in bounds and phrase not in language.function_words:
                    add(phrase, end)
    return {phrase: dict(known) for phrase, known in ends.items()}


def sorting_words(
    name: Sequence[str], values: Iterable[Any], codes: Sequence[str]
) -> dict[str, Any]:
    """The superlatives that say by which of the values, which are fields, a list is sorted."""
    if _ORDERED.isdisjoint(name):
        return {}
    found: dict[str, list[Any]] = {}
    for value in values:
        words = {*name_words(str(value))}
        for language in _languages(codes):
            for degree in language.rows.degrees:
                fields = {word for each in degree.fields for word in name_words(each)}
                if words & fields:
                    for phrase in (*degree.most, *degree.least):
                        found.setdefault(phrase, []).append(value)
    return {phrase: some[0] for phrase, some in found.items() if len({*map(str, some)}) == 1}


def _languages(codes: Sequence[str]) -> list[Language]:
    return [
        load_language(code) for code in dict.fromkeys(("en", *codes)) if code in shipped_names()
    ]
