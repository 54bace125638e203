"""The templates of each thing, family by family."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from server.authoring.databases.amounts import Amounts
from server.authoring.databases.details import Details
from server.authoring.databases.family import DraftTemplate, Family
from server.authoring.databases.lists import Lists
from server.authoring.databases.rankings import Rankings
from server.authoring.databases.relations import Relations
from server.authoring.databases.things import Thing
from server.tools.sql.address import DatabaseKind

_FAMILIES: Final[tuple[type[Family], ...]] = (Lists, Amounts, Rankings, Details, Relations)


def templates_of(things: Sequence[Thing], kind: DatabaseKind) -> Iterator[DraftTemplate]:
    """Every template of every thing."""
    for thing in things:
        if thing.table.rows == 0 and thing.joins_two:
            continue
        for rank, family in enumerate(_FAMILIES):
            for template in family(thing, things, kind).templates():
                yield replace(template, rank=rank)
