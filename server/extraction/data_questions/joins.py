"""Where a query starts, and which ways lead from there to the tables that it needs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from server.library.data_model import DataModel

Way = tuple[str, ...]


class Need(NamedTuple):
    """A table that a query needs, perhaps as what a link leads to."""

    table: str
    owner: str = ""
    step: str = ""


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
        cost = 0.0 if root == preferred else 0.4 if root in mentioned else 1.0
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
    for way in model.reachable[root].get(need.table, ()):
        if need.step:
            if not way or way[-1] != need.step or _table_before(model, root, way) != need.owner:
                continue
        elif need.table == root and way:
            continue
        passed, table, roles = set[str](), root, 0
        for step in way:
            link = model.link(table, step)
            assert link is not None  # noqa: S101  the way is made of links
            table = link.table
            passed.add(table)
            told = {*model.tables[table].called}
            roles += bool(link.called) and told.isdisjoint(link.called)
        extra = 0.0 if need.step else 0.3 * roles
        extra += 0.3 * sum(step.startswith("<") for step in way)
        yield len(way) - 0.6 * len(passed & {*mentioned} - {need.table}) + extra, way


def _table_before(model: DataModel, root: str, way: Way) -> str:
    table = root
    for step in way[:-1]:
        link = model.link(table, step)
        assert link is not None  # noqa: S101  the way is made of links
        table = link.table
    return table
