"""What a story tells, and what it asks."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Literal, NamedTuple

from server.text.expressions.quantity import THING
from server.text.expressions.tree import Node

ANY: Final = "?"
"""A thing that has no name: the 12 of “12 per box”."""
EACH: Final = "*"
"""One of the things that were named before."""
PERSON: Final = "*person"
PACKED: Final = "*packed"
"""What is in a pack: the cans of a 12 pack of beer."""
MONEY: Final = "¤"
"""Money of no currency."""
MEASURED: Final = "?measured"
"""Money, or what has a unit of measure: how much."""
COUNTED: Final = "?counted"
"""What is counted, or has a unit: how many."""
TIME: Final = "?time"
PEOPLE: Final = f"{THING}person"
PERCENT: Final = "%"
"""A percentage; `below_shown` is what it is called."""
LENGTH: Final = "?length"

Role = Literal["have", "minus", "plus", ""]


class Fact(NamedTuple):
    """An amount of a thing, or so many of it per `below` of another.

    A thing is a unit, a currency, or `THING` and the stem of a noun; `shown` is how both are shown.
    """

    value: Fraction
    thing: str
    shown: str
    below: Fraction = Fraction(1)
    below_thing: str = ""
    below_shown: str = ""
    is_optional: bool = False
    """Whether `below_thing` may say nothing: a box has 48 chocolates."""
    role: Role = ""
    who: str = ""
    clause: int = 0
    is_asked: bool = False
    """Whether it stands in the question: how many pages in 35 minutes."""
    numbers: int = 1

    @property
    def is_rate(self) -> bool:
        return bool(self.below_thing)


class Asked(NamedTuple):
    """What is asked: `thing`, per one of `below` where there is one."""

    thing: str = ""
    name: str = ""
    """How the thing was called."""
    below: str = ""
    is_left: bool = False
    is_total: bool = False


@dataclass(slots=True)
class Story:
    """The facts of a story and its question, up to, and without, the word `last`."""

    facts: list[Fact] = field(default_factory=list)
    asked: Asked | None = None
    last: int = 0
    named: set[str] = field(default_factory=set)
    """What clauses are about, beside what is counted."""
    marks: set[str] = field(default_factory=set)
    """What is said of a percentage: up, down, included, and the names of charges."""
    asked_marks: set[str] = field(default_factory=set)


class Answer(NamedTuple):
    """What is worked out for a story, how it is shown, and the word after it."""

    node: Node
    text: str
    last: int


def is_noun(thing: str) -> bool:
    return thing.startswith(THING)


def is_money(thing: str) -> bool:
    return thing == MONEY or (len(thing) == 3 and thing.isupper())
