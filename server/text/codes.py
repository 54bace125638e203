"""Codes: what says which one of many by letters and digits together: SH-100245, KN19 XTB."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

_WORD: Final = re.compile(r"(?<![\w@.+])[A-Za-z0-9]+(?:[-_/][A-Za-z0-9]+)*(?![\w@]|\.\w)")
_RUN: Final = re.compile(r"[A-Za-z]+|[0-9]+")
_UNIT: Final = re.compile(r"[0-9]+[A-Za-z]{1,3}|[0-9]+-[A-Za-z]{2,}(?:-[A-Za-z]+)*")
"""A number with its unit, and what it is an adjective of: 4kg, 3rd, 2-bedroom."""
_MOST_GROUPS: Final = 3
_LONGEST_GROUP: Final = 4
"""Letters and digits of a code's part that may be written apart: LS10 1JR."""
_FEWEST_DIGITS: Final = 3
"""Of what is a code though its letters are small."""
_TELLING_DIGITS: Final = 6
_LEAST_CAPITALS: Final = 4
_LONGEST_EXAMPLE: Final = 40

EXACT, SIMILAR, OTHER = 2, 1, 0
"""How well a code has the form of an example."""


class Code(NamedTuple):
    """A code and where it stands: characters `start` to `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class CodeForm:
    """What a code is made of, going by one of its kind."""

    example: str
    runs: tuple[tuple[str, int], ...]
    """Runs of letters (A) and digits (0) with their lengths."""
    groups: int
    """Parts with blanks between them."""

    @property
    def lead(self) -> str:
        """The letters that it begins with, in capitals: SH."""
        found = _RUN.match(self.example)
        return found[0].upper() if found and found[0].isalpha() and len(self.runs) > 1 else ""

    @property
    def is_number(self) -> bool:
        """Whether it has digits only."""
        return all(kind == "0" for kind, _ in self.runs)

    @property
    def is_word(self) -> bool:
        """Whether it has letters only."""
        return all(kind == "A" for kind, _ in self.runs)

    @property
    def is_telling(self) -> bool:
        """Whether what is written like it is no amount: it has letters, or many digits."""
        return not self.is_number or self.runs[0][1] >= _TELLING_DIGITS

    def fit(self, text: str) -> int:
        """How well a text has this form; its blanks and hyphens may be left out."""
        runs = _runs(text)
        if self.is_word and text.isupper() and runs[0] >= ("A", _LEAST_CAPITALS):
            return EXACT if len(runs) == 1 else SIMILAR
        if [kind for kind, _ in runs] != [kind for kind, _ in self.runs]:
            return OTHER
        begins = len(self.lead) > 1 and text.upper().startswith(self.lead)
        if runs == self.runs or begins:
            return EXACT
        apart = max(abs(own - size) for (_, own), (_, size) in zip(self.runs, runs, strict=True))
        return SIMILAR if apart == 1 else OTHER

    def leads(self, text: str) -> bool:
        """Whether a text begins with the letters that the example begins with."""
        return len(self.lead) > 1 and text.upper().startswith(self.lead)

    def written(self, text: str) -> str:
        """A text of this form with its letters in capitals, where the example has them so."""
        return text.upper() if self.example.isupper() and any(map(str.isdigit, text)) else text


@lru_cache(maxsize=1024)
def form_of(example: str) -> CodeForm | None:
    """The form of a code; None for what is written like any other text."""
    groups = example.split(" ")
    runs = _runs(example)
    is_code = (
        len(example) <= _LONGEST_EXAMPLE
        and len(groups) <= _MOST_GROUPS
        and all(map(_WORD.fullmatch, groups))
        and (
            _is_mixed(example)
            if len(groups) == 1
            else example.isupper() and _is_mixed(groups[0]) and max(map(len, groups)) <= 5
        )
    )
    is_number = example.isdigit() and len(example) >= _FEWEST_DIGITS
    is_word = example.isalpha() and example.isupper() and len(example) >= _LEAST_CAPITALS
    if not (is_code or is_number or is_word) or _UNIT.fullmatch(example):
        return None
    return CodeForm(example, runs, len(groups))


def find_codes(
    text: str, forms: Sequence[CodeForm] = (), *, numbers: bool = False
) -> Iterator[Code]:
    """The codes of a text from left to right, each as a whole; those of `forms` among them.

    With `numbers`, all digits that stand alone.
    """
    words = [*_WORD.finditer(text)]
    if text.isupper():  # where all letters are capitals, these tell nothing
        forms = [form for form in forms if not form.is_word]
    at = 0
    while at < len(words):
        size = _size_at(text, words, at, forms) or int(numbers and words[at][0].isdigit())
        if size:
            start, end = words[at].start(), words[at + size - 1].end()
            yield Code(start, end, text[start:end])
        at += max(size, 1)


def _size_at(text: str, words: Sequence[re.Match[str]], at: int, forms: Sequence[CodeForm]) -> int:
    """How many words from `at` on are one code."""
    groups = {form.groups for form in forms} | {1, 2}
    for size in sorted(groups, reverse=True):
        some = words[at : at + size]
        whole = text[words[at].start() : some[-1].end()]
        blanks = sum(map(str.isspace, whole))
        if len(some) < size or blanks != size - 1:
            continue
        of_form = any(form.groups == size and form.fit(whole) == EXACT for form in forms)
        if size == 1 and (of_form or is_code(whole)):
            return size
        if size > 1 and (of_form or _is_apart([one[0] for one in some])) and whole.isupper():
            return size
    return 0


def is_code(word: str) -> bool:
    """Whether a word without blanks is a code by itself, and neither a number nor a quantity."""
    if not _is_mixed(word) or _UNIT.fullmatch(word):
        return False
    return word.isupper() or sum(map(str.isdigit, word)) >= _FEWEST_DIGITS


def _is_apart(groups: Sequence[str]) -> bool:
    """Whether two words are the halves of one code: LS10 1JR."""
    first, second = groups
    short = max(map(len, groups)) <= _LONGEST_GROUP
    halves = first[0].isalpha() and second[0].isdigit() and _is_mixed(first) and _is_mixed(second)
    return short and halves and sum(map(str.isdigit, second)) == 1


def _is_mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _runs(text: str) -> tuple[tuple[str, int], ...]:
    return tuple(("A" if run[0].isalpha() else "0", len(run)) for run in _RUN.findall(text))
