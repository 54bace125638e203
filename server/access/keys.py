"""The store of keys: making, checking, listing, revoking and rotating them."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Final, Self, TypeVar

import sqlalchemy as sa
from anyio import to_thread

from server.access import queries
from server.access.models import LONGEST_RAW, IssuedKey, KeyIssuer, KeyRecord, NewKey, key_id_of
from server.core.installation import command
from server.core.turn import Caller
from server.errors import (
    KeyExpired,
    KeyForeign,
    KeyMissing,
    KeyRevoked,
    KeyUnknown,
    RequestInvalid,
    StoreUnavailable,
)
from server.metrics.metrics import Metrics
from server.storage.announcements import Announcer
from server.storage.database import (
    BATCH_TIMEOUT_S,
    STORE_TIMEOUT_S,
    Database,
    is_new,
    open_database,
    unavailable,
    utc_now,
)
from server.storage.installation import InstallationSecret, check_secret
from server.storage.write_behind import WriteBehind

_log = logging.getLogger(__name__)

_T = TypeVar("_T")
_MOST_REMEMBERED: Final = 10_000
_THREADS: Final = 4
_WRITE_USES_EVERY_S: Final = 5.0


class KeyStore:
    """Keys in a database, of which only keyed hashes are stored.

    A verified key is remembered for `remember_s` seconds. A revoke is effective at
    once in the process that does it, and announced to every other; within that time it is
    effective there even if it is not heard.
    """

    def __init__(
        self,
        engine: sa.Engine,
        mint: KeyIssuer,
        *,
        timeout_s: float = STORE_TIMEOUT_S,
        remember_s: float = 2.0,
        now: Callable[[], datetime] = utc_now,
        clock_s: Callable[[], float] = monotonic,
        metrics: Metrics | None = None,
        announcer: Announcer | None = None,
    ) -> None:
        self._database = Database(engine, threads=_THREADS, timeout_s=timeout_s)
        self._announcer = announcer or Announcer.of_process()
        self._mint = mint
        self._now = now
        self._clock_s = clock_s
        self._remember_s = remember_s
        self._verified: dict[bytes, tuple[KeyRecord, float]] = {}
        """Records by digest, and when each is to be read again."""
        self._reading: dict[bytes, asyncio.Task[KeyRecord]] = {}
        """Reads under way: of many requests with one key that come together, one reads it."""
        self._changes = 0
        self._last_used = WriteBehind[str, datetime](
            self._write_uses, what="last uses of keys", every_s=_WRITE_USES_EVERY_S, metrics=metrics
        )

    @classmethod
    async def open(
        cls,
        url: str,
        secret: Path | InstallationSecret,
        *,
        timeout_s: float = STORE_TIMEOUT_S,
        remember_s: float = 2.0,
        now: Callable[[], datetime] = utc_now,
        clock_s: Callable[[], float] = monotonic,
        metrics: Metrics | None = None,
        migrate: bool = True,
        announcer: Announcer | None = None,
    ) -> Self:
        """Open the store at a database URL, making database and secret if there are none.

        What is changed is announced to other processes by the `announcer`. An older schema is
        refused without `migrate`. A check of a key waits `timeout_s` for the database, and no
        longer. Raises `StoreUnavailable`: the database cannot be used; or
        `ConfigurationInvalid`: the secret cannot be used, or is not that of the database.
        """
        engine, mint = await to_thread.run_sync(partial(_prepare, url, secret, migrate=migrate))
        times = {"timeout_s": timeout_s, "remember_s": remember_s}
        return cls(
            engine, mint, now=now, clock_s=clock_s, metrics=metrics, announcer=announcer, **times
        )

    async def close(self) -> None:
        """Write down the last uses and let go of the database."""
        await self._last_used.close()
        await self._database.close()

    async def authenticate(self, raw: str, *, sample_allowed: bool = False) -> Caller:
        """Return whose key `raw` is.

        `sample_allowed` says that this client may use a sample key: that it is on this machine,
        and that the configuration has not switched them off. Raises `KeyMissing`, `KeyUnknown`,
        `KeyExpired`, `KeyRevoked`; or `KeyForeign`: a sample key where none is allowed; or
        `StoreUnavailable`: the database cannot be used; the log says why.
        """
        if not raw:
            raise KeyMissing("this call needs a key")
        if len(raw) > LONGEST_RAW:
            raise KeyUnknown("this is longer than any key")
        digest = self._mint.digest(raw)
        record, stale_at_s = self._verified.get(digest, (None, 0.0))
        if record is None or stale_at_s <= self._clock_s():
            record = await self._read_once(raw, digest)
        now = self._now()
        _refuse_unusable(record, now, sample_allowed=sample_allowed)
        self._last_used.note(record.key_id, now)
        return record.caller()

    def remembers(self, raw: str) -> bool:
        """Return whether `raw` was found to be a key here not long ago."""
        return len(raw) <= LONGEST_RAW and self._mint.digest(raw) in self._verified

    def fingerprint(self, raw: str) -> str:
        """Return what tells a key from others, and from which nobody can make it."""
        return self._mint.digest(raw[:LONGEST_RAW]).hex()

    async def _read_once(self, raw: str, digest: bytes) -> KeyRecord:
        reading = self._reading.get(digest)
        if reading is None:
            reading = asyncio.create_task(self._read(raw, digest))
            self._reading[digest] = reading
            reading.add_done_callback(partial(self._forget_reading, digest))
        return await asyncio.shield(reading)

    def _forget_reading(self, digest: bytes, done: "asyncio.Task[KeyRecord]") -> None:
        if self._reading.get(digest) is done:
            del self._reading[digest]
        if not done.cancelled():
            done.exception()  # whoever asked may have left

    async def _read(self, raw: str, digest: bytes) -> KeyRecord:
        changes = self._changes
        key_id = key_id_of(raw, digest)
        try:
            record = await self._database.run(lambda c: queries.verified(c, key_id, digest))
        except StoreUnavailable as failure:
            # Whoever presents a key may be anybody: where the keys are is not for them.
            _log.error("%s", failure)
            raise StoreUnavailable("keys cannot be checked at the moment", shown=True) from failure
        if changes == self._changes:  # a record read before a revoke is not remembered after it
            self._verified.pop(digest, None)
            self._verified[digest] = record, self._clock_s() + self._remember_s
            if len(self._verified) > _MOST_REMEMBERED:
                del self._verified[next(iter(self._verified))]
        return record

    async def create(self, new: NewKey) -> tuple[str, KeyRecord]:
        """Make a key and return it, raw, for the only time, with its record."""
        minted = self._mint.issue()
        record = self._record(minted, new)
        await self._database.run(lambda c: queries.insert_key(c, record, minted.digest))
        return minted.raw, record

    async def create_sample(self, adapter: str, raw: str) -> KeyRecord:
        """Make the well-known key `raw`, or make it good again if it was revoked.

        Raises `RequestInvalid`: `raw` looks like an issued key, or opens another adapter already.
        """
        if not 0 < len(raw) <= LONGEST_RAW or raw.startswith("orb_"):
            raise RequestInvalid(f"{raw!r} cannot be a sample key")
        minted = self._mint.sample(raw)
        record = replace(self._record(minted, NewKey(adapter, label="sample")), sample=True)
        await self._change(lambda c: queries.put_sample(c, record, minted.digest))
        return record

    async def list(self) -> tuple[KeyRecord, ...]:
        """Every key there is, oldest first, revoked and expired ones included."""
        await self._last_used.flush()
        return await self._database.run(queries.list_records)

    async def get(self, key_id: str) -> KeyRecord:
        """Return what is known of a key. Raises `KeyNotFound`: there is none of that id."""
        return await self._database.run(lambda c: queries.get_record(c, key_id))

    async def samples(self, raws: Mapping[str, str]) -> dict[str, str]:
        """Return those of `raws`, sample keys by adapter, that were made and not revoked."""
        minted = {adapter: self._mint.sample(raw) for adapter, raw in raws.items()}

        def work(connection: sa.Connection) -> dict[str, str]:
            return {
                adapter: key.raw
                for adapter, key in minted.items()
                if queries.sample_adapter(connection, key.key_id, key.digest) == adapter
            }

        return await self._database.run(work)

    async def expired_of(self, label: str, *, since: timedelta) -> tuple[str, ...]:
        """Return the ids of keys of a label that expired longer ago than `since`."""
        before = self._now() - since
        return await self._database.run(lambda c: queries.expired_of(c, label, before))

    async def delete(self, key_ids: Collection[str]) -> None:
        """Delete keys, so that nothing is known of them any more."""
        await self._change(lambda c: queries.delete_keys(c, key_ids))

    async def revoke(self, key_id: str) -> KeyRecord:
        """End a key for good. Revoking it again changes nothing.

        Raises `KeyNotFound`: there is no key of that id.
        """
        now = self._now()
        return await self._change(lambda c: queries.revoke_record(c, key_id, now))

    async def rotate(self, key_id: str, *, grace: timedelta | None = None) -> tuple[str, KeyRecord]:
        """Replace a key by a new one that opens the same, and return that one.

        The new key lives as long as the old one was given. The old one ends now, or goes on for
        `grace`, never beyond its own expiry. Raises `KeyNotFound`: there is no key of that id; or
        `KeyUnchangeable`: it was revoked, so there is nothing to carry on, or is a sample key.
        """
        now = self._now()
        minted = self._mint.issue()
        record = await self._change(lambda c: queries.rotate_record(c, key_id, minted, now, grace))
        return minted.raw, record

    def _record(self, minted: IssuedKey, new: NewKey) -> KeyRecord:
        now = self._now()
        return KeyRecord(
            key_id=minted.key_id,
            adapter=new.adapter,
            user_id=new.user_id,
            role=new.role,
            limits=new.limits,
            label=new.label,
            sample=False,
            created_at=now,
            expires_at=None if new.expires_in is None else now + new.expires_in,
        )

    async def _write_uses(self, uses: Mapping[str, datetime]) -> None:
        await self._database.run(lambda c: queries.note_uses(c, uses), timeout_s=BATCH_TIMEOUT_S)

    async def _change(self, job: Callable[[sa.Connection], _T]) -> _T:
        def work(connection: sa.Connection) -> _T:
            changed = job(connection)
            self._announcer.write(connection, "keys")
            return changed

        try:
            return await self._database.run(work)
        finally:
            self.forget()

    def forget(self) -> None:
        """Read every key again, since some have changed."""
        self._changes += 1
        self._verified.clear()
        self._reading.clear()


def _prepare(
    url: str, given: Path | InstallationSecret, *, migrate: bool
) -> tuple[sa.Engine, KeyIssuer]:
    secret = given if isinstance(given, InstallationSecret) else InstallationSecret.in_file(given)
    new = is_new(url)
    engine = open_database(url, migrate=migrate)
    check_secret(engine, secret)
    if new and not secret.is_new:
        _log.warning(
            "%s is new, though there is a secret for keys that were made before: if there were "
            "any, restore both from a backup, or make the keys again",
            engine.url.database,
        )
    orphans = _count_keys(engine)
    if secret.is_new and orphans:
        _log.warning(
            "%s was missing and has been made anew: none of the %d keys in the database "
            "works with it; restore the file from a backup, or make the keys again",
            secret.place,
            orphans,
        )
    return engine, KeyIssuer(secret.value)


def _count_keys(engine: sa.Engine) -> int:
    """Raise `StoreUnavailable` at once where no key could be checked."""
    try:
        with engine.connect() as connection:
            return queries.count(connection)
    except sa.exc.DBAPIError as failure:
        engine.dispose()
        raise unavailable(engine, failure) from failure


def _refuse_unusable(record: KeyRecord, now: datetime, *, sample_allowed: bool) -> None:
    state = record.state(now)
    if state == "revoked":
        raise KeyRevoked(f"key {record.key_id} was revoked")
    if state == "expired":
        raise KeyExpired(f"key {record.key_id} has expired")
    if record.sample and not sample_allowed:
        raise KeyForeign(
            "this is a sample key, which works only for clients on the server's own machine, and "
            f"only while 'sample_keys' is on: make a real one with '{command('keys', 'create')}'"
        )
