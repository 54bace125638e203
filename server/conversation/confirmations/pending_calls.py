"""Calls that wait for a confirmation: what would run, for whom, until when, and their table."""

import hmac
import json
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal

import sqlalchemy as sa

from server.conversation.serialization import arguments_from_json, arguments_to_json
from server.conversation.store import ConversationKey, conversation_key_columns, is_conversation
from server.core.decision import Match, Origin
from server.core.tools import Source
from server.storage.database import UtcTime

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call as it will run once it is confirmed. Its `arguments` may hold what must not be shown.

    `intent` and `target` are what is committed; `detected` is what the rule pack found.
    """

    proposal_id: str
    place: ConversationKey
    library: str
    """The adapter whose template it is; a guard may have led there from the key's own."""
    template_id: str
    template_hash: str
    arguments: Mapping[str, Any]
    sources: Mapping[str, Source]
    match: Match
    intent: str
    target: str | None
    detected: str | None
    origin: Origin
    proposed_by: Literal["system", "model", "caller"]
    question: str
    created_at: datetime
    expires_at: datetime
    left_out: tuple[str, ...] = ()
    """The words of the question that it makes no use of, as they may be shown."""
    seal: str = field(default="", repr=False)
    claim: str = ""
    """Which of the requests that confirmed it has it; empty until it is claimed."""


class CallSignature:
    """Signs calls with the secret of the installation, so that nobody else can make a valid one."""

    def __init__(self, secret: bytes) -> None:
        self._secret = hmac.digest(secret, b"proposals", "sha256")

    def of(self, held: PendingCall) -> str:
        """Return the HMAC-SHA-256, in hexadecimal, of what would run, for whom, and until when."""
        what = (held.library, held.template_id, held.template_hash)
        why = (held.intent, held.target, held.detected, held.origin, held.proposed_by)
        until = held.expires_at.astimezone(UTC).isoformat()
        arguments = arguments_to_json(held.arguments)
        plain = json.dumps([held.proposal_id, *held.place, *what, arguments, *why, until])
        return hmac.new(self._secret, plain.encode(), "sha256").hexdigest()

    def holds(self, held: PendingCall) -> bool:
        return hmac.compare_digest(self.of(held), held.seal)


State = Literal[
    "held",  # waits for a confirmation
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

PROPOSALS: Final = sa.Table(
    "proposals",
    sa.MetaData(),
    sa.Column("proposal_id", sa.String(32), primary_key=True),
    *conversation_key_columns(nullable=False),
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
    sa.Column("claim", sa.String(16)),
    sa.Index("proposals_of_key", "key_id", "state", "created_at"),
    sa.Index("proposals_by_state", "state", "expires_at"),
)
"""`arguments` are emptied as soon as nothing can run any more. `shown` holds what the answer
says beside them: the match, the sources, the question, what was left out. `owner` is the server
that took it, and `claim` the request."""

Row = Mapping[str, Any]

_AS_WRITTEN: Final = (
    *("proposal_id", "library", "template_id", "template_hash", "intent", "target", "detected"),
    *("origin", "proposed_by", "created_at", "expires_at", "seal"),
)
"""The columns that hold a field of `PendingCall` as it is."""


def insert_proposal(connection: sa.Connection, held: PendingCall) -> None:
    match = held.match
    shown = {
        "match": [match.confidence, match.similarity, match.why, match.nearest_example],
        "sources": {name: [each.kind, each.note] for name, each in held.sources.items()},
        "question": held.question,
        "left_out": held.left_out,
    }
    row = {
        **{name: getattr(held, name) for name in _AS_WRITTEN},
        **held.place._asdict(),
        "arguments": arguments_to_json(held.arguments),
        "shown": json.dumps(shown),
        "state": "held",
        "state_at": held.created_at,
    }
    connection.execute(PROPOSALS.insert(), row)


def find(connection: sa.Connection, place: ConversationKey, proposal_id: str) -> Row | None:
    """Return the row of a proposal, or None when the conversation has none of that id."""
    asked = sa.select(PROPOSALS).where(_is_proposal(place, proposal_id))
    row = connection.execute(asked).mappings().first()
    return None if row is None else dict(row)


def waiting(connection: sa.Connection, now: datetime, most: int) -> list[PendingCall]:
    """Return the calls that wait, newest first, but for those that cannot be read."""
    held = sa.and_(PROPOSALS.c.state == "held", PROPOSALS.c.expires_at > now)
    newest = PROPOSALS.c.created_at.desc()
    rows = connection.execute(sa.select(PROPOSALS).where(held).order_by(newest).limit(most))
    found = []
    for row in rows.mappings():
        try:
            found.append(to_pending_call(dict(row)))
        except ValueError:
            _log.error("proposal %s cannot be read", row["proposal_id"])
    return found


def take(
    connection: sa.Connection,
    place: ConversationKey,
    proposal_id: str,
    owner: str,
    claim: str,
    now: datetime,
) -> bool:
    """Mark a held call as taken by `claim` of `owner`; return whether this call of `take` did."""
    waiting = sa.and_(_is_held(place, proposal_id), PROPOSALS.c.expires_at > now)
    change = PROPOSALS.update().where(waiting)
    taken = {"state": "taken", "state_at": now, "owner": owner, "claim": claim}
    return connection.execute(change.values(taken)).rowcount == 1


def move(
    connection: sa.Connection,
    proposal_id: str,
    claim: str,
    before: Collection[State],
    after: State,
    now: datetime,
    outcome: str = "",
) -> bool:
    """Change the state of a call that `claim` took, if it is one of `before`; return whether."""
    mine = sa.and_(PROPOSALS.c.proposal_id == proposal_id, PROPOSALS.c.claim == claim)
    here = sa.and_(mine, PROPOSALS.c.state.in_(before))
    return _set_state(connection, here, after, now, outcome) == 1


def decline(
    connection: sa.Connection, place: ConversationKey, now: datetime, proposal_id: str | None = None
) -> int:
    """Decline one held call of a conversation, or all of them; return how many."""
    waiting = sa.and_(_is_held(place, proposal_id), PROPOSALS.c.expires_at > now)
    return _set_state(connection, waiting, "declined", now)


def replace_waiting(connection: sa.Connection, place: ConversationKey, now: datetime) -> None:
    """End the call that waits in a conversation, because another replaces it."""
    _set_state(connection, _is_held(place), "replaced", now)


def expire(connection: sa.Connection, now: datetime) -> int:
    """End the calls that were not confirmed in time; return how many."""
    late = sa.and_(PROPOSALS.c.state == "held", PROPOSALS.c.expires_at <= now)
    return _set_state(connection, late, "expired", now)


def keep_latest(connection: sa.Connection, key_id: str, most: int, now: datetime) -> None:
    """End the oldest held calls of a key that has too many."""
    of_key = sa.and_(PROPOSALS.c.key_id == key_id, PROPOSALS.c.state == "held")
    newest = PROPOSALS.c.created_at.desc()
    oldest = sa.select(PROPOSALS.c.created_at).where(of_key).order_by(newest)
    last = connection.execute(oldest.offset(most).limit(1)).scalar()
    if last is not None:
        _set_state(connection, sa.and_(of_key, PROPOSALS.c.created_at <= last), "expired", now)


def delete_proposals_before(connection: sa.Connection, end: datetime) -> None:
    over = sa.and_(PROPOSALS.c.state.not_in(OPEN), PROPOSALS.c.state_at < end)
    connection.execute(PROPOSALS.delete().where(over))


def recover(connection: sa.Connection, left: sa.ColumnElement[bool], now: datetime) -> int:
    """Recover the calls of a server that was ended; return how many had been running.

    What had not run waits for a confirmation again. What was running may or may not have
    been done, so it is never run again.
    """
    _set_state(connection, sa.and_(PROPOSALS.c.state == "taken", left), "held", now)
    running = sa.and_(PROPOSALS.c.state == "running", left)
    return _set_state(connection, running, "interrupted", now)


def to_pending_call(row: Row) -> PendingCall:
    """Return the call in a row.

    Raises:
        ValueError: the row does not hold what was written.
    """
    try:
        shown = json.loads(row["shown"])
        confidence, similarity, why, nearest = shown["match"]
        return PendingCall(
            **{name: row[name] for name in _AS_WRITTEN},
            place=ConversationKey(*(row[name] for name in ConversationKey._fields)),
            arguments=arguments_from_json(row["arguments"]),
            sources={
                name: Source(kind, note=note) for name, (kind, note) in shown["sources"].items()
            },
            match=Match(row["template_id"], confidence, similarity, why, nearest),
            question=shown["question"],
            left_out=tuple(shown.get("left_out", ())),  # older rows do not have it
        )
    except (KeyError, TypeError, AttributeError) as broken:
        raise ValueError(f"proposal {row['proposal_id']} cannot be read") from broken


def _set_state(
    connection: sa.Connection,
    which: sa.ColumnElement[bool],
    state: State,
    now: datetime,
    outcome: str = "",
) -> int:
    """Change the state of the proposals that `which` selects; return how many these were."""
    values: dict[str, Any] = {"state": state, "state_at": now, "outcome": outcome}
    if state not in OPEN:
        values |= {"arguments": "", "shown": ""}
    if state == "held":
        values |= {"owner": None, "claim": None}
    return connection.execute(PROPOSALS.update().where(which).values(values)).rowcount


def _is_proposal(place: ConversationKey, proposal_id: str) -> sa.ColumnElement[bool]:
    return sa.and_(PROPOSALS.c.proposal_id == proposal_id, is_conversation(PROPOSALS, place))


def _is_held(place: ConversationKey, proposal_id: str | None = None) -> sa.ColumnElement[bool]:
    here = is_conversation(PROPOSALS, place)
    if proposal_id is not None:
        here = _is_proposal(place, proposal_id)
    return sa.and_(here, PROPOSALS.c.state == "held")
