"""The table of held calls, and what is asked of it, each within one transaction."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal

import sqlalchemy as sa

from server.access.table import UtcTime
from server.conversation.places import Place, is_place, place_columns
from server.conversation.proposals.held import HeldCall
from server.conversation.values import from_text, to_text
from server.core.decision import Match
from server.core.tools import Source

State = Literal[
    "held",  # waits for a yes
    "taken",  # confirmed, and being judged; nothing has run
    "running",  # committed; the tool was called
    "done",  # the tool answered, or failed
    "refused",  # confirmed, and not allowed any more
    "declined",
    "replaced",  # the conversation went on to another proposal
    "expired",
    "interrupted",  # the server was ended while the tool was running
]
OPEN: Final[tuple[State, ...]] = ("held", "taken", "running")
"""States in which the arguments are still needed."""

METADATA: Final = sa.MetaData()
PROPOSALS: Final = sa.Table(
    "proposals",
    METADATA,
    sa.Column("proposal_id", sa.String(32), primary_key=True),
    *place_columns(nullable=False),
    sa.Column("library", sa.String(255), nullable=False),
    sa.Column("template_id", sa.String(255), nullable=False),
    sa.Column("template_hash", sa.String(64), nullable=False),
    sa.Column("arguments", sa.Text, nullable=False),
    sa.Column("shown", sa.Text, nullable=False),
    sa.Column("intent", sa.String(255), nullable=False),
    sa.Column("target", sa.Text),
    sa.Column("detected", sa.String(255)),
    sa.Column("origin", sa.String(16), nullable=False),
    sa.Column("proposed_by", sa.String(16), nullable=False),
    sa.Column("created_at", UtcTime, nullable=False),
    sa.Column("expires_at", UtcTime, nullable=False),
    sa.Column("seal", sa.String(64), nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("state_at", UtcTime, nullable=False),
    sa.Column("owner", sa.String(32)),
    sa.Column("outcome", sa.String(64), nullable=False, server_default=""),
    sa.Index("proposals_of_key", "key_id", "state", "created_at"),
    sa.Index("proposals_by_state", "state", "expires_at"),
)
"""`arguments` are emptied as soon as nothing can run any more. `shown` holds what the answer
says beside them: the match, the sources, the question. `owner` is the server that took it."""

Row = Mapping[str, Any]


def insert(connection: sa.Connection, held: HeldCall) -> None:
    match = held.match
    shown = {
        "match": [match.confidence, match.similarity, match.why, match.nearest_example],
        "sources": {name: [each.kind, each.note] for name, each in held.sources.items()},
        "question": held.question,
    }
    row = {
        "proposal_id": held.proposal_id,
        **held.place._asdict(),
        "library": held.library,
        "template_id": held.template_id,
        "template_hash": held.template_hash,
        "arguments": to_text(held.arguments),
        "shown": json.dumps(shown),
        "intent": held.intent,
        "target": held.target,
        "detected": held.detected,
        "origin": held.origin,
        "proposed_by": held.proposed_by,
        "created_at": held.created_at,
        "expires_at": held.expires_at,
        "seal": held.seal,
        "state": "held",
        "state_at": held.created_at,
    }
    connection.execute(PROPOSALS.insert(), row)


def find(connection: sa.Connection, place: Place, proposal_id: str) -> Row | None:
    """The row of that id, when it is of that place."""
    asked = sa.select(PROPOSALS).where(_one(place, proposal_id))
    row = connection.execute(asked).mappings().first()
    return None if row is None else dict(row)


def take(
    connection: sa.Connection, place: Place, proposal_id: str, owner: str, now: datetime
) -> bool:
    """Take a held call out, as the one who does; of many at once, one is told that it did."""
    waiting = sa.and_(
        _one(place, proposal_id), PROPOSALS.c.state == "held", PROPOSALS.c.expires_at > now
    )
    change = PROPOSALS.update().where(waiting)
    return connection.execute(change.values(state="taken", state_at=now, owner=owner)).rowcount == 1


def move(
    connection: sa.Connection,
    proposal_id: str,
    owner: str,
    before: State,
    after: State,
    now: datetime,
    outcome: str = "",
) -> bool:
    """Change the state of a call that `owner` took, if it is what it has to be."""
    here = sa.and_(
        PROPOSALS.c.proposal_id == proposal_id,
        PROPOSALS.c.owner == owner,
        PROPOSALS.c.state == before,
    )
    change = PROPOSALS.update().where(here).values(_in_state(after, now, outcome))
    return connection.execute(change).rowcount == 1


def decline(
    connection: sa.Connection, place: Place, now: datetime, proposal_id: str | None = None
) -> int:
    """Decline one held call of a place, or all of them; return how many."""
    here = is_place(PROPOSALS, place) if proposal_id is None else _one(place, proposal_id)
    waiting = sa.and_(here, PROPOSALS.c.state == "held", PROPOSALS.c.expires_at > now)
    return connection.execute(
        PROPOSALS.update().where(waiting).values(_in_state("declined", now))
    ).rowcount


def replace_waiting(connection: sa.Connection, place: Place, now: datetime) -> None:
    """End what waits in a place, for another takes its place."""
    waiting = sa.and_(is_place(PROPOSALS, place), PROPOSALS.c.state == "held")
    connection.execute(PROPOSALS.update().where(waiting).values(_in_state("replaced", now)))


def expire(connection: sa.Connection, now: datetime) -> int:
    """End what nobody said yes to in time; return how many."""
    late = sa.and_(PROPOSALS.c.state == "held", PROPOSALS.c.expires_at <= now)
    change = PROPOSALS.update().where(late).values(_in_state("expired", now))
    return connection.execute(change).rowcount


def keep_latest(connection: sa.Connection, key_id: str, most: int, now: datetime) -> None:
    """End the oldest held calls of a key that has too many."""
    of_key = sa.and_(PROPOSALS.c.key_id == key_id, PROPOSALS.c.state == "held")
    newest = PROPOSALS.c.created_at.desc()
    oldest = sa.select(PROPOSALS.c.created_at).where(of_key).order_by(newest)
    last = connection.execute(oldest.offset(most).limit(1)).scalar()
    if last is not None:
        late = sa.and_(of_key, PROPOSALS.c.created_at <= last)
        connection.execute(PROPOSALS.update().where(late).values(_in_state("expired", now)))


def delete_before(connection: sa.Connection, end: datetime) -> None:
    """Delete what came to its end before that time."""
    over = sa.and_(PROPOSALS.c.state.not_in(OPEN), PROPOSALS.c.state_at < end)
    connection.execute(PROPOSALS.delete().where(over))


def recover(connection: sa.Connection, left: sa.ColumnElement[bool], now: datetime) -> int:
    """Return what its server left when it was ended: how many calls had been running.

    What had not run waits for a yes again; what was running may or may not have been done,
    so it is never run again.
    """
    taken = sa.and_(PROPOSALS.c.state == "taken", left)
    connection.execute(PROPOSALS.update().where(taken).values(_in_state("held", now)))
    running = sa.and_(PROPOSALS.c.state == "running", left)
    change = PROPOSALS.update().where(running).values(_in_state("interrupted", now))
    return connection.execute(change).rowcount


def to_held(row: Row) -> HeldCall:
    """The call in a row.

    Raises:
        ValueError: what stands in the row is nothing that was ever written there.
    """
    try:
        shown = json.loads(row["shown"])
        confidence, similarity, why, nearest = shown["match"]
        return HeldCall(
            proposal_id=row["proposal_id"],
            place=Place(*(row[name] for name in Place._fields)),
            library=row["library"],
            template_id=row["template_id"],
            template_hash=row["template_hash"],
            arguments=from_text(row["arguments"]),
            sources={
                name: Source(kind, note=note) for name, (kind, note) in shown["sources"].items()
            },
            match=Match(row["template_id"], confidence, similarity, why, nearest),
            intent=row["intent"],
            target=row["target"],
            detected=row["detected"],
            origin=row["origin"],
            proposed_by=row["proposed_by"],
            question=shown["question"],
            created_at=row["created_at"],
            expires_at=row["expires_at"],
            seal=row["seal"],
        )
    except (KeyError, TypeError, AttributeError) as broken:
        raise ValueError(f"proposal {row['proposal_id']} cannot be read") from broken


def _in_state(state: State, now: datetime, outcome: str = "") -> dict[str, Any]:
    values: dict[str, Any] = {"state": state, "state_at": now, "outcome": outcome}
    if state not in OPEN:
        values |= {"arguments": "", "shown": ""}
    if state == "held":
        values["owner"] = None
    return values


def _one(place: Place, proposal_id: str) -> sa.ColumnElement[bool]:
    return sa.and_(PROPOSALS.c.proposal_id == proposal_id, is_place(PROPOSALS, place))
