"""The phrases by which a data model, its values and a language are asked."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from server.core.data_values import NameVocabulary
from server.extraction.data_questions.columns import all_columns, columns_of_years, spoken_words
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.meanings import Column, Columns, Degree, End, Meanings
from server.extraction.data_questions.phrases import (
    PhraseBook,
    VerbForms,
    add_column,
    add_once,
    forms_of,
    phrase_of,
)
from server.extraction.data_questions.vocabulary import add_values, columns_of_lists
from server.library.data_model import DataColumn, DataModel
from server.text.language import DataWords, RowDegree, load_language

_ONLY_A_WORD: Final = 50
"""So much worse a name is that has a word of what was said, than what was said itself."""
_MEASURED: Final = frozenset({"number", "money", "date"})
_TAGS: Final = (
    "frames", "joins", "counts", "totals", "averages", "money", "money_done", "units", "selling",
    "most", "least", "tops", "each", "by", "months", "years", "days", "nots", "without", "more",
    "exactly", "less", "at_least", "at_most", "or_more", "or_less", "between", "contains",
    "begins", "ends", "different", "who", "when", "last", "wages", "costs", "month", "year", "day",
    "zero", "shares", "commonest", "reduced", "comes_to", "running", "overdue", "late", "on_time",
    "everything", "discounted", "acquired", "each_of_them", "about", "after", "before", "lasting",
    "measured", "recent", "first", "times", "descending", "ascending", "alphabetical", "compare",
    "sorts", "addresses", "on_top", "quarter", "quarters", "weekday", "weekdays", "calendar_month",
    "calendar_months",
)  # fmt: skip
"""The lists of the language whose phrases do something in a question."""
_VERBS: Final = frozenset({"joins", "money_done", "wages", "costs"})
"""Those of them that are verbs, each of which stands for all of its forms."""


class DataLexicon:
    """The phrases by which a data model, its values and a language are asked."""

    def __init__(self, model: DataModel, vocabulary: NameVocabulary, code: str = "en") -> None:
        language = load_language(code)
        self.model = model
        self.words = language.data
        """The words of the language."""
        self.lists = columns_of_lists(model, vocabulary)
        """Columns whose texts hold several values, with commas between."""
        self.years = columns_of_years(model, self.words.calendar_years)
        """The columns that are years, as numbers or as texts."""
        self.births = tuple(
            column
            for column, told in all_columns(model)
            if told.kind == "date" and not self.words.births.isdisjoint(spoken_words(told))
        )
        """The columns that are days of birth."""
        self.sale = _sale(model)
        """What one sale is, where the model tells it."""
        self._phrases = PhraseBook()
        self._add_tables()
        self._verbs = VerbForms(self.words, self._phrases.named())
        for tag in _TAGS:
            for phrase in getattr(self.words, tag):
                forms = (
                    self._verbs.of(phrase, bare=False) if tag in _VERBS else (phrase_of(phrase),)
                )
                for form in forms:
                    self._phrases.add(form).tags.add(tag)
        self._add_done(self.words.done)
        self._add_dates(self.words)
        self._add_endings(self.words)
        self._add_roles(self.words.roles)
        for degree in language.rows.degrees:
            self._add_degree(degree, self.words.adjectives)
        self._add_agents(self.words.agents)
        self._add_staff(self.words.staff)
        self._add_payers(self.words.payers)
        self._add_named_by_verbs(self.words)
        add_values(self._phrases, model, vocabulary, self.words.nations, self.lists)

    def at(self, words: Sequence[str], index: int) -> tuple[int, Meanings] | None:
        """The longest phrase there, as the number of its words, and what it may mean."""
        return self._phrases.at(words, index)

    def of(self, words: Sequence[str]) -> Meanings | None:
        """What a phrase may mean; None where it is not known."""
        return self._phrases.of(words)

    def _add_tables(self) -> None:
        for name, table in self.model.tables.items():
            for called in table.called:
                self._add_noun(called, Need(self._behind(name, called)))
            for link in table.links:
                for called in link.called:
                    self._add_role(called, Need(link.table, name, link.columns[0]))
            for column, told in table.columns.items():
                for rank, called in enumerate(told.called):
                    self._add_column(Column(name, column, rank), called, told)

    def _behind(self, name: str, called: str) -> str:
        """What a pair of two is a pair of, where it is called so: film categories."""
        if name not in self.model.bridges:
            return name
        last = called.rpartition(" ")[2]
        linked = (link.table for link in self.model.tables[name].links)
        return next((other for other in linked if last in self.model.tables[other].called), name)

    def _add_noun(self, called: str, noun: Need) -> None:
        for phrase, plural in forms_of(called):
            meanings = self._phrases.add(phrase)
            add_once(meanings.nouns, noun)
            meanings.plural |= plural

    def _add_role(self, called: str, noun: Need) -> None:
        for phrase, plural in forms_of(called):
            meanings = self._phrases.add(phrase)
            add_once(meanings.roles, noun)
            meanings.plural |= plural

    def _add_column(self, column: Column, called: str, told: DataColumn) -> None:
        fixed = called.split(" ")[0] in self.words.held  # on order
        for phrase, _ in [(phrase_of(called), False)] if fixed else forms_of(called):
            add_column(self._phrases.add(phrase).columns, column)
        if told.kind == "flag":
            glued = [f"{prefix}{called}" for prefix in self.words.flag_prefixes]
            for said in (*glued, *(f"{lead} {called}" for lead in self.words.flag_leads)):
                meanings = self._phrases.add(phrase_of(said))
                meanings.tags.add("flag_not")
                add_column(meanings.columns, column)

    def _tables_called(self, things: Iterable[str]) -> list[str]:
        wanted = {phrase for thing in things for phrase, _ in forms_of(thing)}
        return [
            name
            for name, table in self.model.tables.items()
            if any(phrase_of(called) in wanted for called in table.called)
        ]

    def _add_done(self, done: Mapping[str, Sequence[str]]) -> None:
        """What people do, by the things that come of it, and by what the model says of them."""
        for verb, things in done.items():
            for table in self._tables_called(things):
                self._add_deed(verb, table)
        for name, told in self.model.tables.items():
            for verb in told.done:
                self._add_deed(verb, name)

    def _add_deed(self, verb: str, table: str) -> None:
        listed, *others = self._verbs.of(verb)
        add_once(self._phrases.add(listed).done, table)
        for form in others:
            meanings = self._phrases.add(form)
            if "money_done" not in meanings.tags:  # what somebody pays is a sum
                add_once(meanings.done, table)

    def _add_dates(self, words: DataWords) -> None:
        for column, told in all_columns(self.model):
            spoken = spoken_words(told)
            if told.kind != "date" and column not in self.years:
                continue
            for word in words.dates.keys() & spoken:
                for verb in {word, *words.dates[word]} - words.dateless:
                    listed, *others = self._verbs.of(verb)
                    add_column(self._phrases.add(listed).dates, column)
                    for form in others:
                        meanings = self._phrases.add(form)
                        if form[0] not in words.dateless and "money_done" not in meanings.tags:
                            add_column(meanings.dates, column)
                    if told.kind == "date":
                        whole = phrase_of(f"{verb} {words.date_noun}")
                        add_column(self._phrases.add(whole).columns, column)

        for column in self.births:
            for said in words.birthdays:
                meanings = self._phrases.add(phrase_of(said))
                add_column(meanings.columns, column)
                add_column(meanings.dates, column)

    def _add_endings(self, words: DataWords) -> None:
        """What has not happened yet, and what lasts until it happens."""
        for column, told in all_columns(self.model):
            spoken = spoken_words(told)
            is_own = column.column == self.model.tables[column.table].date
            ends = told.kind in ("date", "flag") and not is_own
            for word in words.pending.keys() & spoken if ends else ():
                staff = not self.model.tables[column.table].pays
                for phrase in words.pending[word]:
                    if not staff and not words.working.isdisjoint(phrase.split(" ")):
                        continue  # customers do not work here
                    for form in self._verbs.of(phrase):
                        add_column(self._phrases.add(form).pending, column)
            for word in words.kept.keys() & spoken if told.kind == "date" else ():
                for phrase in words.kept[word]:
                    for form in self._verbs.of(phrase):
                        add_column(self._phrases.add(form).kept, column)

    def _add_roles(self, roles: Mapping[str, Sequence[str]]) -> None:
        """What people are called by whom they have to do with."""
        for name, table in self.model.tables.items():
            for link in table.links:
                other = self.model.tables[link.table]
                called = {*link.called, *other.called[:1]}
                told = {word for one in called for word in (one, *one.split(" "))}
                if link.table == name:
                    told -= self.words.colleagues
                for role in [role for role in roles if role in told]:
                    for word in roles[role]:
                        if role in other.called:
                            self._add_noun(word, Need(link.table))
                            continue
                        for form in self._verbs.of(word):
                            self._add_role(" ".join(form), Need(link.table, name, link.columns[0]))

    def _add_degree(self, degree: RowDegree, adjectives: Mapping[str, str]) -> None:
        """How something is, by the ends of what a column holds: the longest, longer than, long."""
        columns = self._columns_of(degree.fields)
        if not columns:
            return
        ends: tuple[tuple[End, Sequence[str], Sequence[str]], ...] = (
            ("most", degree.most, degree.more),
            ("least", degree.least, degree.less),
        )
        for end, superlatives, _ in ends:
            for written in superlatives:
                said, meant = phrase_of(written), self._aged(written, columns)
                for phrase in (said, *((lead, *said) for lead in self.words.end_leads)):
                    if meant:
                        self._phrases.add(phrase).degrees.append(Degree(end, meant))
        for end, _, comparatives in ends:
            for written in comparatives:
                said, meant = phrase_of(written), self._aged(written, columns)
                for than in self.words.than:
                    meanings = self._phrases.add((*said, than))
                    meanings.tags.add("more" if end == "most" else "less")
                    if meant:
                        meanings.degrees.append(Degree(end, meant, compares=True))
        for adjective, superlative in adjectives.items():
            if superlative in degree.most:
                meanings = self._phrases.add((adjective,))
                meanings.tags.add("adjective")
                meanings.degrees.append(Degree("most", columns))

    def _aged(self, said: str, columns: Columns) -> Columns:
        """The columns that a degree may be about: of people, only the day of their birth is age."""
        if said not in self.words.ages:
            return columns
        return tuple(
            column
            for column in columns
            if not self.model.tables[column.table].people
            or self.model.tables[column.table].columns[column.column].kind != "date"
            or column._replace(rank=0) in self.births
        )

    def _columns_of(self, fields: Iterable[str]) -> Columns:
        found: list[Column] = []
        for rank, said in enumerate(fields):
            for column, told in all_columns(self.model):
                if told.kind in _MEASURED or (column in self.years and said == "year"):
                    if said in told.called:
                        found.append(column._replace(rank=rank))
                    elif said in spoken_words(told) and not (
                        told.unit and said in self.words.texts_of_days
                    ):
                        found.append(column._replace(rank=rank + _ONLY_A_WORD))
        return tuple(found)

    def _add_agents(self, agents: Mapping[str, Sequence[str]]) -> None:
        for called, verbs in agents.items():
            for table in self._tables_called([called]):
                for form in (form for verb in verbs for form in self._verbs.of(verb)):
                    add_once(self._phrases.add(form).agents, Need(table))

    def _add_staff(self, staff: Sequence[str]) -> None:
        """Those who work here, as one calls them who does too: our people, the team."""
        for table in self._tables_called(staff):
            if not self.model.tables[table].pays:
                for called in staff:
                    meanings = self._phrases.add(phrase_of(called))
                    # A team is several; one of them is listed with its plural.
                    meanings.plural |= not meanings.nouns and f"{called}s" not in staff
                    add_once(meanings.nouns, Need(table))

    def _add_payers(self, payers: Sequence[str]) -> None:
        """Those who pay, as one calls them who works here, where they are but one table."""
        paying = [name for name, table in self.model.tables.items() if table.pays]
        for called in payers if len(paying) == 1 else ():
            for phrase, plural in forms_of(called):
                meanings = self._phrases.add(phrase)
                if not meanings.is_of_data:
                    meanings.nouns.append(Need(paying[0]))
                    meanings.plural = plural

    def _add_named_by_verbs(self, words: DataWords) -> None:
        """Columns that a verb names: who wrote it, how much it weighs."""
        for column, told in all_columns(self.model):
            for word in spoken_words(told) & words.authors.keys():
                for form in (form for verb in words.authors[word] for form in self._verbs.of(verb)):
                    add_column(self._phrases.add(form).columns, column)
        for column, told in all_columns(self.model):
            if not spoken_words(told).isdisjoint(words.weight_names):
                for verb in words.weights:
                    add_column(self._phrases.add(phrase_of(verb)).columns, column)


def _sale(model: DataModel) -> Need | None:
    """The table of what is paid for on some day."""
    for measure in model.measures:
        if measure.kind == "money":
            table = model.tables[measure.table]
            near = [measure.table, *(link.table for link in table.links)]
            dated = (name for name in near if model.tables[name].date)
            found = next((name for name in dated if not model.tables[name].people), None)
            if found is not None:
                return Need(found)
    return None
