"""Writing the audit without making anybody wait, unless waiting is the point."""

import asyncio
import logging
from collections import deque
from concurrent.futures import Future
from threading import Event as Flag
from threading import Thread
from time import sleep
from typing import Any, Final

from server.audit.entry import AuditSeal, Event, Sink, to_row
from server.audit.file import FileSink
from server.audit.table import TableSink
from server.errors import OrbitError, StoreUnavailable
from server.settings.models import Settings
from server.storage import secret

_log = logging.getLogger(__name__)

_LINGER_S: Final = 0.2
"""How long an event that nobody waits for may wait for company. Written one by one, or even
looked at one by one, events would take the interpreter from the next question each time."""

_MOST_AT_ONCE: Final = 500
_MOST_WAITING: Final = 20_000

_Item = tuple[Event, "Future[None] | None"]


class AuditWriter:
    """One thread that writes events in the order in which they came."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._waiting: deque[_Item] = deque()
        self._any = Flag()
        self._hurry = Flag()
        self._closing = False
        self._failing = False
        self._lost = 0
        self._thread = Thread(target=self._serve, name="audit", daemon=True)
        self._thread.start()

    @property
    def failing(self) -> bool:
        """Whether the last attempt to write failed."""
        return self._failing

    @property
    def lost(self) -> int:
        """Events that could not be written since the start."""
        return self._lost

    def note(self, event: Event) -> None:
        """Write an event soon. One that cannot be written is counted and logged."""
        if len(self._waiting) >= _MOST_WAITING:
            if self._lost == 0:
                _log.error("more is to be written to the audit than it takes; some of it is lost")
            self._lost += 1
            return
        self._waiting.append((event, None))
        if not self._any.is_set():  # to set it again would wake the thread for nothing
            self._any.set()

    async def write(self, event: Event) -> None:
        """Write an event, and return when it is written.

        Raises:
            StoreUnavailable: it could not be.
        """
        await self._at_once(event)

    async def flush(self) -> None:
        """Return when everything noted so far has been tried."""
        await self._at_once(_NOTHING)

    async def close(self) -> None:
        """Write what waits, and close the sink."""
        self._closing = True
        self._wake()
        await asyncio.to_thread(self._thread.join)

    async def _at_once(self, event: Event) -> None:
        done: Future[None] = Future()
        self._waiting.append((event, done))
        self._wake()
        await asyncio.wrap_future(done)

    def _wake(self) -> None:
        self._hurry.set()
        self._any.set()

    def _serve(self) -> None:
        ended = False
        while not ended:
            self._any.wait()
            self._hurry.wait(_LINGER_S)
            ended = self._closing
            # Whatever is appended from here on sets them again.
            self._hurry.clear()
            self._any.clear()
            # What comes in the meantime waits for company again, lest each be a batch of its own.
            for _ in range(0, max(1, len(self._waiting)), _MOST_AT_ONCE):
                self._write(self._next_batch())
        self._sink.close()

    def _next_batch(self) -> list[_Item]:
        count = min(len(self._waiting), _MOST_AT_ONCE)
        return [self._waiting.popleft() for _ in range(count)]

    def _write(self, batch: list[_Item]) -> None:
        events = [event for event, _ in batch if event is not _NOTHING]
        failure: OrbitError | None = None
        if events:
            try:
                self._sink.append([_prepared(event) for event in events])
                self._failing = False
            except OrbitError as failed:
                failure = failed
            except Exception as failed:  # a database driver may raise anything
                failure = StoreUnavailable(f"the audit cannot be written: {failed}")
        if failure is not None:
            if not self._failing:
                _log.error("%s", failure)
            self._failing = True
            self._lost += len(events)
        for event, done in batch:
            if done is None or not done.set_running_or_notify_cancel():
                continue
            if failure is not None and event is not _NOTHING:
                done.set_exception(failure)
            else:
                done.set_result(None)


def _prepared(event: Event) -> dict[str, Any]:
    # Whoever answers a question need not wait until all of a batch is prepared.
    sleep(0)
    return to_row(event)


class _Nothing(Event):
    """A place in the queue, and no event."""


_NOTHING: Final[Event] = object.__new__(_Nothing)


def open_sink(settings: Settings) -> tuple[Sink, AuditSeal] | None:
    """The configured sink and the seal of its chain; None when nothing is kept. Blocks.

    Raises:
        StoreUnavailable: it cannot be used.
        ConfigurationInvalid: the secret of the installation cannot be used.
    """
    audit = settings.access.audit
    if audit.sink == "off":
        return None
    found, _ = secret.load_or_create(settings.secret_path)
    seal = AuditSeal(found)
    if audit.sink == "sql":
        return TableSink(settings.database_url, seal), seal
    path = audit.path or settings.data_dir / "audit" / "audit.jsonl"
    size = audit.max_file_mb * 1_000_000
    return FileSink(path, seal, max_bytes=size, keep=audit.keep_files), seal
