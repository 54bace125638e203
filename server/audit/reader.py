"""Looking into the audit while a server writes it: the newest entries that fit, and the chain."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Final

from server.audit.entry import AuditEntry, AuditSeal, AuditVerdict, Sink, verify_chain
from server.errors import RequestInvalid, StoreUnavailable
from server.storage.database import BATCH_TIMEOUT_S
from server.storage.threads import BlockingCalls, CallTimedOut

_MOST_LOOKED_AT: Final = 20_000
_THREADS: Final = 2


@dataclass(frozen=True, slots=True)
class WantedEntries:
    """What entries have to be: fields with these values, written in this span of time."""

    fields: Mapping[str, str] = field(default_factory=dict)
    since: str = ""
    until: str = ""

    def fit(self, entry: AuditEntry) -> bool:
        known = {"kind": "call"} | dict(entry.event)  # older entries are of calls, and say no kind
        at = str(known.get("at", ""))
        return (
            all(known.get(name) == value for name, value in self.fields.items())
            and self.since <= at
            and (not self.until or at < self.until)
        )


@dataclass(frozen=True, slots=True)
class FoundEntries:
    """Entries, newest first. Older ones follow before entry `next_before`, if there are any."""

    entries: tuple[AuditEntry, ...]
    next_before: int | None


def utc_time(text: str) -> str:
    """Return a time as entries write it, in UTC; one without a zone is this machine's.

    Raises `RequestInvalid`: it is no time.
    """
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError):
        raise RequestInvalid(f"{text!r} is no time; write it as 2025-03-04T10:00") from None


class AuditReader:
    """Reads a trail in threads of its own, so that neither answers nor its writer wait."""

    def __init__(self, sink: Sink, seal: AuditSeal) -> None:
        self._sink = sink
        self._seal = seal
        self._searches = BlockingCalls(threads=_THREADS)
        self._checks = BlockingCalls(threads=1)
        self._checking: asyncio.Task[AuditVerdict] | None = None

    async def search(
        self, wanted: WantedEntries, *, limit: int, before: int | None = None
    ) -> FoundEntries:
        """Return at most `limit` entries that fit, of numbers below `before`.

        One search looks at so many entries and no more: it may find fewer, though there are more.
        Raises `StoreUnavailable`: the trail cannot be read, or not in time.
        """
        find = partial(self._find, wanted, limit, before)
        try:
            return await self._searches.run(find, timeout_s=BATCH_TIMEOUT_S)
        except (CallTimedOut, OSError) as failed:
            raise StoreUnavailable(f"the audit cannot be read: {failed}") from failed

    def _find(self, wanted: WantedEntries, limit: int, before: int | None) -> FoundEntries:
        found: list[AuditEntry] = []
        for looked_at, entry in enumerate(self._sink.newest(before=before), 1):
            if wanted.fit(entry):
                found.append(entry)
            if len(found) == limit or looked_at == _MOST_LOOKED_AT:
                return FoundEntries(tuple(found), entry.number if entry.number > 1 else None)
        return FoundEntries(tuple(found), None)

    async def verify(self) -> AuditVerdict:
        """Check the whole trail. Whoever asks while it is being checked gets the same verdict.

        Raises `StoreUnavailable`: it cannot be read.
        """
        if self._checking is None or self._checking.done():
            check = partial(verify_chain, self._sink, self._seal)
            self._checking = asyncio.create_task(self._checks.run(check))
        try:
            return await asyncio.shield(self._checking)
        except OSError as failed:
            raise StoreUnavailable(f"the audit cannot be read: {failed}") from failed

    def close(self) -> None:
        """Let the threads end; the sink is its writer's to close."""
        self._searches.close()
        self._checks.close()
