"""Writing the audit without making anybody wait, unless waiting is the point."""

import asyncio
import logging
from collections.abc import Mapping
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, Final

from server.access.audit.entry import Event, to_row
from server.access.audit.sinks import Sink
from server.errors import OrbitError, StoreUnavailable

_log = logging.getLogger(__name__)

_LINGER_S: Final = 0.05
"""How long an event that nobody waits for may wait for company. Written one by one, events
would take the interpreter from the next question each time."""

_MOST_AT_ONCE: Final = 500
_MOST_WAITING: Final = 20_000

_Item = tuple[Event, "Future[None] | None"]


class Trail:
    """One thread that writes events in the order in which they came."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
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
        if self._queue.qsize() >= _MOST_WAITING:
            if self._lost == 0:
                _log.error("more is to be written to the audit than it takes; some of it is lost")
            self._lost += 1
            return
        self._queue.put((event, None))

    async def write(self, event: Event) -> None:
        """Write an event, and return when it is written.

        Raises:
            StoreUnavailable: it could not be.
        """
        done: Future[None] = Future()
        self._queue.put((event, done))
        await asyncio.wrap_future(done)

    async def flush(self) -> None:
        """Return when everything noted so far has been tried."""
        done: Future[None] = Future()
        self._queue.put((_NOTHING, done))
        await asyncio.wrap_future(done)

    async def close(self) -> None:
        """Write what waits, and close the sink."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _serve(self) -> None:
        while (first := self._queue.get()) is not None:
            batch, ended = self._gather(first)
            self._write(batch)
            if ended:
                break
        self._sink.close()

    def _gather(self, first: _Item) -> tuple[list[_Item], bool]:
        batch = [first]
        end_s = monotonic() + _LINGER_S
        waited_for = first[1] is not None
        while len(batch) < _MOST_AT_ONCE:
            try:
                if waited_for:
                    item = self._queue.get_nowait()
                else:
                    item = self._queue.get(timeout=max(0.0, end_s - monotonic()))
            except Empty:
                return batch, False
            if item is None:
                return batch, True
            batch.append(item)
            waited_for = waited_for or item[1] is not None
        return batch, False

    def _write(self, batch: list[_Item]) -> None:
        events = [event for event, _ in batch if event is not _NOTHING]
        failure: OrbitError | None = None
        if events:
            try:
                rows: list[Mapping[str, Any]] = [to_row(event) for event in events]
                self._sink.append(rows)
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


class _Nothing(Event):
    """A place in the queue, and no event."""


_NOTHING: Final[Event] = object.__new__(_Nothing)
