"""What the templates of a thing share: its words, its filters, the order of its rows."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    sums,
)
from server.authoring.databases.sentences import (
    MOST_EXAMPLES,
    Saying,
    fill,
    frames,
    write,
)
from server.authoring.databases.statements import (
    Source,
)
from server.authoring.databases.things import Link, Path, Thing
from server.authoring.databases.words import words_of_columns
from server.authoring.naming import identifier
from server.authoring.phrases import phrases, plural, possessive
from server.authoring.sentences import ExampleQuestion
from server.tools.sql.address import DatabaseKind

_MOST_OWNERS: Final = 3
_FEW: Final = 3
"""Examples of what belongs to something that is no person."""
_SHORT: Final = 12
"""Most rows of what is but a short list."""
LIMIT: Final[Parameter] = {
    "name": "limit",
    "type": "integer",
    "description": "how many at most",
    "required": False,
    "ge": 1,
}


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
    rank: int = 0
    """How soon people ask it: 0 is what they ask first."""


class Family(ABC):
    """Writes templates of one kind for a thing; `things` are all that there are."""

    def __init__(self, thing: Thing, things: Sequence[Thing], kind: DatabaseKind) -> None:
        self.thing, self.things, self.kind = thing, things, kind
        self.nouns = {"thing": thing.one, "things": thing.nouns}
        earns = earner(things) is thing
        self.measures = [m if earns else m.of_another(thing.noun) for m in measures_of(thing)]
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

    def of_names(
        self, family: str, measures: Sequence[Measure] = ()
    ) -> tuple[ExampleQuestion, ...]:
        """What belongs to people and companies by name: the orders of Ana Silva, her orders."""
        thing, asked = self.thing, list[ExampleQuestion]()
        links = [each for each in (*thing.links, *thing.across) if each.thing.names]
        for number, link in enumerate(links[:_MOST_OWNERS]):
            say = self._owner(link, number, measures)
            done = say(0)[0]["done"]
            wording = [*frames(f"{family}_of"), *(frames(f"{family}_of_doing") if done else ())]
            if family == "list" and link.thing is thing:
                wording[:0] = frames("of_manager")
            if family == "sum" and pays(link.thing) and any("revenue" in sums(m) for m in measures):
                wording[:0] = frames("sum_of_spent")
            is_owner = link.thing.is_person or len(link.thing.names) == 2
            asked += write(wording, say, most=len(wording) if is_owner else _FEW)
        return tuple(asked)

    def _owner(
        self, link: Link, number: int, measures: Sequence[Measure]
    ) -> Callable[[int], Saying]:
        """The words of a turn about one of those that such things belong to."""
        known = link.thing.name_samples() or phrases().person_names
        leads = words_of_columns().lead_to(link.noun)
        title = words_of_columns().titles.get(link.noun, "")
        done = words_of_columns().doings.get(self.thing.noun, "") if link.thing.is_person else ""

        def say(turn: int) -> Saying:
            value = known[(turn + 2 * number) % len(known)]
            spoken = f"{title} {value}" if title and turn % 2 else value
            times = words_of_columns().times
            words = {
                **self.nouns,
                "name": spoken,
                "name's": possessive(spoken),
                "of": leads[turn % len(leads)].format(value=spoken),
                "owner": link.noun,
                "done": done,
                "when": times[turn % len(times)],
            }
            if measures:
                words["measure"] = measures[turn % len(measures)].label
            return words, {identifier(link.noun): value}

        return say

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
    return f"AND {source.name_of(path)} = :{name}"


def pays(thing: Thing) -> bool:
    return bool({*thing.noun.split(" "), *thing.also} & words_of_columns().payers)


def either(labels: Iterable[str]) -> str:
    *others, last = dict.fromkeys(labels)
    return f"{', '.join(others)} or {last}" if others else last


def slug(text: str) -> str:
    """A noun within the id of a template."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def one_line(text: str) -> str:
    return " ".join(text.split("\n"))
