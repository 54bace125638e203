"""Language files, read and put together: how to write, count and date in a pack."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from server.errors import Problem
from server.intents.numbers import NumberRules
from server.intents.patterns import alternatives
from server.text.language import (
    COMMON,
    Language,
    LanguageFile,
    Sense,
    character_range,
    characters_in,
    read_language,
    shipped_file,
    shipped_names,
)
from server.text.normalizer import Normalizer, WritingRules
from server.text.senses import ASKS_TO_BE_TOLD

_SMALL: Final[tuple[Sense, ...]] = ("filler", "light", "question", "choice")


@dataclass(frozen=True, slots=True)
class Languages:
    """The languages of a pack as one; where two disagree, the one named first counts."""

    files: tuple[LanguageFile, ...] = ()
    problems: tuple[Problem, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)
    prefixes: frozenset[str] = frozenset()
    number_words: Mapping[str, tuple[int, bool]] = field(default_factory=dict)
    stop_words: frozenset[str] = frozenset()

    @property
    def specs(self) -> tuple[Language, ...]:
        return tuple(file.spec for file in self.files)

    def reader(self) -> Normalizer:
        return Normalizer(_writing_rules(self.specs))


def read_languages(
    names: Iterable[str], folder: Path, environ: Mapping[str, str]
) -> tuple[Languages, list[tuple[int, str]]]:
    """Read languages by name or by path from `folder`; also which names have no file, and why."""
    files = [shipped_file(COMMON)]
    problems: list[Problem] = []
    missing: list[tuple[int, str]] = []
    for at, name in enumerate(names):
        path = folder / name
        if name in shipped_names():
            files.append(shipped_file(name))
        elif path.suffix in (".yaml", ".yml") and path.is_file():
            file, wrong = read_language(path, environ)
            problems += wrong
            files += () if file is None else (file,)
        else:
            shipped = ", ".join(shipped_names())
            missing.append((at, f"there is no such language; there are {shipped}, or a path"))
    return _together(tuple(files), tuple(problems)), missing


def _together(files: tuple[LanguageFile, ...], problems: tuple[Problem, ...]) -> Languages:
    specs = [file.spec for file in files]
    reader = Normalizer(_writing_rules(specs))
    words: dict[str, tuple[int, bool]] = {}
    definitions: dict[str, str] = {}
    named: dict[str, list[str]] = {"month": [], "ordinal": [], "date_word": []}
    for spec in specs:
        for many, multiplies in ((spec.numbers.words, False), (spec.numbers.multipliers, True)):
            for word, value in many.items():
                words.setdefault(word, (value, multiplies))
        definitions = dict(spec.define) | definitions
        named["month"] += spec.dates.months
        named["ordinal"] += spec.numbers.ordinals
        named["date_word"] += spec.dates.words
    prefixes = frozenset(prefix for spec in specs for prefix in spec.prefixes)
    definitions["prefix"] = f"(?:{alternatives(prefixes)})?" if prefixes else ""
    groups = {"month": "(?P<month_name>", "ordinal": "(", "date_word": "(?P<word>"}
    for name, entries in named.items():
        if entries:
            folded = [reader.fold(reader.clean(entry)) for entry in entries]
            definitions[name] = f"{groups[name]}{alternatives(folded)})"
    stop_words = frozenset(word for spec in specs for word in spec.edge_words)
    return Languages(files, problems, definitions, prefixes, words, stop_words)


def number_rules(specs: Iterable[Language]) -> NumberRules:
    numbers = [spec.numbers for spec in specs]
    return NumberRules(
        joiner=next((n.joiner for n in numbers if n.joiner), ""),
        joining_words=frozenset(word for n in numbers for word in n.joining_words),
        joined=any(n.joined for n in numbers),
    )


def clause_languages(languages: Languages) -> tuple[str, ...]:
    """Return the languages that ship whose files say how people ask and refuse."""
    shipped = shipped_names()
    return tuple(
        spec.language for spec in languages.specs if spec.language in shipped and spec.senses
    )


def small_words(languages: Languages, reader: Normalizer) -> frozenset[str]:
    """Words that narrow nothing: those that bear nothing or only ask, and verbs that ask."""
    found: set[str] = set()
    for spec in languages.specs:
        texts = [text for sense in _SMALL for text in spec.senses.get(sense, ())]
        texts += [*spec.moods.requests, *spec.moods.questions, *spec.stop_words]
        texts += spec.actions[ASKS_TO_BE_TOLD] if spec.actions else ()
        found.update(word for text in texts for word in reader.words(text))
    return frozenset(found)


def all_words(languages: Languages, reader: Normalizer) -> frozenset[str]:
    """Every word that stands anywhere in the files of the languages."""
    found: set[str] = set()
    waiting: list[Any] = [file.document.data for file in languages.files]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            waiting += [*part, *part.values()]
        elif isinstance(part, list):
            waiting += part
        elif isinstance(part, str):
            found.update(reader.words(part))
    return frozenset(found)


def ordinals(languages: Languages, reader: Normalizer) -> dict[str, int]:
    """Ordinal words as they are compared, and what they count."""
    words = [word for spec in reversed(languages.specs) for word in spec.numbers.ordinals.items()]
    return {reader.fold(reader.clean(word)): value for word, value in words}


def _writing_rules(specs: Iterable[Language]) -> WritingRules:
    replaced: dict[str, str] = {}
    sequences: dict[str, str] = {}
    same: dict[str, str] = {}
    finals: dict[str, str] = {}
    trailing = marks = abbreviations = ""
    unspaced: list[tuple[str, str]] = []
    for text in (spec.text for spec in specs):
        for span in text.ignore:
            replaced |= dict.fromkeys(characters_in(span), "")
        for old, new in text.replace.items():
            (replaced if len(old) == 1 else sequences)[old] = new
        same |= text.same
        finals |= text.finals
        trailing += text.trailing
        marks += text.word_marks
        abbreviations += text.abbreviation_marks
        unspaced += map(character_range, text.unspaced)
    return WritingRules(
        replaced, sequences, same, finals, trailing, marks, abbreviations, tuple(unspaced)
    )
