"""What tables and columns are in words: things with names, amounts, days and references."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from server.authoring.clauses import is_quality
from server.authoring.databases.survey import Survey, SurveyedColumn, SurveyedTable
from server.authoring.databases.words import words_of_columns
from server.authoring.phrases import phrases, plural, singular

Role = Literal["key", "reference", "name", "category", "level", "measure", "flag", "date", "text",
               "contact", "upkeep"]  # fmt: skip

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}.*)?")
_MOST_CATEGORIES: Final = 60
"""Most values of a column by which rows are told apart in kinds."""
_MOST_LOOKED_UP: Final = 60
"""Most rows of a table whose names are kinds of what refers to it."""
_SHORTEST_WORD: Final = 4
"""Fewest letters of a name that says something by itself."""
_FEWEST_LISTED: Final = 3
"""Fewest parts of a comment that are a list of values."""
_FAR: Final = 3
"""How many references away a thing may be by which rows are counted."""


@dataclass(frozen=True, slots=True)
class Property:
    """A column of a thing. `label` is what people call it."""

    column: SurveyedColumn
    role: Role
    label: str
    yes: Any = None
    """What a flag has where it is so."""
    no: Any = None

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def spoken(self) -> frozenset[str]:
        return frozenset(self.label.split(" "))


@dataclass(frozen=True, slots=True)
class Link:
    """What a thing refers to; `noun` says as what: the manager, of an employee."""

    columns: tuple[str, ...]
    thing: "Thing"
    referred: tuple[str, ...]
    noun: str
    through: "Joining | None" = None
    """What joins it with this one, where it is not referred to itself."""


@dataclass(frozen=True, slots=True)
class Joining:
    """A table between two things: what of it refers to the one, and to the other."""

    thing: "Thing"
    mine: Link
    theirs: Link


Path = tuple[Link, ...]


@dataclass(eq=False, slots=True)
class Thing:
    """A table: what one row is called, and what its columns are."""

    table: SurveyedTable
    noun: str
    properties: tuple[Property, ...] = ()
    names: tuple[str, ...] = ()
    """The columns that make its name: one, or a first and a last name."""
    links: list[Link] = field(default_factory=list)
    across: list[Link] = field(default_factory=list)
    """What has a name and is joined with it by a table between: the actors of a film."""
    also: tuple[str, ...] = ()
    """Other nouns for it."""
    stem: str = ""
    """What ids of its templates are made of."""
    is_referred_to: bool = False

    @property
    def nouns(self) -> str:
        return plural(self.noun)

    @property
    def one(self) -> str:
        """What one of them is called; another noun for what has no singular: staff."""
        if self.nouns != self.noun:
            return self.noun
        return next((other for other in self.also if plural(other) != other), self.noun)

    @property
    def newest_date(self) -> Property | None:
        """The day by which such things are new: when they were made, before what they are of."""
        made = {"created", "added", "registered", "joined", "placed", "ordered"}
        dates = [p for p in self.of_role("date") if not p.column.is_contact]
        return next((p for p in dates if made & p.spoken), self.main_date)

    @property
    def key(self) -> tuple[str, ...]:
        return self.table.primary_key

    @property
    def is_person(self) -> bool:
        return len(self.names) == 2 or bool({*self.noun.split(" ")} & phrases().people)

    @property
    def joins_two(self) -> bool:
        """Whether it is there only to join others: many to many."""
        referring = {column for link in self.links for column in link.columns}
        own = [p for p in self.properties if p.role not in ("upkeep", "key")]
        return (
            len(self.links) > 1
            and not self.names
            and (
                {*self.key} <= referring
                if self.key
                else not [p for p in own if p.name not in referring]
            )
        )

    @property
    def is_line(self) -> bool:
        """Whether it is but a part of another: it has no name and no day, or joins two."""
        bare = not self.names and self.main_date is None and not self.is_referred_to
        return self.joins_two or (bool(self.links) and bare)

    @property
    def is_numbered(self) -> bool:
        """Whether there are but a few, which have numbers and no names: stores."""
        key = self.of_column(self.key[0]) if len(self.key) == 1 else None
        whole = key is not None and key.column.column.kind == "integer"
        return whole and not self.names and self.table.rows <= _MOST_LOOKED_UP

    @property
    def is_small(self) -> bool:
        """Whether its names are kinds of what refers to it: genres, departments."""
        return bool(self.names) and self.table.rows <= _MOST_LOOKED_UP

    def of_role(self, *roles: Role) -> tuple[Property, ...]:
        return tuple(p for p in self.properties if p.role in roles)

    def of_column(self, name: str) -> Property | None:
        return next((p for p in self.properties if p.name == name), None)

    def name_samples(self) -> tuple[str, ...]:
        """Names of such things, as people write them."""
        rows = self.table.some_rows
        texts = [
            " ".join(str(row[name]) for name in self.names)
            for row in rows
            if all(row.get(name) for name in self.names)
        ]
        return tuple(dict.fromkeys(t for t in texts if _is_sayable(t))) if self.names else ()

    @property
    def main_date(self) -> Property | None:
        """The day that such things are of."""
        dates = [p for p in self.of_role("date") if not p.column.is_contact]
        for wanted in words_of_columns().main_dates:
            spoken = {*wanted.format(noun=self.noun).split(" ")}
            found = next((d for d in dates if spoken <= {*d.label.split(" ")}), None)
            found = found or next((d for d in dates if d.label == wanted), None)
            if found is not None:
                return found
        return dates[0] if dates else None


def things_of(survey: Survey) -> tuple[Thing, ...]:
    """Return the things of a database, with what they refer to."""
    known = words_of_columns()
    things: dict[str, Thing] = {}
    nouns: set[str] = set()
    whole = {known.noun_of_table(table.plain) for table in survey.tables.values()}
    for name, table in survey.tables.items():
        noun = _in_full(known.noun_of_table(table.plain), whole)
        if noun in nouns:
            noun = singular(table.plain)
        if noun in nouns:
            noun = singular(known.plain(name))
        nouns.add(noun)
        things[name] = Thing(table, noun, stem=plural(noun).replace(" ", "_"))
    for thing in things.values():
        short = (singular(thing.table.short),) if thing.table.short else ()
        thing.also = tuple(w for w in (*known.synonyms(thing.noun), *short) if w not in nouns)
        thing.names = _names(thing)
        thing.properties = tuple(_properties(thing))
    for name, thing in things.items():
        for key in survey.tables[name].foreign_keys:
            other = things[key.table]
            thing.links.append(Link(key.columns, other, key.referred, ""))
            other.is_referred_to = True
        named = [_with_noun(link, thing) for link in thing.links]
        thing.links[:] = sorted(named, key=lambda link: link.noun != link.thing.noun)
    for thing in things.values():
        if thing.joins_two:
            _join(thing)
    return tuple(things.values())


def _join(between: Thing) -> None:
    """Tell the things that a table joins of each other."""
    for mine in between.links:
        for theirs in between.links:
            if mine is theirs or mine.thing is theirs.thing or not theirs.thing.names:
                continue
            nouns = {link.noun for link in (*mine.thing.links, *mine.thing.across)}
            if theirs.noun not in nouns:
                joined = Joining(between, mine, theirs)
                link = Link(mine.referred, theirs.thing, theirs.referred, theirs.noun, joined)
                mine.thing.across.append(link)


def paths_from(thing: Thing, far: int = _FAR) -> Iterator[Path]:
    """The ways from a thing to what it refers to, nearest first; each noun is reached once."""
    seen = {thing.noun}
    edge: list[Path] = [()]
    for _ in range(far):
        longer: list[Path] = []
        for path in edge:
            start = path[-1].thing if path else thing
            for link in start.links:
                if link.noun in seen or (path and link.thing is thing):
                    continue
                seen.add(link.noun)
                longer.append((*path, link))
                if link.thing is not start:
                    yield (*path, link)
                else:
                    yield longer.pop()
        edge = longer


def _with_noun(link: Link, own: Thing) -> Link:
    """A link with what the other is to this one, by the name of the column."""
    known = words_of_columns()
    spoken = own.table.columns[link.columns[-1]].plain.split(" ")
    while len(spoken) > 1 and spoken[-1] in known.identifiers:
        spoken.pop()
    called = singular(" ".join(spoken))
    other = link.thing
    same = sum(each.thing is other for each in own.links) > 1
    alike = {*called.split(" ")} & {*other.noun.split(" ")}
    noun = other.noun
    if other is own or same:
        plain = f"parent {other.noun}" if other is own else other.noun
        noun = _ROLES.get(called, called if called != other.noun else plain)
    elif _is_short(called, other.noun):
        noun = other.noun
    elif not alike and called not in ("id", "") and called not in other.also:
        noun = called if called.isascii() and len(called) > 2 else other.noun
    return Link(link.columns, other, link.referred, noun)


def _in_full(noun: str, nouns: Collection[str]) -> str:
    """A noun of several words with those written out that are short for another table's."""
    spoken = noun.split(" ")
    if len(spoken) < 2:
        return noun
    return " ".join(next((n for n in nouns if _is_short(word, n)), word) for word in spoken)


def _is_short(word: str, noun: str) -> bool:
    """Whether a word is a noun with letters left out: supp of supplier, svc of service."""
    if " " in word + noun or len(word) < 3 or word[:1] != noun[:1] or len(word) >= len(noun):
        return False
    letters = iter(noun)
    return noun.startswith(word) or (
        not set(word[1:]) & set("aeiou") and all(letter in letters for letter in word)
    )


_ROLES: Final[Mapping[str, str]] = {
    "reports to": "manager",
    "report to": "manager",
    "boss": "manager",
}


def _names(thing: Thing) -> tuple[str, ...]:
    known = words_of_columns()
    columns = {column.plain: column for column in thing.table.columns.values()}
    first = next((c for label, c in columns.items() if label in known.first_names), None)
    last = next((c for label, c in columns.items() if label in known.last_names), None)
    if first is not None and last is not None:
        return first.name, last.name
    short = thing.noun.split(" ")[-1]
    looked_at = thing.table.looked_at
    for pattern in known.names:
        for noun in dict.fromkeys((thing.noun, short)):
            column = columns.get(pattern.format(noun=noun))
            if column is None or column.column.kind != "text" or column.is_contact:
                continue
            if not looked_at or column.distinct >= 0.6 * column.filled:
                return (column.name,)
    ends = next(
        (c for label, c in columns.items() if label.endswith(" name") and c.column.kind == "text"),
        None,
    )
    return (ends.name,) if ends is not None and not thing.table.foreign_keys else ()


def _properties(thing: Thing) -> Iterator[Property]:
    referring = {column for key in thing.table.foreign_keys for column in key.columns}
    known = words_of_columns()
    for column in thing.table.columns.values():
        label = _label(column, thing)
        plain = column.plain
        yes, no = _yes_no(column, label)
        role = _role(column, plain, label, thing, referring, is_flag=yes is not None)
        if role == "flag":
            label = " ".join(w for w in label.split(" ") if w not in known.flag_words) or label
        yield Property(column, role, label, yes, no)


def _label(column: SurveyedColumn, thing: Thing) -> str:
    """What a column is called, without the thing that it is of."""
    said = _said_of(column)
    if said:
        return _of_whole(said, thing)
    spoken = _bounds_in_full(column.plain, column, thing).split(" ")
    own = thing.noun.split(" ")
    for prefix in (own, own[-1:], own[:1]):
        if len(spoken) > len(prefix) and spoken[: len(prefix)] == prefix:
            rest = spoken[len(prefix) :]
            return " ".join(rest)
    return " ".join(spoken)


def _said_of(column: SurveyedColumn) -> str:
    """What a column is called by its comment: short, no list of values, and more than its name.

    That is the name with a word before it, weekly rent of rent, or of one that says nothing.
    """
    comment = column.column.comment.strip().lower()
    parts = [part.strip() for part in re.split(r"[,;(|/]", comment)]
    values = {str(value).lower() for value in column.samples}
    is_list = len(parts) >= _FEWEST_LISTED or parts[0] in values
    spoken = parts[0].split(" ")
    own = column.plain.split(" ")
    says_nothing = all(len(w) < _SHORTEST_WORD or not set(w) & set("aeiou") for w in own)
    if is_list or len(spoken) > 3 or not (spoken[-1] == own[-1] or says_nothing):
        return ""
    return parts[0] if re.fullmatch(r"[a-z -]+", parts[0]) else ""


def _of_whole(label: str, thing: Thing) -> str:
    """A label without the thing that it is of: number, of customer number."""
    own = f"{thing.noun} "
    return label.removeprefix(own) if len(label) > len(own) else label


def _bounds_in_full(spoken: str, column: SurveyedColumn, thing: Thing) -> str:
    """A name in which `min` is no unit of time: before another word, or beside a `max`."""
    name = column.name.lower()
    if spoken.split(" ")[0] in words_of_columns().quantities and spoken.endswith(" stock"):
        return "units in stock"
    other = {c.lower() for c in thing.table.columns} & {name.replace("min", "max")}
    if "min" in name and ("minutes" in spoken.split(" ")[:-1] or other - {name}):
        return spoken.replace("minutes", "minimum")
    return spoken


def _role(
    column: SurveyedColumn,
    plain: str,
    label: str,
    thing: Thing,
    referring: set[str],
    *,
    is_flag: bool,
) -> Role:
    known = words_of_columns()
    kind, spoken = column.column.kind, {*label.split(" ")}
    rows = thing.table.looked_at
    if column.name in referring:
        return "reference"
    if column.name in thing.names:
        return "name"
    if column.name in thing.table.primary_key and plain not in known.upkeep:
        return "key"
    if plain in known.upkeep or label in known.upkeep or kind == "other":
        return "upkeep"
    texts = [str(v) for v in column.samples]
    if kind in ("date", "datetime") or (
        kind == "text" and texts and all(map(_DAY.fullmatch, texts))
    ):
        whole = not texts or all(map(_DAY.fullmatch, texts))
        return "date" if whole else "text"
    if column.is_contact:
        return "contact"
    if is_flag:
        return "flag"
    if kind in ("integer", "number"):
        if label.split(" ")[-1] in known.identifiers - {"number"}:
            return "text" if not _few(column, rows) else "category"
        is_level = kind == "integer" and bool(spoken & known.levels)
        return "level" if is_level else "measure"
    if kind == "text":
        sayable = all(map(_is_sayable, texts))
        is_place = bool(spoken & known.places) and column.distinct > 1
        if (_few(column, rows) or is_place) and sayable:
            return "category"
        return "text"
    return "upkeep"


def _few(column: SurveyedColumn, rows: int) -> bool:
    """Whether its values are kinds, which many rows share."""
    if not column.distinct:
        return False
    return column.distinct <= _MOST_CATEGORIES and (
        column.distinct <= 0.5 * column.filled or column.distinct <= 3 or rows <= 12
    )


def _yes_no(column: SurveyedColumn, label: str) -> tuple[Any, Any]:
    known = words_of_columns()
    if column.column.kind == "boolean":
        return True, False
    spoken = {*column.plain.split(" ")}
    values = {str(v).lower(): v for v in column.samples}
    if not values or len(values) > 2 or column.distinct > 2:
        return None, None
    yes = next((v for text, v in values.items() if text in known.yes_values), None)
    no = next((v for text, v in values.items() if text in known.no_values), None)
    if (yes is None and no is None) or not {*values} <= {*known.yes_values, *known.no_values}:
        return None, None
    if (
        column.column.kind == "integer"
        and len(values) == 1
        and not (spoken & known.flag_words or _is_quality(label))
    ):
        return None, None
    return (_opposite(no) if yes is None else yes), (_opposite(yes) if no is None else no)


def _opposite(value: Any) -> Any:
    """The other one of two values that mean yes and no, where a column has but one of them."""
    if isinstance(value, int):
        return 1 - value
    known = words_of_columns()
    for here, there in ((known.yes_values, known.no_values), (known.no_values, known.yes_values)):
        if str(value).lower() in here:
            other = there[here.index(str(value).lower())]
            return other.upper() if str(value).isupper() else other
    return None


def _is_quality(label: str) -> bool:
    return is_quality(label.split(" ")[-1])


def _is_sayable(text: str) -> bool:
    return (
        0 < len(text) <= 40
        and text.isprintable()
        and "\n" not in text
        and any(map(str.isalnum, text))
        and not set(text) & set('"{}$\\')
    )


def is_sayable(text: str) -> bool:
    """Whether a value can stand in a sentence."""
    return _is_sayable(text)
