"""What the phrases of a question may mean: tables, columns, values, and the words of a language."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeVar

from server.core.data_values import NameVocabulary
from server.library.data_model import DataColumn, DataModel
from server.text.language import load_language
from server.text.stems import inflections, singular, without_accents
from server.text.tokens import split_words

_LONGEST: Final = 12
_MOST_VALUES: Final = 200_000


class Noun(NamedTuple):
    """A table, perhaps as what a link leads to: the manager, of an employee."""

    table: str
    owner: str = ""
    step: str = ""


class Column(NamedTuple):
    table: str
    column: str
    rank: int = 0
    """How good a name of it was said; 0 is the best."""


class Value(NamedTuple):
    """What columns of a table hold together: a title, or a first and a last name."""

    table: str
    columns: tuple[str, ...]
    values: tuple[str, ...]
    part: bool = False
    """Whether only a part of the name was said."""


class Degree(NamedTuple):
    """One end of what a column holds, or a comparison of it: longest, cheaper than."""

    end: Literal["most", "least"]
    columns: tuple[Column, ...]
    compares: bool = False


@dataclass(slots=True)
class Meanings:
    """All that one phrase may mean."""

    nouns: list[Noun] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    degrees: list[Degree] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    """Tables of which a row comes to be when this is done."""
    dates: list[Column] = field(default_factory=list)
    """The columns of the day on which this was done."""
    roles: list[Noun] = field(default_factory=list)
    agents: list[Noun] = field(default_factory=list)
    """Those who do this."""
    tags: set[str] = field(default_factory=set)
    plural: bool = False

    @property
    def names_data(self) -> bool:
        return bool(self.nouns or self.columns or self.values)


Phrase = tuple[str, ...]


def phrase_of(text: str) -> Phrase:
    """The words of a text as they are compared: no signs, no accents, no capitals."""
    return tuple(without_accents(word) for word in split_words(text) if any(map(str.isalnum, word)))


class DataLexicon:
    """The phrases by which a data model, its values and a language are asked."""

    def __init__(self, model: DataModel, vocabulary: NameVocabulary, code: str = "en") -> None:
        self.model = model
        self._phrases: dict[Phrase, Meanings] = {}
        self.longest = 1
        language = load_language(code)
        words = language.data
        for tag in _TAGS:
            for phrase in getattr(words, tag):
                self._at(phrase_of(phrase)).tags.add(tag)
        self._add_tables()
        for verb, things in words.done.items():
            tables = self._tables_called(things)
            for table in tables:
                self._add_done(verb, table)
        for name, table_ in model.tables.items():
            for verb in table_.done:
                self._add_done(verb, name)
        self._add_dates(words.dates)
        self._add_roles(words.roles)
        self._add_degrees(words.adjectives)
        for called, verbs in words.agents.items():
            for table in self._tables_called([called]):
                for verb in verbs:
                    _once(self._at(phrase_of(verb)).agents, Noun(table))
        self._add_authors(words.authors)
        for name, table_ in model.tables.items():
            for column, told in table_.columns.items():
                if any("weight" in called.split(" ") for called in told.called):
                    for verb in words.weights:
                        _once_by(self._at(phrase_of(verb)).columns, Column(name, column))
        self.lists: set[tuple[str, str]] = set()
        """Columns whose texts hold several values, with commas between."""
        self._add_values(vocabulary, words.nations)

    def at(self, words: Sequence[str], index: int) -> tuple[int, Meanings] | None:
        """The longest phrase there, and what it may mean."""
        for size in range(min(self.longest, len(words) - index), 0, -1):
            found = self._phrases.get(tuple(words[index : index + size]))
            if found is not None:
                return size, found
        return None

    def of(self, words: Sequence[str]) -> Meanings | None:
        return self._phrases.get(tuple(words))

    def _at(self, phrase: Phrase) -> Meanings:
        self.longest = max(self.longest, min(len(phrase), _LONGEST))
        return self._phrases.setdefault(phrase, Meanings())

    def _forms(self, text: str) -> Iterable[tuple[Phrase, bool]]:
        """A noun as it is said, in the singular and in the plural."""
        phrase = phrase_of(text)
        if not phrase:
            return
        for form in inflections(phrase[-1]):
            yield (*phrase[:-1], form), singular(form) != form

    def _add_tables(self) -> None:
        for name, table in self.model.tables.items():
            for called in table.called:
                for phrase, plural in self._forms(called):
                    meanings = self._at(phrase)
                    _once(meanings.nouns, Noun(name))
                    meanings.plural |= plural
            for link in table.links:
                for called in link.called:
                    for phrase, plural in self._forms(called):
                        meanings = self._at(phrase)
                        _once(meanings.roles, Noun(link.table, name, link.columns[0]))
                        meanings.plural |= plural
            for column, told in table.columns.items():
                for rank, called in enumerate(told.called):
                    self._add_column(Column(name, column, rank), called, told)

    def _add_column(self, column: Column, called: str, told: DataColumn) -> None:
        for phrase, _ in self._forms(called):
            _once_by(self._at(phrase).columns, column)
        if told.kind == "flag":
            for un in ("in", "un", "non "):
                meanings = self._at(phrase_of(f"{un}{called}"))
                meanings.tags.add("flag_not")
                _once_by(meanings.columns, column)

    def _tables_called(self, things: Iterable[str]) -> list[str]:
        wanted = {phrase for thing in things for phrase, _ in self._forms(thing)}
        return [
            name
            for name, table in self.model.tables.items()
            if any(phrase_of(called) in wanted for called in table.called)
        ]

    def _add_done(self, verb: str, table: str) -> None:
        _once(self._at(phrase_of(verb)).done, table)

    def _add_dates(self, dates: Mapping[str, Sequence[str]]) -> None:
        for name, table in self.model.tables.items():
            for column, told in table.columns.items():
                spoken = {word for called in told.called for word in called.split(" ")}
                is_year = told.kind == "number" and "year" in spoken
                if told.kind != "date" and not is_year:
                    continue
                for word, verbs in dates.items():
                    if word in spoken:
                        for verb in (word, *verbs):
                            if verb != "order":
                                _once_by(self._at(phrase_of(verb)).dates, Column(name, column))

    def _add_authors(self, authors: Mapping[str, Sequence[str]]) -> None:
        for name, table in self.model.tables.items():
            for column, told in table.columns.items():
                spoken = {word for called in told.called for word in called.split(" ")}
                for word in spoken & authors.keys():
                    for verb in authors[word]:
                        _once_by(self._at(phrase_of(verb)).columns, Column(name, column))

    def _add_roles(self, roles: Mapping[str, Sequence[str]]) -> None:
        for name, table in self.model.tables.items():
            for link in table.links:
                called = {*link.called, *self.model.tables[link.table].called[:1]}
                told = {word for one in called for word in (one, *one.split(" "))}
                for role, words in roles.items():
                    if role not in told or (role == "employee" and link.table == name):
                        continue
                    is_own = role in self.model.tables[link.table].called
                    noun = Noun(link.table) if is_own else Noun(link.table, name, link.columns[0])
                    for word in words:
                        for phrase, plural in self._forms(word):
                            meanings = self._at(phrase)
                            _once(meanings.nouns if is_own else meanings.roles, noun)
                            meanings.plural |= plural

    def _add_degrees(self, adjectives: Mapping[str, str]) -> None:
        for degree in load_language("en").rows.degrees:
            columns = tuple(self._columns_of(degree.fields))
            if not columns:
                continue
            for end, said in (("most", degree.most), ("least", degree.least)):
                for phrase in said:
                    for words in (phrase_of(phrase), ("the", *phrase_of(phrase))):
                        at = self._at(words)
                        at.degrees.append(Degree(end, columns))  # type: ignore[arg-type]
            for end, said in (("most", degree.more), ("least", degree.less)):
                for phrase in said:
                    at = self._at((*phrase_of(phrase), "than"))
                    at.tags.add("more" if end == "most" else "less")
                    at.degrees.append(Degree(end, columns, compares=True))  # type: ignore[arg-type]
            for adjective, superlative in adjectives.items():
                if superlative in degree.most:
                    at = self._at((adjective,))
                    at.tags.add("adjective")
                    at.degrees.append(Degree("most", columns))

    def _columns_of(self, fields: Iterable[str]) -> Iterable[Column]:
        for rank, said in enumerate(fields):
            for name, table in self.model.tables.items():
                for column, told in table.columns.items():
                    if told.kind not in ("number", "money", "date"):
                        continue
                    exact = said in told.called
                    words = {word for called in told.called for word in called.split(" ")}
                    if exact or said in words:
                        yield Column(name, column, rank if exact else rank + 50)

    def _add_values(self, vocabulary: NameVocabulary, nations: Mapping[str, Sequence[str]]) -> None:
        by_nation = {phrase_of(name): said for name, said in nations.items()}
        count = 0
        for (table, columns), rows in vocabulary.items():
            told = self.model.tables[table].columns.get(columns[0])
            also = told.values if told is not None and len(columns) == 1 else {}
            is_kind = told is not None and told.kind == "category"
            is_kind = is_kind or len(rows) <= _FEW
            own = self.model.tables[table].name
            if len(columns) == 1 and columns != tuple(own):
                many = sum("," in row[0] for row in rows)
                if many * _OFTEN > len(rows):
                    self.lists.add((table, columns[0]))
            unique = Counter(w for row in rows for w in {*phrase_of(row[0])})
            for row in rows:
                count += 1
                if count > _MOST_VALUES:
                    return
                value = Value(table, columns, row)
                texts = [" ".join(row), *also.get(row[0], ())]
                phrase = phrase_of(texts[0])
                if len(columns) == 1 and phrase in by_nation:
                    texts += by_nation[phrase]
                for text in texts:
                    said = phrase_of(text)
                    if not said or len(said) > _LONGEST:
                        continue
                    forms = {said}
                    if is_kind and said[-1].isalpha() and len(columns) == 1:
                        forms |= {(*said[:-1], form) for form in inflections(said[-1])}
                    for form in forms:
                        _once(self._at(form).values, value)
                if (table, columns[0]) in self.lists and "," in row[0]:
                    for part in row[0].split(","):
                        said = phrase_of(part)
                        if said and len(said) <= _LONGEST:
                            one = Value(table, columns, (part.strip(),))
                            _once(self._at(said).values, one)
                words = phrase_of(row[0]) if len(columns) == 1 else ()
                for word in words if len(words) > 1 else ():
                    if unique[word] == 1 and len(word) >= _TELLING:
                        for form in inflections(word) if is_kind else (word,):
                            if (form,) not in self._phrases or self._phrases[form,].values:
                                _once(self._at((form,)).values, value._replace(part=True))
                if len(columns) == 2:
                    last = phrase_of(row[-1])
                    if len(last) == 1 and len(last[0]) > 2:
                        _once(self._at(last).values, value._replace(part=True))


_TELLING: Final = 5
"""So many letters of a word that stands for a name of several, and is in no other."""
_OFTEN: Final = 8
_FEW: Final = 60
_TAGS: Final = (
    "frames", "joins", "counts", "totals", "averages", "money", "money_done", "units", "selling",
    "most", "least", "tops", "each", "by", "months", "years", "days", "nots", "without", "more",
    "less", "at_least", "at_most", "or_more", "or_less", "between", "contains", "different", "who",
    "when", "last", "wages", "costs", "month", "year", "day", "zero", "measured", "recent", "first", "descending", "ascending", "alphabetical", "compare",
)  # fmt: skip


_T = TypeVar("_T")


def _once(found: list[_T], one: _T) -> None:
    if one not in found:
        found.append(one)


def _once_by(found: list[Column], one: Column) -> None:
    """Keep the better name of a column."""
    for at, other in enumerate(found):
        if other[:2] == one[:2]:
            if one.rank < other.rank:
                found[at] = one
            return
    found.append(one)
