"""Whose conversation it is."""

from typing import Any, NamedTuple

import sqlalchemy as sa

from server.core.turn import Caller


class Place(NamedTuple):
    """A conversation of one key, adapter and user. Nobody else's reaches it."""

    key_id: str
    adapter: str
    user_id: str
    session_id: str


def place_of(caller: Caller, session_id: str) -> Place:
    return Place(caller.key_id, caller.adapter, caller.user_id or "", session_id)


def place_columns(**how: Any) -> tuple[sa.Column[str], ...]:
    """Columns for a place; `how` is for all of them."""
    sizes = {"key_id": 64, "adapter": 255, "user_id": 255, "session_id": 128}
    return tuple(sa.Column(name, sa.String(size), **how) for name, size in sizes.items())


def is_place(table: sa.Table, place: Place) -> sa.ColumnElement[bool]:
    """The rows of a table that are of that place."""
    return sa.and_(*(table.c[name] == value for name, value in place._asdict().items()))
