"""Where a query starts, and which ways lead from there to the tables that it needs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from server.library.data_model import DataLink, DataModel

Way = tuple[str, ...]

_MENTIONED: Final = 0.4
_UNMENTIONED: Final = 1.0
"""What it costs to start from a table that is asked for besides, and from any other."""
_ROLE: Final = 0.3
"""What it costs to follow a link to what something is to another: a manager."""
_BACKWARDS: Final = 0.3
"""What it costs to follow a link from what it leads to."""
_PASSED: Final = 0.6
"""What it is worth to pass a table that is needed too."""


_PEOPLE: Final = 0.1
"""What it costs to pass those who have to do with it: a disc is from where it is kept."""


class Need(NamedTuple):
    """A table that a query needs, perhaps as what a link leads to, or by a table on the way."""

    table: str
    owner: str = ""
    step: str = ""
    via: str = ""


@dataclass(frozen=True, slots=True)
class Joined:
    """A table, and the ways from it to everything that is needed."""

    root: str
    ways: Mapping[Need, Way]
    cost: float

    @property
    def multiplies(self) -> bool:
        """Whether one row of the root may stand there several times."""
        return any(step.startswith("<") for way in self.ways.values() for step in way)

    def path(self, need: Need, column: str) -> str:
        return ".".join((*self.ways[need], column))


def join(
    model: DataModel,
    needs: Collection[Need],
    roots: Sequence[str] = (),
    preferred: str = "",
) -> Joined | None:
    """The table from which all others are reached by the fewest links; of `roots` where given."""
    found: Joined | None = None
    mentioned = {need.table for need in needs}
    for root in roots or model.tables:
        ways: dict[Need, Way] = {}
        cost = 0.0 if root == preferred else _MENTIONED if root in mentioned else _UNMENTIONED
        for need in needs:
            best = min(_ways(model, root, need, mentioned), default=None)
            if best is None:
                break
            cost += best[0]
            ways[need] = best[1]
        else:
            if found is None or cost < found.cost:
                found = Joined(root, ways, cost)
    return found


def _ways(
    model: DataModel, root: str, need: Need, mentioned: Collection[str]
) -> Iterator[tuple[float, Way]]:
    """The ways to what is needed, and what each of them costs."""
    for way in model.reachable[root].get(need.table, ()):
        links = list(_links(model, root, way))
        if need.step:
            tables = [root, *(link.table for link in links)]
            if not way or way[-1] != need.step or tables[-2] != need.owner:
                continue
        elif need.table == root and way:
            continue
        if need.via and need.via not in {root, *(link.table for link in links[:-1])}:
            continue
        cost = 0.0 if need.step else _ROLE * sum(_is_role(model, link) for link in links)
        cost += _BACKWARDS * sum(step.startswith("<") for step in way)
        between = {link.table for link in links[:-1]}
        cost += _PEOPLE * sum(model.tables[t].people or model.tables[t].pays for t in between)
        passed = {link.table for link in links} & {*mentioned} - {need.table}
        yield len(way) - _PASSED * len(passed) + cost, way


def _links(model: DataModel, table: str, way: Way) -> Iterator[DataLink]:
    """The links that a way from a table is made of."""
    for step in way:
        link = model.link(table, step)
        if link is None:
            raise KeyError(step)
        yield link
        table = link.table


def _is_role(model: DataModel, link: DataLink) -> bool:
    """Whether a link leads to something as another thing than it is called: a manager."""
    return bool(link.called) and {*model.tables[link.table].called}.isdisjoint(link.called)
