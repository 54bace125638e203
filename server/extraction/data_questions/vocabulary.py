"""The values that columns hold, as the phrases by which questions name them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from server.core.data_values import NameVocabulary
from server.extraction.data_questions.meanings import Value
from server.extraction.data_questions.phrases import (
    LONGEST,
    Phrase,
    PhraseBook,
    phrase_of,
)
from server.library.data_model import DataModel
from server.text.stems import inflections

_MOST_VALUES: Final = 200_000
_TELLING: Final = 5
"""So many letters of a word that stands for a name of several, and is in no other."""
_TELLING_NAME: Final = 3
"""So many letters of a last name that stands for a whole one."""
_MOST_BEGINNINGS: Final = 20_000
"""Of so many names of a column those are known by their first words that only one has."""
_OFTEN: Final = 8
"""In more than one of so many texts stands a comma where texts hold several values."""
_FEW: Final = 60
"""So many different values of a column are kinds, whatever they are called."""
_LEAST_TOGETHER: Final = 2
_VERY_FEW: Final = 12
"""Of so many different names a word stands for one, however it is written."""
_FULL_NAME: Final = 2
"""So many columns are a first and a last name."""


def columns_of_lists(model: DataModel, vocabulary: NameVocabulary) -> frozenset[tuple[str, str]]:
    """Columns whose texts hold several values, with commas between."""
    found: set[tuple[str, str]] = set()
    for (table, columns), rows in vocabulary.items():
        if len(columns) == 1 and columns != tuple(model.tables[table].name):
            many = sum("," in row[0] for row in rows)
            if many * _OFTEN > len(rows):
                found.add((table, columns[0]))
    return frozenset(found)


def add_values(
    phrases: PhraseBook,
    model: DataModel,
    vocabulary: NameVocabulary,
    nations: Mapping[str, Sequence[str]],
    lists: frozenset[tuple[str, str]],
) -> None:
    """Add what columns hold to the phrases that are known."""
    left = _MOST_VALUES
    by_nation = {phrase_of(name): said for name, said in nations.items()}
    # Lists of names come first: what a name of another column begins with may stand in them.
    ordered = sorted(vocabulary.items(), key=lambda held: (held[0][0], held[0][1][0]) not in lists)
    for (table, columns), rows in ordered:
        if not left:
            return
        told = model.tables[table].columns.get(columns[0])
        also = told.values if told is not None and len(columns) == 1 else {}
        is_kind = (told is not None and told.kind == "category") or len(rows) <= _FEW
        counted = Counter(word for row in rows for word in {*phrase_of(row[0])})
        windows = (w for row in rows for w in {*_windows(phrases, phrase_of(row[0]))})
        are_few = len(columns) == 1 and len(rows) <= _VERY_FEW
        together = Counter(windows) if are_few else Counter()
        whole = len(columns) == 1 and len(rows) <= _MOST_BEGINNINGS
        begun = Counter(b for row in rows for b in _beginnings(phrase_of(row[0]))) if whole else {}
        for row in rows[:left]:
            value = Value(table, columns, row)
            texts = [" ".join(row), *also.get(row[0], ())]
            if len(columns) == 1:
                texts += by_nation.get(phrase_of(texts[0]), ())
            _add_texts(phrases, value, texts, is_kind=is_kind)
            if (table, columns[0]) in lists:
                _add_listed(phrases, value)
            for said in _beginnings(phrase_of(row[0])) if whole else ():
                if begun[said] == 1 and _is_telling(phrases, said, lists):
                    phrases.add_value(said, value._replace(part=phrases.of(said) is None))
            if len(columns) == 1:
                telling = value._replace(part=True, kind=are_few)
                _add_telling_words(phrases, telling, counted, is_kind=is_kind)
                for said in _windows(phrases, phrase_of(row[0])) if are_few else ():
                    if together[said] == 1 and phrases.of(said) is None:
                        _add_texts(phrases, telling, [" ".join(said)], is_kind=True)
            elif len(columns) == _FULL_NAME:
                _add_last_name(phrases, value)
        left = max(0, left - len(rows))


def _add_texts(phrases: PhraseBook, value: Value, texts: Sequence[str], *, is_kind: bool) -> None:
    for said in map(phrase_of, texts):
        if not said or len(said) > LONGEST:
            continue
        forms = {said}
        if is_kind and said[-1].isalpha() and len(value.columns) == 1:
            forms |= {(*said[:-1], form) for form in inflections(said[-1])}
        for form in forms:
            phrases.add_value(form, value)


def _add_listed(phrases: PhraseBook, value: Value) -> None:
    """Each of the values that one text holds."""
    parts = value.values[0].split(",")
    for part in parts if len(parts) > 1 else ():
        said = phrase_of(part)
        if said and len(said) <= LONGEST:
            phrases.add_value(said, value._replace(values=(part.strip(),)))


def _add_telling_words(
    phrases: PhraseBook, value: Value, counted: Mapping[str, int], *, is_kind: bool
) -> None:
    """A word that only one name has stands for it, where it means nothing else."""
    words = phrase_of(value.values[0])
    for word in words if len(words) > 1 else ():
        if counted[word] == 1 and len(word) >= _TELLING:
            for form in _forms(word, is_kind=is_kind):
                known = phrases.of(form)
                if known is None or known.values:
                    phrases.add_value(form, value)


def _beginnings(words: Phrase) -> Iterator[Phrase]:
    """What people say of a long name: its first words, two at the least."""
    for size in range(_LEAST_TOGETHER, min(len(words), LONGEST)):
        yield words[:size]


def _is_telling(phrases: PhraseBook, words: Phrase, lists: frozenset[tuple[str, str]]) -> bool:
    """Whether the words are no phrase of their own, and two of them are no words of questions.

    What stands in lists of names elsewhere may be what a name begins with too.
    """
    known = phrases.of(words)
    if known is not None and (known.tags or (known.is_of_data and not known.values)):
        return False
    if known is not None and any((v.table, v.columns[0]) not in lists for v in known.values):
        return False
    telling = [(known := phrases.of((word,))) is None or not known.tags for word in words]
    return sum(telling) >= _LEAST_TOGETHER


def _windows(phrases: PhraseBook, words: Phrase) -> Iterator[Phrase]:
    """Words that stand together in a name: video files, of protected video files."""
    small = [(known := phrases.of((word,))) is not None and bool(known.tags) for word in words]
    for size in range(_LEAST_TOGETHER, len(words)):
        for start in range(len(words) - size + 1):
            if not any(small[start : start + size]):
                yield words[start : start + size]


def _forms(word: str, *, is_kind: bool) -> Iterator[Phrase]:
    for form in inflections(word) if is_kind else (word,):
        yield (form,)


def _add_last_name(phrases: PhraseBook, value: Value) -> None:
    last = phrase_of(value.values[-1])
    if len(last) == 1 and len(last[0]) >= _TELLING_NAME:
        phrases.add_value(last, value._replace(part=True))
