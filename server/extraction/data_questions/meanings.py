"""What a phrase of a question may mean, by a data model and a language."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from server.extraction.data_questions.joins import Need


class Column(NamedTuple):
    """A column of a table."""

    table: str
    column: str
    rank: int = 0
    """How good a name of it was said; 0 is the best."""


Columns = tuple[Column, ...]
"""Columns of which one is meant."""


class Value(NamedTuple):
    """What columns of a table hold together: a title, or a first and a last name."""

    table: str
    columns: tuple[str, ...]
    values: tuple[str, ...]
    part: bool = False
    """Whether only a part of the name was said."""
    kind: bool = False
    """Whether it is a part of one of a few kinds: the video files."""


End = Literal["most", "least"]


class Degree(NamedTuple):
    """One end of what a column holds, or a comparison of it: longest, cheaper than."""

    end: End
    columns: Columns
    compares: bool = False


@dataclass(slots=True)
class Meanings:
    """All that one phrase may mean."""

    nouns: list[Need] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    degrees: list[Degree] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    """Tables of which a row comes to be when this is done."""
    dates: list[Column] = field(default_factory=list)
    """The columns of the day on which this was done."""
    pending: list[Column] = field(default_factory=list)
    """The columns of what has not happened yet, or of what is not so: open, unpaid."""
    kept: list[Column] = field(default_factory=list)
    """The columns of the day on which this ends: keep, stay."""
    roles: list[Need] = field(default_factory=list)
    """Tables as what a link leads to."""
    agents: list[Need] = field(default_factory=list)
    """Those who do this."""
    tags: set[str] = field(default_factory=set)
    """What the phrase does in a question, by the lists of the language."""
    plural: bool = False

    @property
    def names_data(self) -> bool:
        """Whether it names a table, a column or a value."""
        return bool(self.nouns or self.columns or self.values)

    @property
    def is_of_data(self) -> bool:
        """Whether it has to do with the data, and not only with how one asks."""
        others = self.agents or self.done or self.dates or self.degrees or self.roles
        others = others or self.pending or self.kept
        return self.names_data or bool(others)
