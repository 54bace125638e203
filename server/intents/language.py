"""Language files, read and put together: how to write, count and date in a pack."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from server.errors import Problem
from server.intents.dates import Counting, RangeMeaning, Unit
from server.intents.numbers import NumberRules
from server.intents.patterns import alternatives
from server.intents.text import Spelling, TextReader
from server.settings.documents import Document, read_yaml
from server.settings.validation import validate

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


Character = Annotated[str, Field(min_length=1, max_length=1)]
Characters = Annotated[str, Field(pattern=r"^[0-9A-Fa-f]{4,5}(-[0-9A-Fa-f]{4,5})?$")]
Month = Annotated[int, Field(ge=1, le=12)]


class LanguageModel(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)


class TextSpec(LanguageModel):
    """How the language is written. Ranges of characters are written as `0591-05BD`.

    `ignore` are characters that do not count, `replace` what stands for something else,
    `same` letters that are compared as another one, `finals` the forms that letters
    have at the end of a word, `trailing` punctuation that may close a question,
    `word_marks` what joins letters into one word (`סה"כ`), and `unspaced` the scripts
    in which every character counts as a word. Words that hold one of
    `abbreviation_marks` keep their last letter as it is.
    """

    ignore: list[Characters] = []
    replace: dict[str, str] = {}
    same: dict[Character, Character] = {}
    finals: dict[Character, Character] = {}
    trailing: str = ""
    word_marks: str = ""
    abbreviation_marks: str = ""
    unspaced: list[Characters] = []


class NumbersSpec(LanguageModel):
    words: dict[str, int] = {}
    multipliers: dict[str, int] = {}
    ordinals: dict[str, int] = {}
    joiner: str = ""
    joining_words: list[str] = []
    joined: bool = False


class RelativeSpec(LanguageModel):
    unit: Unit
    number: int = 0
    counting: Counting = "whole"


class CountedSpec(LanguageModel):
    """A pattern whose first group says how many units: "the last {number} days"."""

    pattern: str
    unit: Unit
    counting: Literal["last", "ago"]


class RangeSpec(LanguageModel):
    pattern: str
    means: RangeMeaning


class DatesSpec(LanguageModel):
    week_starts: Weekday = "monday"
    century_pivot: Annotated[int, Field(ge=0, le=100)] = 50
    months: dict[str, Month] = {}
    words: dict[str, RelativeSpec] = {}
    formats: list[str | CountedSpec] = []
    ranges: list[RangeSpec] = []


class LanguageSpec(LanguageModel):
    language: str = Field(min_length=1)
    text: TextSpec = Field(default_factory=TextSpec)
    prefixes: list[str] = []
    stop_words: list[str] = []
    define: dict[str, str] = {}
    numbers: NumbersSpec = Field(default_factory=NumbersSpec)
    dates: DatesSpec = Field(default_factory=DatesSpec)


SHIPPED: Final = Path(__file__).parent / "languages"
"""Languages that packs name without a path."""

_COMMON: Final = SHIPPED / "common.yaml"
"""What holds for text in any language; part of every pack."""


@dataclass(frozen=True, slots=True)
class LanguageFile:
    document: Document
    spec: LanguageSpec


@dataclass(frozen=True, slots=True)
class Languages:
    """The languages of a pack as one; where two disagree, the one named first counts."""

    files: tuple[LanguageFile, ...] = ()
    problems: tuple[Problem, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)
    prefixes: frozenset[str] = frozenset()
    number_words: Mapping[str, tuple[int, bool]] = field(default_factory=dict)
    stop_words: tuple[str, ...] = ()

    @property
    def specs(self) -> tuple[LanguageSpec, ...]:
        return tuple(file.spec for file in self.files)

    def reader(self) -> TextReader:
        return TextReader(_spelling(self.specs))


def read_languages(
    names: Iterable[str], folder: Path, environ: Mapping[str, str]
) -> tuple[Languages, list[tuple[int, str]]]:
    """Read languages by name or by path from `folder`; also which names have no file, and why."""
    files: list[LanguageFile] = []
    problems: list[Problem] = []
    missing: list[tuple[int, str]] = []
    for at, path in enumerate([_COMMON, *(_path(name, folder) for name in names)]):
        if at and not path.is_file():
            shipped = ", ".join(sorted(p.stem for p in SHIPPED.glob("*.yaml") if p != _COMMON))
            missing.append((at - 1, f"there is no such language; there are {shipped}, or a path"))
            continue
        document = read_yaml(path, environ)
        problems += document.problems
        if document.readable:
            spec, wrong = validate(LanguageSpec, document)
            problems += wrong
            if spec is not None:
                files.append(LanguageFile(document, spec))
    return _together(tuple(files), tuple(problems)), missing


def _path(name: str, folder: Path) -> Path:
    return folder / name if name.endswith((".yaml", ".yml")) else SHIPPED / f"{name}.yaml"


def _together(files: tuple[LanguageFile, ...], problems: tuple[Problem, ...]) -> Languages:
    specs = [file.spec for file in files]
    reader = TextReader(_spelling(specs))
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
    stop_words = tuple(word for spec in specs for word in spec.stop_words)
    return Languages(files, problems, definitions, prefixes, words, stop_words)


def number_rules(specs: Iterable[LanguageSpec]) -> NumberRules:
    numbers = [spec.numbers for spec in specs]
    return NumberRules(
        joiner=next((n.joiner for n in numbers if n.joiner), ""),
        joining_words=frozenset(word for n in numbers for word in n.joining_words),
        joined=any(n.joined for n in numbers),
    )


def ordinals(languages: Languages, reader: TextReader) -> dict[str, int]:
    """Ordinal words as they are compared, and what they count."""
    return {
        reader.fold(reader.clean(word)): value
        for spec in reversed(languages.specs)
        for word, value in spec.numbers.ordinals.items()
    }


def _spelling(specs: Iterable[LanguageSpec]) -> Spelling:
    replaced: dict[str, str] = {}
    sequences: dict[str, str] = {}
    same: dict[str, str] = {}
    finals: dict[str, str] = {}
    trailing = marks = abbreviations = ""
    unspaced: list[tuple[str, str]] = []
    for text in (spec.text for spec in specs):
        for span in text.ignore:
            first, last = _characters(span)
            replaced |= dict.fromkeys(map(chr, range(ord(first), ord(last) + 1)), "")
        for old, new in text.replace.items():
            (replaced if len(old) == 1 else sequences)[old] = new
        same |= text.same
        finals |= text.finals
        trailing += text.trailing
        marks += text.word_marks
        abbreviations += text.abbreviation_marks
        unspaced += map(_characters, text.unspaced)
    return Spelling(
        replaced, sequences, same, finals, trailing, marks, abbreviations, tuple(unspaced)
    )


def _characters(span: str) -> tuple[str, str]:
    """First and last character of `0591-05BD`, or of one code alone."""
    first, _, last = span.partition("-")
    return chr(int(first, 16)), chr(int(last or first, 16))
