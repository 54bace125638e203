"""What the templates of a thing share: its words, its filters, the order of its rows."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from server.authoring.databases.filters import (
    Filter,
    Parameter,
    date_of,
    filters_of,
    number_filters,
    spoken_filter,
)
from server.authoring.databases.groups import (
    Measure,
    earner,
    groups_of,
    levels_of,
    measures_of,
)
from server.authoring.databases.sentences import (
    MOST_EXAMPLES,
    Saying,
    fill,
    frames,
)
from server.authoring.databases.statements import (
    Source,
)
from server.authoring.databases.things import Path, Thing
from server.authoring.databases.words import words_of_columns
from server.authoring.phrases import plural
from server.authoring.sentences import ExampleQuestion
from server.tools.sql.address import DatabaseKind

_SHORT: Final = 12
"""Most rows of what is but a short list."""
LIMIT: Final[Parameter] = {
    "name": "limit",
    "type": "integer",
    "description": "how many at most",
    "required": False,
    "ge": 1,
}
LAST: Final = "{% if limit %}LIMIT :limit{% endif %}"
"""The last line of what may be long."""


@dataclass(frozen=True, slots=True)
class DraftTemplate:
    """One template, and the questions that test it."""

    id: str
    description: str
    sql: str
    examples: tuple[ExampleQuestion, ...]
    questions: tuple[ExampleQuestion, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    shape: str = "table"
    counters: tuple[str, ...] = ()
    """What looks like it and is not."""


class Family(ABC):
    """Writes templates of one kind for a thing; `things` are all that there are."""

    def __init__(self, thing: Thing, things: Sequence[Thing], kind: DatabaseKind) -> None:
        self.thing, self.things, self.kind = thing, things, kind
        self.nouns = {"thing": thing.one, "things": thing.nouns}
        earns = earner(things) is thing
        self.measures = [m if earns else m.of_another() for m in measures_of(thing)]
        self.numbers = [m for m in (*self.measures, *levels_of(thing)) if m.prop is not None]
        self.groups = groups_of(thing)

    @abstractmethod
    def templates(self) -> Iterator[DraftTemplate]: ...

    @property
    def amounts(self) -> list[Measure]:
        """What adds up."""
        return [m for m in self.measures if m.adds_up]

    @property
    def is_list(self) -> bool:
        """Whether it is but a short list, of which nobody asks how it falls into groups."""
        return not self.thing.links and self.thing.table.rows <= _SHORT

    def filters(self, source: Source) -> list[Filter]:
        """What a list can be narrowed by, numbers among them."""
        found = filters_of(source)
        names = {f.parameter["name"] for f in found}
        numbers = number_filters(source, [m for m in self.numbers if m.value not in names])
        at = next((n for n, f in enumerate(found) if f.is_period), len(found))
        return [*found[:at], *numbers, *found[at:]]

    def counters(self, name: str) -> tuple[str, ...]:
        return tuple(fill(frame, self.nouns) for frame in frames(name))

    def order(self, source: Source) -> str:
        thing = self.thing
        if thing.names:
            names = [source.column((), name) for name in reversed(thing.names)]
            return f"ORDER BY {', '.join(names)}"
        dated = date_of(thing)
        keys = ", ".join(source.key_of(()))
        if dated is not None:
            day = source.column(dated[0], dated[1].name)
            return f"ORDER BY {day} DESC{f', {keys}' if keys else ''}"
        return f"ORDER BY {keys}" if keys else ""

    def some(self, filters: Sequence[Filter], turn: int, *, first: int = 0) -> Saying:
        """The noun with the filters of a turn; without any in the first turns."""
        thing = self.thing
        if turn < first or not filters:
            before, after, timed = "", "", False
            arguments: Mapping[str, Any] = {}
        else:
            before, after, arguments, timed = spoken_filter(filters, turn - first)
        nouns = (thing.nouns, *map(plural, thing.also))
        noun = nouns[turn % len(nouns)] if turn % 3 == 2 else thing.nouns
        some = " ".join(part for part in (before, noun, after) if part)
        acts = words_of_columns().acts.get(thing.noun.split(" ")[-1], ())
        words = {
            **self.nouns,
            "some": some,
            **({"are": before} if before and not after else {}),
            "after": after,
            **({"in": after} if after.startswith(("in ", "on ")) else {}),
            **(
                {"live": after.replace("living", "live", 1)}
                if after.startswith("living in ")
                else {}
            ),
            **(
                {"acts": acts[turn % len(acts)]}
                if acts and after.startswith(("in ", "at "))
                else {}
            ),
            "with": f" for {some}" if before else f" {after}" if after else "",
            "of_some": f" of {some}" if before or after or turn % 2 else "",
        }
        given = dict(arguments)
        if timed:
            given["start_date"] = None
        return words, given

    def testable(self, filters: Sequence[Filter]) -> Any:
        plain = [f for f in filters if not f.is_period]

        def say(turn: int) -> Saying:
            if not plain:
                return self.some([], turn)
            before, after, arguments, _ = spoken_filter(plain, turn + 1, most=1)
            some = " ".join(part for part in (before, self.thing.nouns, after) if part)
            words = {**self.nouns, "some": some, "with": f" for {some}", "of_some": f" of {some}"}
            return words, arguments

        return say


def wide(filters: Sequence[Filter]) -> int:
    """How many examples show every filter."""
    return MOST_EXAMPLES if len(filters) < 8 else MOST_EXAMPLES + 6


def beside(filters: Sequence[Filter], most: int = 6) -> list[Filter]:
    """The filters that go with a group or an owner: the first kinds, and the time."""
    return [f for f in filters if not f.is_period][:most] + [f for f in filters if f.is_period]


def by_name(source: Source, path: Path, name: str) -> str:
    """A name in one column is looked up as the database has it; of two columns, a part will do."""
    thing = path[-1].thing if path else source.thing
    if len(thing.names) == 1:
        return f"AND {source.name_of(path)} = :{name}"
    return f"AND LOWER({source.name_of(path)}) LIKE LOWER(:{name})"


def either(labels: Iterable[str]) -> str:
    *others, last = dict.fromkeys(labels)
    return f"{', '.join(others)} or {last}" if others else last


def slug(text: str) -> str:
    """A noun within the id of a template."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def one_line(text: str) -> str:
    return " ".join(text.split("\n"))
