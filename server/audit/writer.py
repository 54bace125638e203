"""Writing the audit in the background, or at once where the caller has to be sure."""

import itertools
import logging
from collections.abc import Mapping, Sequence
from typing import Final

from anyio import CapacityLimiter, to_thread

from server.audit.entry import AuditSeal, Event, Sink, to_row
from server.audit.file import FileSink
from server.audit.table import TableSink
from server.errors import OrbitError, StoreUnavailable, ValueRefused
from server.metrics.metrics import Metrics
from server.settings.models import Settings
from server.storage.files import load_or_create_secret
from server.storage.write_behind import WriteBehind

_log = logging.getLogger(__name__)

_WRITE_EVERY_S: Final = 0.2


class AuditWriter:
    """Writes events to a sink, in the order in which they came."""

    def __init__(self, sink: Sink, metrics: Metrics | None = None) -> None:
        self._sink = sink
        self._metrics = metrics
        self._noted = itertools.count()
        self._behind = WriteBehind[int, Event](
            self._write_noted, what="audit events", every_s=_WRITE_EVERY_S, metrics=metrics
        )
        self._one_at_a_time = CapacityLimiter(1)

    def note(self, event: Event) -> None:
        """Write an event soon. One that cannot be written is logged, and lost."""
        self._behind.note(next(self._noted), event)

    async def write(self, event: Event) -> None:
        """Write an event after all that were noted, and return when it is written.

        Raises `StoreUnavailable`: it could not be.
        """
        await self.flush()
        await self._append([event])

    async def flush(self) -> None:
        """Return when everything noted so far has been tried."""
        await self._behind.flush()

    async def close(self) -> None:
        await self._behind.close()
        await to_thread.run_sync(self._sink.close)

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
        await to_thread.run_sync(self._append_rows, events, limiter=self._one_at_a_time)

    def _append_rows(self, events: Sequence[Event]) -> None:
        try:
            self._sink.append([to_row(event) for event in events])
        except OrbitError:
            raise
        except Exception as failed:  # a database driver may raise anything
            raise ValueRefused(f"the audit cannot be written: {failed}") from failed


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
        return TableSink(settings.database_url, seal), seal
    path = audit.path or settings.data_dir / "audit" / "audit.jsonl"
    size = audit.max_file_mb * 1_000_000
    return FileSink(path, seal, max_bytes=size, keep=audit.keep_files), seal
