"""What names of tables and columns mean: `words.yaml`, read once."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from server.authoring.naming import words
from server.authoring.phrases import phrases, singular
from server.text.language import load_language


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Telling(_Part):
    """Words of a name that tell what a column holds: one of `words`, or all of a pair."""

    words: frozenset[str]
    pairs: tuple[tuple[str, ...], ...]

    def told_by(self, name: str) -> bool:
        spoken = name.split(" ")
        if self.words & {*spoken}:
            return True
        return any(_run_in(pair, spoken) for pair in self.pairs)


class MeasureWords(_Part):
    words: frozenset[str]
    sum: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    """What people do with it: how much did we spend."""
    done: tuple[str, ...] = ()


class Superlatives(_Part):
    words: frozenset[str]
    most: tuple[str, ...]
    least: tuple[str, ...]


class Compared(_Part):
    """How a number is said to be more or less than another, without its name."""

    words: frozenset[str]
    more: tuple[str, ...]
    less: tuple[str, ...]
    same: tuple[str, ...] = ()
    unit: str = ""
    of: frozenset[str] = frozenset()
    """Only of such things, where there are any."""

    def telling(self, general: Mapping[str, tuple[str, ...]]) -> list[str]:
        """The words of it that tell which number is meant: longer, of longer than."""
        hollow = {word for said in general.values() for one in said for word in one.split(" ")}
        hollow |= load_language("en").function_words
        said = (*self.more, *self.less, *self.same)
        return [*dict.fromkeys(w for one in said for w in one.split(" ") if w not in hollow)]


class LeadsTo(_Part):
    words: frozenset[str]
    says: tuple[str, ...]


class ColumnWords(_Part):
    """The lists of `words.yaml`, whose comments say what each is for."""

    table_fillers: frozenset[str]
    abbreviations: Mapping[str, str]
    secret: Telling
    contact: Telling
    upkeep: frozenset[str]
    identifiers: frozenset[str]
    names: tuple[str, ...]
    first_names: frozenset[str]
    last_names: frozenset[str]
    main_dates: tuple[str, ...]
    levels: frozenset[str]
    additive: frozenset[str]
    quantities: frozenset[str]
    prices: tuple[str, ...]
    discounts: frozenset[str]
    least_stocks: frozenset[str]
    yes_values: tuple[str, ...]
    no_values: tuple[str, ...]
    flag_words: frozenset[str]
    also_called: Mapping[str, tuple[str, ...]]
    nouns: tuple[tuple[str, ...], ...]
    measures: tuple[MeasureWords, ...]
    superlatives: tuple[Superlatives, ...]
    comparison_words: Mapping[str, tuple[str, ...]]
    group_leads: tuple[str, ...]
    which_leads: tuple[str, ...]
    figures: Mapping[str, tuple[str, ...]]
    which: Mapping[str, tuple[str, ...]]
    newest: Mapping[str, tuple[str, ...]]
    comparisons: tuple[Compared, ...]
    value_leads: tuple[LeadsTo, ...]
    days_done: Mapping[str, str]
    titles: Mapping[str, str]
    money_first: tuple[str, ...]
    leads: tuple[LeadsTo, ...]
    places: frozenset[str]
    told_of_others: frozenset[str]
    living: tuple[str, ...]
    kinds: frozenset[str]
    payers: frozenset[str]
    done_with: Mapping[str, str]
    acts: Mapping[str, tuple[str, ...]]
    joining: tuple[str, ...]
    each_time: Mapping[str, tuple[str, ...]]
    fields: Mapping[str, tuple[str, ...]]
    parts_of_names: tuple[str, ...]
    any_lead: tuple[str, ...]
    doings: Mapping[str, str]
    frames: Mapping[str, tuple[str, ...]]
    questions: Mapping[str, tuple[str, ...]]
    times: tuple[str, ...]

    def plain(self, name: str) -> str:
        """A name as words, short forms written out: `first name` for fname."""
        return " ".join(self.abbreviations.get(word, word) for word in words(name).split(" "))

    def noun_of_table(self, name: str) -> str:
        """What one row of a table is called, by the table's name."""
        spoken = self.plain(name.rpartition(".")[2]).split(" ")
        kept = [word for word in spoken if word not in self.table_fillers] or spoken
        return singular(" ".join(kept))

    def is_secret(self, column: str) -> bool:
        return self.secret.told_by(self.plain(column))

    def is_contact(self, column: str) -> bool:
        return self.contact.told_by(self.plain(column))

    def is_identifier(self, column: str) -> bool:
        return self.plain(column).split(" ")[-1] in self.identifiers

    def synonyms(self, noun: str) -> tuple[str, ...]:
        """Other words for a thing."""
        both = (other for group in self.nouns if noun in group for other in group)
        found = dict.fromkeys((*both, *self.also_called.get(noun, ())))
        return tuple(other for other in found if other != noun)

    def lead_to(self, noun: str) -> tuple[str, ...]:
        """How the name of such a thing is said after others: `by {value}`."""
        own = {*noun.split(" ")}
        return next((each.says for each in self.leads if each.words & own), self.any_lead)

    def said_of_values(self, label: str) -> tuple[str, ...]:
        """How values of a column are said after what has them: `through the {value}`."""
        own = {*label.split(" ")}
        return next((each.says for each in self.value_leads if each.words & own), ())

    def compared(self, label: str, noun: str = "") -> Compared | None:
        own, of = {*label.split(" ")}, {*noun.split(" ")}
        return next(
            (c for c in self.comparisons if c.words & own and (not c.of or c.of & of)), None
        )

    def done_on(self, label: str) -> str:
        """What is done on a day, by what that is called: delivered, of delivered on."""
        irregular = phrases().grammar.irregular_participles.values()
        for word in label.split(" "):
            if word in self.days_done:
                return self.days_done[word]
            if word.endswith("ed") or word in irregular:
                return word
        return ""


@cache
def words_of_columns() -> ColumnWords:
    text = (files("server.authoring.databases") / "words.yaml").read_text(encoding="utf-8")
    data: Any = yaml.safe_load(text)
    return ColumnWords.model_validate(data)


def _run_in(run: tuple[str, ...], spoken: list[str]) -> bool:
    return any(tuple(spoken[at : at + len(run)]) == run for at in range(len(spoken)))
