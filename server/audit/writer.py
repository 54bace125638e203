"""Writing the audit in the background, or at once where the caller has to be sure."""

import asyncio
import itertools
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from secrets import token_hex
from typing import Any, Final, TypeVar

from server.audit.entry import AuditEntry, AuditSeal, Event, Settling, Sink, to_row
from server.audit.file import FileSink
from server.audit.head import KeptHead
from server.audit.table import TableSink
from server.errors import OrbitError, StoreUnavailable, ValueRefused
from server.metrics.metrics import Metrics
from server.settings.models import Settings
from server.storage.database import BATCH_TIMEOUT_S, STORE_TIMEOUT_S
from server.storage.installation import InstallationSecret
from server.storage.threads import BlockingCalls, CallTimedOut
from server.storage.write_behind import WriteBehind

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

_WRITE_EVERY_S: Final = 0.2
_SETTLE_EVERY_S: Final = 300.0
_UNFINISHED: Final = "the server was ended before it wrote how: whether it was done is not known"


class AuditWriter:
    """Writes events to a sink, in the order in which they came.

    What cannot be written waits until it can be, and what must be written first waits behind it.
    """

    def __init__(
        self,
        sink: Sink,
        metrics: Metrics | None = None,
        *,
        timeout_s: float = STORE_TIMEOUT_S,
        one_process: bool = True,
    ) -> None:
        """`timeout_s` is how long anybody waits for the sink.

        Without `one_process`, others write to it at the same time, whatever it is.
        """
        self._sink = sink
        self._one_process = one_process
        self._timeout_s = timeout_s
        self._noted = itertools.count()
        self._last_noted = -1
        self._behind = WriteBehind[int, Event](
            self._write_noted, what="audit events", every_s=_WRITE_EVERY_S, metrics=metrics
        )
        self._calls = BlockingCalls(threads=1)  # one entry follows the other
        self._scans = BlockingCalls(threads=1)
        self._writing: set[asyncio.Task[None]] = set()
        self._process = token_hex(6)
        self._call_numbers = itertools.count(1)

    def new_call_id(self) -> str:
        """Return what the entries of one call, or of one change, shall have in common."""
        return f"{self._process}-{next(self._call_numbers)}"

    def note(self, event: Event) -> None:
        """Write an event soon."""
        self._last_noted = next(self._noted)
        self._behind.note(self._last_noted, event)

    async def write(self, event: Event) -> None:
        """Write an event after all that were noted, and return when it is written.

        Raises `StoreUnavailable`: it could not be, or not in time. One that is late is left out,
        unless its writing had begun.
        """
        late = False

        async def write_in_time() -> None:
            last = self._last_noted
            await self.flush()
            if self._behind.get(last) is not None:
                raise StoreUnavailable("the audit is behind, and cannot be written at the moment")
            if not late:
                await self._append([event])

        task = self._start(write_in_time())
        task.add_done_callback(_look_at_failure)
        try:
            done, _ = await asyncio.wait({task}, timeout=self._timeout_s)
        finally:
            late = True
        if not done:
            raise StoreUnavailable("the audit is not written in time")
        task.result()

    async def record(self, event: Event) -> None:
        """Write an event of what has happened, and return when it is written.

        One that cannot be written in time waits with those that were noted.
        """
        self.note(event)
        await self.written()

    async def written(self) -> None:
        """Return when everything noted so far is written, or when that takes too long."""
        last = self._last_noted
        await asyncio.wait({self._start(self.flush())}, timeout=self._timeout_s)
        if self._behind.get(last) is not None:
            _log.warning("an answer goes out before its entry in the audit is written")

    def _start(self, writing: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Begin to write, in a task that nobody who leaves takes with them."""
        task = asyncio.create_task(writing)
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)
        return task

    async def flush(self) -> None:
        """Return when everything noted so far has been tried."""
        await self._behind.flush()

    async def serve(self, longest_call_s: float) -> None:
        """Tell of entries that are gone, and end what other processes began; until cancelled.

        A sink that one server at a time writes to has no other at the start, so that whatever is
        unfinished there stays so; else what began longer ago than any call may take.
        """
        everything = self._sink.one_server and self._one_process
        while True:
            try:
                await self._calls.run(partial(self._sink.append, []))
                await self._settle(timedelta() if everything else timedelta(seconds=longest_call_s))
                everything = False
            except (StoreUnavailable, CallTimedOut, OSError) as failed:
                _log.warning("unfinished calls in the audit are not looked for yet: %s", failed)
            await asyncio.sleep(_SETTLE_EVERY_S)

    async def _settle(self, age: timedelta) -> None:
        head = await self._scan(self._sink.head)
        if head is None:
            return
        began_before = (datetime.now(UTC) - age).isoformat(timespec="milliseconds")
        left, settled = await self._scan(partial(self._unfinished, head.settled, began_before))
        if settled == head.settled and not left:
            return
        rows = [_interrupted(entry) for entry in left]
        settling = Settling(head.settled, settled)
        await self._calls.run(partial(self._sink.append, rows, settling=settling))
        if rows:
            _log.warning("%d calls in the audit had begun and were not seen to end", len(rows))

    async def _scan(self, job: Callable[[], _T]) -> _T:
        return await self._scans.run(job, timeout_s=BATCH_TIMEOUT_S)

    def _unfinished(self, settled: int, began_before: str) -> tuple[list[AuditEntry], int]:
        """Return what other processes left unfinished, and up to where all else has ended."""
        open_calls: dict[str, AuditEntry] = {}
        last = settled
        for entry in self._sink.entries(after=settled):
            last = max(last, entry.number)
            call_id = entry.event.get("call_id")
            if not isinstance(call_id, str):
                continue
            if entry.event.get("outcome") == "started":
                open_calls[call_id] = entry
            else:
                open_calls.pop(call_id, None)
        left = [
            entry
            for call_id, entry in open_calls.items()
            if not call_id.startswith(self._process) and str(entry.event.get("at")) <= began_before
        ]
        waiting = {entry.number for entry in open_calls.values()} - {e.number for e in left}
        return left, min(waiting, default=last + 1) - 1

    async def close(self) -> None:
        await self._behind.close(within_s=self._timeout_s)
        self._calls.close()
        self._scans.close()
        self._sink.close()

    async def _write_noted(self, noted: Mapping[int, Event]) -> None:
        await self._append(list(noted.values()))

    async def _append(self, events: Sequence[Event]) -> None:
        await self._calls.run(partial(self._append_rows, events))

    def _append_rows(self, events: Sequence[Event]) -> None:
        try:
            self._sink.append([to_row(event) for event in events])
        except OrbitError:
            raise
        except Exception as failed:  # a database driver may raise anything
            raise ValueRefused(f"the audit cannot be written: {failed}") from failed


def _interrupted(started: AuditEntry) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return {**started.event, "at": now, "outcome": "interrupted", "reason": _UNFINISHED}


def _look_at_failure(written: "asyncio.Task[None]") -> None:
    """Whoever waited may have left, so that a failure would be reported as unseen."""
    if not written.cancelled():
        written.exception()


def open_sink(settings: Settings) -> tuple[Sink, AuditSeal] | None:
    """Return the configured sink and the seal of its chain, or None when nothing is kept. Blocks.

    Raises `StoreUnavailable`: it cannot be used; or `ConfigurationInvalid`: the secret of the
    installation cannot be used.
    """
    audit = settings.access.audit
    if audit.sink == "off":
        return None
    seal = AuditSeal(InstallationSecret.of(settings).value)
    url, migrate = settings.database_url, settings.may_migrate
    if audit.sink == "sql":
        return TableSink(url, seal, migrate=migrate), seal
    path = audit.path or settings.data_dir / "audit" / "audit.jsonl"
    size = audit.max_file_mb * 1_000_000
    head = KeptHead(url, "jsonl", seal, migrate=migrate)
    return FileSink(path, seal, head, max_bytes=size, keep=audit.keep_files), seal
