"""Lines that would make a library surer, from its examples alone: nothing is embedded or asked."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, sqrt
from typing import Final

from server.core.suggestions import quoted
from server.errors import Problem
from server.extraction.example_learning import ANY_DAY
from server.extraction.extractor import Extractor
from server.extraction.frame import SIGNS
from server.library.model import Library, Template
from server.matching.masking import mask
from server.retrievers.requests import objection
from server.text.language import load_language
from server.text.senses import MessageSenses, WordSense
from server.text.stems import stem
from server.text.tokens import is_word

KIND: Final = "suggestion"
_MOST: Final = 5
_ALIKE: Final = 0.7
"""Examples of two templates that are nearer than this say nearly the same."""
_CLEARLY: Final = 0.05
_CHANGES_THE_REQUEST: Final = frozenset({"negation", "exclusion"})


@dataclass(frozen=True, slots=True)
class _Example:
    template: Template
    text: str
    senses: MessageSenses
    telling: frozenset[str]
    """Stems of the words that say what it is about, and signs; without its values."""
    words: Mapping[str, float]
    """All its stems, and its pairs of neighbours, each with its weight; of unit length."""


class _Reader:
    """Reads examples of one library, and texts that are nearly such."""

    def __init__(self, library: Library, extractor: Extractor) -> None:
        self.extractor = extractor
        self._rare: dict[str, float] = {}
        templates = library.templates.values()
        owners: dict[str, set[str]] = {}
        for template in templates:
            for text in template.nl_examples:
                for word in _words(self._senses(text)):
                    owners.setdefault(word, set()).add(template.id)
        # A word that many templates have says little of any.
        self._rare = {word: 1 + log(len(templates) / len(ids)) for word, ids in owners.items()}
        self.examples = [self.read(t, text) for t in templates for text in t.nl_examples]

    def read(self, template: Template, text: str) -> _Example:
        senses = self._senses(text)
        telling = {*senses.telling_stems, *(word for word in senses.words if word in SIGNS)}
        weights = {
            word: (1 + log(count)) * self._rare.get(word, 1.0)
            for word, count in _words(senses).items()
        }
        length = sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        words = {word: weight / length for word, weight in weights.items()}
        plain = self.extractor.senses(self.extractor.read(text, ANY_DAY))
        return _Example(template, text, plain, frozenset(telling), words)

    def _senses(self, text: str) -> MessageSenses:
        return self.extractor.senses(self.extractor.read(mask(text), ANY_DAY))


def suggestions(library: Library, extractor: Extractor) -> list[Problem]:
    """Return at most a few hints, each with a line to add; those of operators first."""
    extractor.prepare(tuple(library.templates.values()))
    reader = _Reader(library, extractor)
    found = [*_operators(reader), *_collisions(reader.examples)]
    return list(dict.fromkeys(found))[:_MOST]


def _words(senses: MessageSenses) -> Counter[str]:
    words = [stem(w, senses.reader.code) for w in senses.words if is_word(w) or w in SIGNS]
    return Counter([*words, *map(" ".join, pairwise(words))])


def _likeness(one: _Example, other: _Example) -> float:
    few, many = sorted((one.words, other.words), key=len)
    return sum(weight * many.get(word, 0.0) for word, weight in few.items())


def _collisions(examples: Sequence[_Example]) -> list[Problem]:
    """Examples that are nearer to another template's than to their own: what is learnt is mixed."""
    found: list[tuple[float, Problem]] = []
    seen = set[frozenset[str]]()
    for one in examples:
        own, other, nearest = 0.0, 0.0, one
        for each in examples:
            likeness, same = _likeness(one, each), each.telling == one.telling
            if each.template is one.template:
                own = likeness if own < likeness and each.words != one.words else own
            elif same and likeness > other and _folded(each.text) != _folded(one.text):
                other, nearest = likeness, each
        pair = frozenset((one.text, nearest.text))
        known = _is_counter(one.text, nearest.template) or _is_counter(nearest.text, one.template)
        if other < _ALIKE or other - own < _CLEARLY or known or pair in seen:
            continue
        seen.add(pair)
        what = (
            f"{quoted(one.text)} of {one.template.id!r} reads more like {quoted(nearest.text)} of "
            f"{nearest.template.id!r} than like its own examples"
        )
        found.append((other - own, _hint(what, one.text, nearest.template)))
    return [problem for _, problem in sorted(found, key=lambda each: -each[0])]


def _operators(reader: _Reader) -> Iterator[Problem]:
    """Words such as “not” in an example, without which the template would run all the same."""
    known = {_folded(example.text) for example in reader.examples}
    for one in reader.examples:
        for operator in one.senses.senses:
            if not _changes_the_request(operator, one.senses):
                continue
            turned = reader.read(one.template, _without(one, operator))
            if _folded(turned.text) in known or _is_counter(turned.text, one.template):
                continue
            if _runs_alike(one, turned, reader.extractor) and _is_nearest(turned, reader.examples):
                what = (
                    f"{quoted(one.text)} of {one.template.id!r} says {quoted(operator.phrase)}, "
                    "and nothing tells the template from the same words without it"
                )
                yield _hint(what, turned.text, one.template)


def _changes_the_request(operator: WordSense, senses: MessageSenses) -> bool:
    """Whether it takes back or leaves out something of what is asked for, and not of a remark."""
    if operator.sense not in _CHANGES_THE_REQUEST or operator.last >= len(senses.words):
        return False
    asked = senses.asking()[0]
    following = senses.words[operator.last]
    # “outside in Prague” leaves nothing out.
    is_adverb = following in load_language(senses.reader.code).group("prepositions")
    return asked.first <= operator.first < asked.last and is_word(following) and not is_adverb


def _without(example: _Example, operator: WordSense) -> str:
    starts, words, text = example.senses.starts, example.senses.words, example.text
    start = starts[operator.first]
    end = starts[operator.last - 1] + len(words[operator.last - 1])
    return " ".join(f"{text[:start]} {text[end:]}".split())


def _runs_alike(one: _Example, turned: _Example, extractor: Extractor) -> bool:
    """Whether the turned text would be called with the same arguments."""
    template = one.template
    before = extractor.extract(one.text, template, now=ANY_DAY)
    reading = extractor.read(turned.text, ANY_DAY)
    found = extractor.extract_from(reading, template)
    coverage = extractor.cover(reading, template, found)
    against = objection(template, extractor.frame(template), turned.senses, coverage)
    same = found.arguments == before.arguments and not found.missing
    return same and against is None and not any(coverage.unread())


def _is_nearest(turned: _Example, examples: Sequence[_Example]) -> bool:
    """Whether no example of another template is nearer than one of its own."""
    own = other = 0.0
    for each in examples:
        likeness = _likeness(turned, each)
        if each.template is turned.template:
            own = max(own, likeness)
        else:
            other = max(other, likeness)
    return own > other


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" ?!.")


def _is_counter(text: str, template: Template) -> bool:
    return _folded(text) in map(_folded, template.counter_examples)


def _hint(what: str, counter: str, template: Template) -> Problem:
    line = f"counter_examples: [{json.dumps(counter, ensure_ascii=False)}]"
    return Problem(
        f"{what}; add to {template.id!r}, if that is not for it: {line}",
        template.where,
        KIND,
        "warning",
        template.id,
    )
