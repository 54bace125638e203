"""Writing the audit in the background, or at once where the caller has to be sure."""

import asyncio
import itertools
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from server.audit.entry import AuditSeal, Event, Sink, to_row
from server.audit.file import FileSink
from server.audit.table import TableSink
from server.errors import OrbitError, StoreUnavailable, ValueRefused
from server.metrics.metrics import Metrics
from server.settings.models import Settings
from server.storage.database import STORE_TIMEOUT_S
from server.storage.files import load_or_create_secret
from server.storage.threads import BlockingCalls
from server.storage.write_behind import WriteBehind

_log = logging.getLogger(__name__)

_WRITE_EVERY_S: Final = 0.2


class AuditWriter:
    """Writes events to a sink, in the order in which they came."""

    def __init__(
        self, sink: Sink, metrics: Metrics | None = None, *, timeout_s: float = STORE_TIMEOUT_S
    ) -> None:
        """`timeout_s` is how long anybody waits for the sink."""
        self._sink = sink
        self._metrics = metrics
        self._timeout_s = timeout_s
        self._noted = itertools.count()
        self._behind = WriteBehind[int, Event](
            self._write_noted, what="audit events", every_s=_WRITE_EVERY_S, metrics=metrics
        )
        self._calls = BlockingCalls(threads=1)  # one entry follows the other
        self._writing: set[asyncio.Task[None]] = set()

    def note(self, event: Event) -> None:
        """Write an event soon. One that cannot be written is logged, and lost."""
        self._behind.note(next(self._noted), event)

    async def write(self, event: Event) -> None:
        """Write an event after all that were noted, and return when it is written.

        Raises `StoreUnavailable`: it could not be, or not in time. One that is late is left out,
        unless its writing had begun.
        """
        deadline_s = asyncio.get_running_loop().time() + self._timeout_s
        task = asyncio.create_task(self._write_by(event, deadline_s))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)
        done, _ = await asyncio.wait({task}, timeout=self._timeout_s)
        if not done:
            task.add_done_callback(_tell_if_it_fails)
            raise StoreUnavailable("the audit is not written in time")
        task.result()

    async def _write_by(self, event: Event, deadline_s: float) -> None:
        await self.flush()
        if asyncio.get_running_loop().time() < deadline_s:
            await self._append([event])

    async def flush(self) -> None:
        """Return when everything noted so far has been tried."""
        await self._behind.flush()

    async def close(self) -> None:
        await self._behind.close(within_s=self._timeout_s)
        self._calls.close()
        self._sink.close()

    async def _write_noted(self, noted: Mapping[int, Event]) -> None:
        try:
            await self._append(list(noted.values()))
        except ValueRefused:
            raise  # each is then tried alone
        except StoreUnavailable as failed:
            _log.error("%d audit events are lost: %s", len(noted), failed)
            if self._metrics is not None:
                self._metrics.values_lost("audit events", len(noted))

    async def _append(self, events: Sequence[Event]) -> None:
        await self._calls.run(partial(self._append_rows, events))

    def _append_rows(self, events: Sequence[Event]) -> None:
        try:
            self._sink.append([to_row(event) for event in events])
        except OrbitError:
            raise
        except Exception as failed:  # a database driver may raise anything
            raise ValueRefused(f"the audit cannot be written: {failed}") from failed


def _tell_if_it_fails(late: "asyncio.Task[None]") -> None:
    if not late.cancelled() and (failed := late.exception()) is not None:
        _log.error("an audit event is lost: %s", failed)


def open_sink(settings: Settings) -> tuple[Sink, AuditSeal] | None:
    """Return the configured sink and the seal of its chain, or None when nothing is kept. Blocks.

    Raises `StoreUnavailable`: it cannot be used; or `ConfigurationInvalid`: the secret of the
    installation cannot be used.
    """
    audit = settings.access.audit
    if audit.sink == "off":
        return None
    found, _ = load_or_create_secret(settings.secret_path)
    seal = AuditSeal(found)
    if audit.sink == "sql":
        return TableSink(settings.database_url, seal, migrate=settings.may_migrate), seal
    path = audit.path or settings.data_dir / "audit" / "audit.jsonl"
    size = audit.max_file_mb * 1_000_000
    return FileSink(path, seal, max_bytes=size, keep=audit.keep_files), seal
