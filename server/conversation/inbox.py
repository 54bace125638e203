"""The inbox: turns that somebody should look at, kept so that a library can be made better.

Every turn is noted, so that it can be marked wrong later. Those that were answered go when their
conversation would; those that were declined, asked back, corrected or marked wrong stay longer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

import sqlalchemy as sa

from server.conversation.store import conversation_key_columns
from server.core.turn import Caller
from server.errors import TurnUnknown
from server.metrics.metrics import Metrics
from server.settings.models import InboxSettings
from server.storage.database import BATCH_TIMEOUT_S, Database, UtcTime, utc_now
from server.storage.write_behind import WriteBehind

TurnKind = Literal["answered", "asked", "asked_back", "declined", "corrected"]
"""`asked`: an argument was asked for, which is `asked_back` once the reply was something else."""
Verdict = Literal["right", "wrong"]

TO_LOOK_AT: Final[tuple[TurnKind, ...]] = ("declined", "asked_back", "corrected")
_WRITE_EVERY_S: Final = 0.5

INBOX: Final = sa.Table(
    "inbox_turns",
    sa.MetaData(),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    *conversation_key_columns(nullable=False),
    sa.Column("request_id", sa.String(64), nullable=False),
    sa.Column("answered_by", sa.String(255), nullable=False),
    sa.Column("at", UtcTime, nullable=False, index=True),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("masked", sa.Boolean, nullable=False),
    sa.Column("follows", sa.Boolean, nullable=False),
    sa.Column("template_id", sa.String(255)),
    sa.Column("expected", sa.String(255)),
    sa.Column("verdict", sa.String(8)),
    sa.Column("comment", sa.Text, nullable=False),
    sa.Index("inbox_turns_of_request", "key_id", "user_id", "request_id"),
    sa.Index("inbox_turns_of_session", "key_id", "user_id", "session_id"),
)


class TurnKey(NamedTuple):
    """Whose turn it was, and the id of its request, which the client may choose."""

    key_id: str
    user_id: str
    request_id: str


class Hindsight(NamedTuple):
    """What a turn says of the one before it in its conversation.

    It says that only if that one `was` of this kind, and about the template `of`.
    """

    was: TurnKind
    of: str
    kind: TurnKind
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class InboxTurn:
    """One turn. `template_id` is what it called, asked for, or leaned to.

    `question` is empty where it is `masked`: its words might be sensitive. `follows` says whether
    something was said before it. `expected` is the template that should have answered, as far as
    the person has shown or said.
    """

    key_id: str
    adapter: str
    user_id: str
    session_id: str
    request_id: str
    answered_by: str
    at: datetime
    kind: TurnKind
    question: str
    masked: bool = False
    follows: bool = False
    template_id: str | None = None
    expected: str | None = None
    verdict: Verdict | None = None
    comment: str = ""
    number: int = 0
    """Given by the database."""

    @property
    def key(self) -> TurnKey:
        return TurnKey(self.key_id, self.user_id, self.request_id)


class _Noted(NamedTuple):
    turn: InboxTurn
    hindsight: Hindsight | None = None


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a person thinks of an answer; `expected` is the template that should have given it."""

    request_id: str
    verdict: Verdict
    comment: str = ""
    expected: str | None = None
    session_id: str | None = None


class InboxStore:
    """Turns in the database of keys, written shortly after their answers."""

    def __init__(
        self,
        database: Database,
        settings: InboxSettings,
        *,
        answered_last_h: float = 24.0,
        now: Callable[[], datetime] = utc_now,
        metrics: Metrics | None = None,
    ) -> None:
        self._database = database
        self._now = now
        self._kept_for = timedelta(days=settings.keep_days)
        self._answered_last = timedelta(hours=answered_last_h)
        self._most = settings.max_turns
        self._behind = WriteBehind[TurnKey, _Noted](
            self._write, what="turns of the inbox", every_s=_WRITE_EVERY_S, metrics=metrics
        )

    def note(self, turn: InboxTurn, hindsight: Hindsight | None = None) -> None:
        """Keep a turn, and what it says of the one before; written a little later."""
        self._behind.note(turn.key, _Noted(turn, hindsight))

    async def mark(self, caller: Caller, feedback: Feedback) -> None:
        """Note what somebody thinks of an answer that the same key and user got.

        Raises:
            TurnUnknown: there is no such turn, or not any more.
            StoreUnavailable: it could not be written.
        """
        key = TurnKey(caller.key_id, caller.user_id or "", feedback.request_id)
        waiting = self._behind.get(key)
        if waiting is not None and feedback.session_id in (None, waiting.turn.session_id):
            marked = _marked(waiting.turn, feedback)
            self._behind.note(key, waiting._replace(turn=marked))
        elif not await self._database.run(lambda c: _mark(c, key, feedback)):
            raise TurnUnknown("this key has no turn of that request, or not any more")

    async def forget(self, caller: Caller, session_id: str) -> None:
        """Forget the turns of a caller's conversation; raise StoreUnavailable if that fails."""
        await self._behind.flush()
        mine = sa.and_(
            INBOX.c.key_id == caller.key_id,
            INBOX.c.adapter == caller.adapter,
            INBOX.c.user_id == (caller.user_id or ""),
            INBOX.c.session_id == session_id,
        )
        await self._database.run(lambda c: c.execute(INBOX.delete().where(mine)))

    async def turns(self, answered_by: str) -> list[InboxTurn]:
        """Return the turns of an adapter that somebody should look at, oldest first."""
        await self._behind.flush()
        wanted = sa.select(INBOX).where(_to_look_at(), INBOX.c.answered_by == answered_by)
        rows = await self._database.run(
            lambda c: c.execute(wanted.order_by(INBOX.c.number)).mappings().all()
        )
        return [InboxTurn(**row) for row in rows]

    async def drop(self, numbers: Sequence[int]) -> int:
        """Delete turns by their numbers; return how many there were."""
        gone = INBOX.delete().where(INBOX.c.number.in_(numbers))
        return await self._database.run(lambda c: c.execute(gone).rowcount)

    async def tidy(self) -> None:
        """Delete what was kept long enough, or is too much; raise StoreUnavailable on failure."""
        now, looked_at = self._now(), _to_look_at()

        def work(connection: sa.Connection) -> None:
            for group, lasts in (
                (looked_at, self._kept_for),
                (sa.not_(looked_at), min(self._answered_last, self._kept_for)),
            ):
                connection.execute(INBOX.delete().where(group, INBOX.c.at < now - lasts))
                newest = sa.select(INBOX.c.number).where(group).order_by(INBOX.c.number.desc())
                last = connection.execute(newest.offset(self._most).limit(1)).scalar()
                if last is not None:
                    connection.execute(INBOX.delete().where(group, INBOX.c.number <= last))

        await self._database.run(work, timeout_s=BATCH_TIMEOUT_S)

    async def close(self, *, with_database: bool = False) -> None:
        """Write what waits; others may go on using the database, unless it is closed as well."""
        await self._behind.close()
        if with_database:
            await self._database.close()

    async def _write(self, batch: Mapping[TurnKey, _Noted]) -> None:
        def work(connection: sa.Connection) -> None:
            turns = [noted.turn for noted in batch.values()]
            # A client that sends an id twice means its last request.
            for turn in turns:
                connection.execute(INBOX.delete().where(_is_turn(turn.key)))
            rows = [{n: v for n, v in asdict(t).items() if n != "number"} for t in turns]
            connection.execute(INBOX.insert(), rows)
            for turn, hindsight in batch.values():
                if hindsight is not None:
                    _look_back(connection, turn, hindsight)

        await self._database.run(work, timeout_s=BATCH_TIMEOUT_S)


def _to_look_at() -> sa.ColumnElement[bool]:
    verdict = sa.func.coalesce(INBOX.c.verdict, "")
    of_kind = sa.and_(INBOX.c.kind.in_(TO_LOOK_AT), verdict != "right")
    return sa.or_(verdict == "wrong", of_kind)


def _is_turn(key: TurnKey) -> sa.ColumnElement[bool]:
    return sa.and_(*(INBOX.c[name] == value for name, value in key._asdict().items()))


def _marked(turn: InboxTurn, feedback: Feedback) -> InboxTurn:
    comment = "" if turn.masked else feedback.comment
    expected = feedback.expected or turn.expected
    return replace(turn, verdict=feedback.verdict, comment=comment, expected=expected)


def _mark(connection: sa.Connection, key: TurnKey, feedback: Feedback) -> int:
    # Who comments on a question repeats its words.
    values: dict[str, Any] = {
        "verdict": feedback.verdict,
        "comment": sa.case((INBOX.c.masked, ""), else_=feedback.comment),
    }
    if feedback.expected is not None:
        values["expected"] = feedback.expected
    change = INBOX.update().values(values).where(_is_turn(key))
    if feedback.session_id is not None:
        change = change.where(INBOX.c.session_id == feedback.session_id)
    return connection.execute(change).rowcount


def _look_back(connection: sa.Connection, turn: InboxTurn, hindsight: Hindsight) -> None:
    names = ("key_id", "adapter", "user_id", "session_id")
    same = sa.and_(*(INBOX.c[name] == getattr(turn, name) for name in names))
    last = sa.select(sa.func.max(INBOX.c.at)).where(same, INBOX.c.at < turn.at).scalar_subquery()
    values = {"kind": hindsight.kind, "expected": hindsight.expected}
    meant = sa.and_(INBOX.c.kind == hindsight.was, INBOX.c.template_id == hindsight.of)
    before = sa.and_(same, INBOX.c.at == last, meant)
    connection.execute(INBOX.update().values(values).where(before))
