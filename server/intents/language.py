"""Language files, read and put together: how to write, count and date in a pack."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from server.errors import Problem
from server.intents.numbers import NumberRules
from server.intents.patterns import alternatives
from server.text.language import (
    COMMON,
    Language,
    LanguageFile,
    character_range,
    characters_in,
    read_language,
    shipped_file,
    shipped_names,
)
from server.text.normalizer import Normalizer, WritingRules


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
