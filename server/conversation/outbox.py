"""Commit events: kept with the call that they report, and delivered at least once each."""

import asyncio
import hmac
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from time import time
from typing import Final

import httpx
import sqlalchemy as sa

from server import __version__
from server.core.json import to_json
from server.errors import StoreUnavailable
from server.metrics.metrics import Metrics
from server.settings.models import CommitsSettings, WebhookSettings
from server.storage.database import BATCH_TIMEOUT_S, Database, UtcTime, utc_now

_log = logging.getLogger(__name__)

COMMIT: Final = "J01"
ID: Final = "Idempotency-Key"
SIGNATURE: Final = "X-Orbit-Signature"

_LOOK_EVERY_S: Final = 2.0
"""How often to look for what others left, or what is to be tried again."""
_AT_ONCE: Final = 8
_LEASE_MARGIN_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class CommitEvent:
    """A confirmed call. Its `id` is the same for every delivery, and unique."""

    id: str
    at: datetime
    intent: str
    target: str | None
    session_id: str

    def to_text(self) -> str:
        """Return the event as it is sent, logged and kept: JSON."""
        return to_json(
            {
                "event": COMMIT,
                "id": self.id,
                "time": self.at.astimezone(UTC).isoformat(timespec="milliseconds"),
                "intent": self.intent,
                "target": self.target,
                "session_id": self.session_id,
                "status": "COMMITTED",
            }
        )


EVENTS: Final = sa.Table(
    "commit_events",
    sa.MetaData(),
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("at", UtcTime, nullable=False, index=True),
    sa.Column("intent", sa.String(255), nullable=False),
    sa.Column("target", sa.Text),
    sa.Column("session_id", sa.String(128), nullable=False),
    sa.Column("event", sa.Text, nullable=False),
    sa.Column("due_at", UtcTime, index=True),
    sa.Column("leased_by", sa.String(32)),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("delivered_at", UtcTime),
    sa.Column("failure", sa.Text, nullable=False, server_default=""),
)
"""`event` is the body that is sent. `due_at` is when it is to be tried (again): empty when
nobody is to be sent it, when it was delivered, and when it was given up. While a server is
trying, `due_at` is when another one may."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """One event to be delivered; `attempts` counts this one."""

    id: str
    body: str
    at: datetime
    attempts: int


def insert_event(connection: sa.Connection, event: CommitEvent, *, to_deliver: bool) -> None:
    due_at = event.at if to_deliver else None
    row = {**asdict(event), "event": event.to_text(), "due_at": due_at, "attempts": 0}
    connection.execute(EVENTS.insert(), row)


def claim(
    connection: sa.Connection,
    worker: str,
    now: datetime,
    *,
    lease: timedelta,
    longest: timedelta,
    most: int,
) -> Sequence[Parcel]:
    """Lease the events that are due, oldest first; no other server gets them meanwhile.

    None is ever put off for longer than `longest`: one that is was so before the clock was set
    back, and is due.
    """
    due = sa.or_(EVENTS.c.due_at <= now, EVENTS.c.due_at > now + longest)
    asked = sa.select(EVENTS.c.id).where(due).order_by(EVENTS.c.at, EVENTS.c.id).limit(most)
    ids = connection.execute(asked).scalars().all()
    leased = {"due_at": now + lease, "leased_by": worker, "attempts": EVENTS.c.attempts + 1}
    change = EVENTS.update().values(leased)
    won = [id_ for id_ in ids if connection.execute(change.where(EVENTS.c.id == id_, due)).rowcount]
    if not won:
        return ()
    mine = sa.select(EVENTS.c.id, EVENTS.c.event, EVENTS.c.at, EVENTS.c.attempts)
    rows = connection.execute(mine.where(EVENTS.c.id.in_(won)).order_by(EVENTS.c.at, EVENTS.c.id))
    return tuple(Parcel(*row) for row in rows)


def delivered(connection: sa.Connection, id_: str, now: datetime, *, keep: bool) -> None:
    if not keep:
        connection.execute(EVENTS.delete().where(EVENTS.c.id == id_))
        return
    values = {"due_at": None, "leased_by": None, "delivered_at": now, "failure": ""}
    connection.execute(EVENTS.update().where(EVENTS.c.id == id_).values(values))


def failed(
    connection: sa.Connection, parcel: Parcel, worker: str, why: str, again_at: datetime | None
) -> None:
    """Note a failure, and when to try again; without a time, never."""
    mine = sa.and_(EVENTS.c.id == parcel.id, EVENTS.c.leased_by == worker)
    values = {"due_at": again_at, "leased_by": None, "failure": why[:1000]}
    connection.execute(EVENTS.update().where(mine).values(values))


def waiting(connection: sa.Connection) -> int:
    asked = sa.select(sa.func.count()).where(EVENTS.c.due_at.is_not(None))
    return connection.execute(asked).scalar_one()


def delete_events_before(connection: sa.Connection, end: datetime) -> None:
    over = sa.and_(EVENTS.c.at < end, EVENTS.c.due_at.is_(None))
    connection.execute(EVENTS.delete().where(over))


class Undelivered(Exception):
    """The receiver did not take an event; the message says why, and holds no secret."""


def sign_event(secret: bytes, stamp: int, body: bytes) -> str:
    """Return `t=STAMP,v1=HEX`, an HMAC-SHA-256 over the stamp, a point and the body."""
    signed = hmac.new(secret, f"{stamp}.".encode() + body, "sha256").hexdigest()
    return f"t={stamp},v1={signed}"


class Webhook:
    """One receiver, which confirms an event by a status of 200 to 299."""

    def __init__(
        self, url: str, secret: bytes, timeout_s: float, *, clock_s: Callable[[], float] = time
    ) -> None:
        self._url = url
        self._secret = secret
        self._timeout_s = timeout_s
        self._clock_s = clock_s
        self._client = httpx.AsyncClient(timeout=timeout_s, trust_env=False)

    async def send(self, event_id: str, body: str) -> None:
        """Deliver one event.

        Raises:
            Undelivered: it was not taken, or it is unknown whether it was.
        """
        content = body.encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"orbit/{__version__}",
            ID: event_id,
            SIGNATURE: sign_event(self._secret, int(self._clock_s()), content),
        }
        try:
            answer = await self._client.post(self._url, content=content, headers=headers)
        except httpx.TimeoutException:
            raise Undelivered(f"no answer within {self._timeout_s:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as failed:
            raise Undelivered(f"it cannot be reached ({type(failed).__name__})") from None
        if not answer.is_success:
            raise Undelivered(f"it answered {answer.status_code}")

    async def close(self) -> None:
        await self._client.aclose()


class Commits:
    """Makes and keeps commit events, and signals when one has to be delivered."""

    def __init__(self, settings: CommitsSettings) -> None:
        self._logs = settings.log
        self._kept_for = timedelta(days=settings.keep_days)
        self.keeps = settings.outbox
        self.delivers = settings.webhook.url is not None
        self.fresh = asyncio.Event()
        """Set when there is an event that was not delivered yet."""

    async def tidy(self, database: Database) -> None:
        """Delete events that were kept long enough; raise StoreUnavailable if that fails."""
        end = utc_now() - self._kept_for
        await database.run(lambda c: delete_events_before(c, end), timeout_s=BATCH_TIMEOUT_S)

    def event(self, intent: str, target: str | None, session_id: str, at: datetime) -> CommitEvent:
        return CommitEvent(token_hex(16), at, intent, target, session_id)

    def write(self, connection: sa.Connection, event: CommitEvent) -> None:
        if self.keeps or self.delivers:
            insert_event(connection, event, to_deliver=self.delivers)

    def written(self, event: CommitEvent) -> None:
        """Log an event and wake the delivery, after its transaction has succeeded."""
        if self._logs:
            _log.info("%s %s", COMMIT, event.to_text())
        if self.delivers:
            self.fresh.set()


class Delivery:
    """Sends the events of the table, each leased while it is sent; several servers may do so.

    Where the sender is ended in between, or the answer is lost, an event is sent again: a
    receiver that must act once goes by its `id`, which is also the idempotency key.
    """

    def __init__(
        self,
        database: Database,
        commits: Commits,
        webhook: Webhook,
        settings: WebhookSettings,
        metrics: Metrics,
        *,
        now: Callable[[], datetime] = utc_now,
        look_every_s: float = _LOOK_EVERY_S,
    ) -> None:
        self._database = database
        self._commits = commits
        self._webhook = webhook
        self._settings = settings
        self._metrics = metrics
        self._now = now
        self._look_every_s = look_every_s
        self._worker = token_hex(8)

    async def run(self) -> None:
        """Deliver whatever is due, and wait for more; ends only when it is cancelled."""
        while True:
            self._commits.fresh.clear()
            try:
                tried = await self.deliver_due()
            except StoreUnavailable as failure:
                _log.warning("commit events cannot be delivered yet: %s", failure)
                tried = 0
            if tried < _AT_ONCE:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._look_every_s):
                        await self._commits.fresh.wait()

    async def deliver_due(self) -> int:
        """Try what is due now, once; return how many that were.

        Raises:
            StoreUnavailable: the table cannot be used.
        """
        lease = timedelta(seconds=self._settings.timeout_s + _LEASE_MARGIN_S)
        longest = max(lease, timedelta(seconds=self._settings.longest_retry_s))
        now = self._now()
        parcels = await self._database.run(
            lambda c: claim(c, self._worker, now, lease=lease, longest=longest, most=_AT_ONCE)
        )
        await asyncio.gather(*map(self._deliver, parcels))
        self._metrics.commits_waiting(await self._database.run(waiting))
        return len(parcels)

    async def close(self) -> None:
        await self._webhook.close()

    async def _deliver(self, parcel: Parcel) -> None:
        try:
            await self._webhook.send(parcel.id, parcel.body)
        except Undelivered as failed:
            await self._put_off(parcel, str(failed))
            return
        self._metrics.commit_delivery("delivered")
        now, keep = self._now(), self._commits.keeps
        await self._database.run(lambda c: delivered(c, parcel.id, now, keep=keep))

    async def _put_off(self, parcel: Parcel, why: str) -> None:
        now = self._now()
        pause_s = min(
            self._settings.first_retry_s * 2.0 ** min(parcel.attempts - 1, 30),
            self._settings.longest_retry_s,
        )
        again_at: datetime | None = now + timedelta(seconds=pause_s)
        if now - parcel.at >= timedelta(hours=self._settings.give_up_after_h):
            again_at = None
            _log.error("commit event %s is given up: %s", parcel.id, why)
        elif parcel.attempts == 1:
            _log.warning("commit event %s: the receiver is tried again: %s", parcel.id, why)
        self._metrics.commit_delivery("failed" if again_at is not None else "given_up")
        await self._database.run(lambda c: failed(c, parcel, self._worker, why, again_at))


def open_delivery(
    database: Database, commits: Commits, settings: CommitsSettings, metrics: Metrics
) -> Delivery | None:
    """Return the delivery that the settings describe, or None without a receiver."""
    webhook = settings.webhook
    if webhook.url is None or webhook.secret is None:
        return None
    secret = webhook.secret.get_secret_value().encode()
    sender = Webhook(webhook.url, secret, webhook.timeout_s)
    return Delivery(database, commits, sender, webhook, metrics)
