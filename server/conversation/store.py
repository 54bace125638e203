"""Conversations: their messages, and what the database remembers, for whom, and how long."""

import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, Self

import sqlalchemy as sa

from server.conversation.serialization import context_from_json, context_to_json
from server.core.chat_messages import Message, SpeakerRole
from server.core.turn import NO_CONTEXT, Caller, ConversationContext
from server.metrics.metrics import Metrics
from server.settings.models import ConversationSettings
from server.storage.database import (
    BATCH_TIMEOUT_S,
    STORE_TIMEOUT_S,
    Database,
    UtcTime,
    put,
    utc_now,
)
from server.storage.write_behind import NotedBehind, WriteBehind
from server.workers.parent import Parent

_log = logging.getLogger(__name__)

_ROLES: Final[dict[str, SpeakerRole]] = {"user": "user", "assistant": "assistant"}
_PER_TURN: Final = 2
"""A turn is what a person said and what was replied."""


class ChatMemory:
    """Keeps the messages of the last `max_turns` turns, oldest first."""

    def __init__(self, max_turns: int = 10, messages: Iterable[Message] = ()) -> None:
        if max_turns < 1:
            raise ValueError(f"max_turns is {max_turns}, and one turn is the least")
        self._max_turns = max_turns
        self.messages: tuple[Message, ...] = tuple(messages)[-max_turns * _PER_TURN :]

    def add_message(self, role: str, content: str) -> None:
        """Add what was said; the oldest messages go when there are too many.

        Raises:
            ValueError: `role` is neither `user` nor `assistant`.
        """
        try:
            speaker = _ROLES[role]
        except KeyError:
            known = ", ".join(map(repr, _ROLES))
            raise ValueError(f"role {role!r} is not one of {known}") from None
        every = (*self.messages, Message(speaker, content))
        self.messages = every[-self._max_turns * _PER_TURN :]

    def get_history(self) -> list[dict[str, str]]:
        """Return every message as `{"role", "content"}`, in a new list."""
        return [{"role": message.role, "content": message.content} for message in self.messages]

    def clear(self) -> None:
        self.messages = ()

    def __len__(self) -> int:
        return len(self.messages)

    def __repr__(self) -> str:
        return f"ChatMemory(max_turns={self._max_turns}, messages={len(self)})"


class ConversationKey(NamedTuple):
    """Identifies a conversation of one key, adapter and user."""

    key_id: str
    adapter: str
    user_id: str
    session_id: str


def conversation_key(caller: Caller, session_id: str) -> ConversationKey:
    return ConversationKey(caller.key_id, caller.adapter, caller.user_id or "", session_id)


def conversation_key_columns(**how: Any) -> tuple[sa.Column[str], ...]:
    sizes = {"key_id": 64, "adapter": 255, "user_id": 255, "session_id": 128}
    return tuple(sa.Column(name, sa.String(size), **how) for name, size in sizes.items())


def is_conversation(table: sa.Table, place: ConversationKey) -> sa.ColumnElement[bool]:
    return sa.and_(*(table.c[name] == value for name, value in place._asdict().items()))


_WHAT: Final = "conversations"
_WRITE_EVERY_S: Final = 0.2
_TIDY_EVERY: Final = timedelta(seconds=10)

CONVERSATIONS: Final = sa.Table(
    "conversations",
    sa.MetaData(),
    *conversation_key_columns(primary_key=True),
    sa.Column("context", sa.Text, nullable=False),
    sa.Column("updated_at", UtcTime, nullable=False, index=True),
    sa.Index("conversations_of_key", "key_id", "updated_at"),
)


Kept = tuple[ConversationContext, datetime]
_Stored = tuple[str, datetime]
"""The same as it stands in the database."""


class ConversationStore:
    """What conversations remember, in the database of keys.

    A session id means something only together with its key, the adapter, and the user a
    gateway speaks for: somebody else's is another, empty conversation. On SQLite, which one
    server writes, what is to be remembered is written shortly after the answer, and seen by
    the next turn at once, whichever worker has it; elsewhere it is written before the answer.
    """

    def __init__(
        self,
        database: Database,
        settings: ConversationSettings,
        *,
        now: Callable[[], datetime] = utc_now,
        metrics: Metrics | None = None,
        parent: Parent | None = None,
    ) -> None:
        """`parent` is that of a worker, whose other workers see what is remembered here."""
        self._database = database
        self._now = now
        self._lasts = timedelta(hours=settings.expires_after_h)
        self._most = settings.max_sessions_per_key
        self.max_turns = settings.max_turns
        self._behind: WriteBehind[ConversationKey, Kept] | _NotedBehind
        if parent is not None and database.is_sqlite:
            self._behind = _NotedBehind(parent, self._write_batch, metrics)
        else:
            self._behind = WriteBehind[ConversationKey, Kept](
                self._write_batch, what=_WHAT, every_s=_WRITE_EVERY_S, metrics=metrics
            )
        self._tidied_at: datetime | None = None
        self._keys: set[str] = set()

    @classmethod
    def open(
        cls,
        url: str,
        settings: ConversationSettings,
        *,
        timeout_s: float = STORE_TIMEOUT_S,
        now: Callable[[], datetime] = utc_now,
        metrics: Metrics | None = None,
        migrate: bool = True,
        parent: Parent | None = None,
    ) -> Self:
        """Open the store. Blocks.

        Raises:
            StoreUnavailable: the database cannot be used.
        """
        database = Database.open(url, timeout_s=timeout_s, migrate=migrate)
        return cls(database, settings, now=now, metrics=metrics, parent=parent)

    async def close(self) -> None:
        await self._behind.close()
        await self._database.close()

    async def recall(self, caller: Caller, session_id: str) -> ConversationContext:
        """Return what the conversation remembers; nothing when it is new or expired.

        Raises:
            StoreUnavailable: the database cannot be read.
        """
        place = conversation_key(caller, session_id)
        kept = await self._behind.latest(place)
        if kept is None:
            kept = await self._database.run(lambda c: _read(c, place))
        if kept is None or kept[1] < self._now() - self._lasts:
            return NO_CONTEXT
        return kept[0]

    async def recall_latest(
        self, caller: Caller, session_ids: Sequence[str]
    ) -> tuple[str, ConversationContext] | None:
        """Return the first of several ids under which something is remembered, and what.

        Raises:
            StoreUnavailable: the database cannot be read.
        """
        places = [conversation_key(caller, session_id) for session_id in session_ids]
        latest = [(place, await self._behind.latest(place)) for place in places]
        kept = {place: found for place, found in latest if found is not None}
        stored = [place for place in places if place not in kept]
        if stored and stored[0] == places[0]:
            kept |= await self._database.run(lambda c: _read_several(c, stored))
        for place in places:
            if place in kept and kept[place][1] >= self._now() - self._lasts:
                return place.session_id, kept[place][0]
        return None

    async def remember(
        self,
        caller: Caller,
        session_id: str,
        context: ConversationContext,
        *,
        at_once: bool = False,
    ) -> None:
        """Replace what the conversation remembers; with `at_once` it is written on return.

        Raises:
            StoreUnavailable: it could not be written; on SQLite with `at_once` only.
        """
        place, kept = conversation_key(caller, session_id), (context, self._now())
        if self._database.is_sqlite and not at_once:
            self._behind.note(place, kept)
        else:
            await self._behind.drop(place)
            await self._write({place: kept})

    async def forget(self, caller: Caller, session_id: str) -> None:
        """Forget the caller's conversation; raise StoreUnavailable if that fails."""
        place = conversation_key(caller, session_id)
        await self._behind.drop(place)
        await self._database.run(
            lambda c: c.execute(CONVERSATIONS.delete().where(is_conversation(CONVERSATIONS, place)))
        )

    async def tidy(self) -> None:
        """Forget what has expired; raise StoreUnavailable if that fails."""
        late = CONVERSATIONS.c.updated_at < self._now() - self._lasts
        await self._database.run(
            lambda c: c.execute(CONVERSATIONS.delete().where(late)), timeout_s=BATCH_TIMEOUT_S
        )

    async def _write_batch(self, batch: Mapping[ConversationKey, Kept | _Stored]) -> None:
        await self._write(batch, timeout_s=BATCH_TIMEOUT_S)

    async def _write(
        self,
        batch: Mapping[ConversationKey, Kept | _Stored],
        *,
        timeout_s: float | None = None,
    ) -> None:
        now = self._now()
        self._keys |= {place.key_id for place in batch}
        due = self._tidied_at is None or now - self._tidied_at >= _TIDY_EVERY
        keys = tuple(sorted(self._keys)) if due else ()

        def work(connection: sa.Connection) -> None:
            # One order for all writers, so that two batches cannot wait for each other.
            rows = [
                {**place._asdict(), "context": _stored(context), "updated_at": updated_at}
                for place, (context, updated_at) in sorted(batch.items(), key=lambda each: each[0])
            ]
            put(connection, CONVERSATIONS, rows)
            if due:
                connection.execute(
                    CONVERSATIONS.delete().where(CONVERSATIONS.c.updated_at < now - self._lasts)
                )
            for key_id in keys:
                _keep_latest(connection, key_id, self._most)

        await self._database.run(work, timeout_s=timeout_s)
        if due:
            self._tidied_at = now
            self._keys.clear()


def _stored(context: ConversationContext | str) -> str:
    return context if isinstance(context, str) else context_to_json(context)


class _NotedBehind:
    """Keeps conversations in the supervisor, as text, until one of its workers has written them."""

    def __init__(
        self,
        parent: Parent,
        write: Callable[[Mapping[ConversationKey, Kept | _Stored]], Awaitable[None]],
        metrics: Metrics | None,
    ) -> None:
        self._write = write
        self._metrics = metrics
        self._behind = NotedBehind(
            parent, _WHAT, self._write_texts, every_s=_WRITE_EVERY_S, metrics=metrics
        )

    def note(self, place: ConversationKey, kept: Kept) -> None:
        try:
            text = json.dumps([context_to_json(kept[0]), kept[1].isoformat()])
        except (ValueError, TypeError) as failed:
            _log.error("one of the %s cannot be written, and is lost: %s", _WHAT, failed)
            if self._metrics is not None:
                self._metrics.values_lost(_WHAT)
            return
        self._behind.note(json.dumps(place), text)

    async def latest(self, place: ConversationKey) -> Kept | None:
        noted = await self._behind.latest(json.dumps(place))
        if noted is None:
            return None
        context, updated_at = _from_text(noted)
        return context_from_json(context), updated_at

    async def drop(self, place: ConversationKey) -> None:
        await self._behind.drop(json.dumps(place))

    async def close(self) -> None:
        await self._behind.close()

    async def _write_texts(self, texts: Mapping[str, str]) -> None:
        batch = {ConversationKey(*json.loads(key)): _from_text(text) for key, text in texts.items()}
        await self._write(batch)


def _from_text(text: str) -> _Stored:
    context, updated_at = json.loads(text)
    return context, datetime.fromisoformat(updated_at)


def _read(connection: sa.Connection, place: ConversationKey) -> Kept | None:
    asked = sa.select(CONVERSATIONS).where(is_conversation(CONVERSATIONS, place))
    row = connection.execute(asked).first()
    return None if row is None else _kept_in(place, row)


def _read_several(
    connection: sa.Connection, places: Sequence[ConversationKey]
) -> dict[ConversationKey, Kept]:
    """Read conversations that differ by their sessions alone."""
    columns, sessions = CONVERSATIONS.c, [place.session_id for place in places]
    mine = places[0]
    asked = sa.select(CONVERSATIONS).where(
        columns.key_id == mine.key_id,
        columns.adapter == mine.adapter,
        columns.user_id == mine.user_id,
        columns.session_id.in_(sessions),
    )
    found = dict[ConversationKey, Kept]()
    for row in connection.execute(asked):
        place = mine._replace(session_id=row.session_id)
        if (kept := _kept_in(place, row)) is not None:
            found[place] = kept
    return found


def _kept_in(place: ConversationKey, row: sa.Row[Any]) -> Kept | None:
    try:
        return context_from_json(row.context), row.updated_at
    except (ValueError, KeyError, TypeError) as unreadable:
        # Written by another version: better to begin anew than to answer nothing at all.
        _log.warning("what conversation %s remembers cannot be read: %s", place, unreadable)
        return None


def _keep_latest(connection: sa.Connection, key_id: str, most: int) -> None:
    of_key, updated_at = CONVERSATIONS.c.key_id == key_id, CONVERSATIONS.c.updated_at
    oldest = sa.select(updated_at).where(of_key).order_by(updated_at.desc())
    last = connection.execute(oldest.offset(most).limit(1)).scalar()
    if last is not None:
        connection.execute(CONVERSATIONS.delete().where(of_key, updated_at <= last))
