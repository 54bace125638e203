"""Values that change often, written in batches while no request waits."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Generic, TypeVar

from server.errors import StoreUnavailable, ValueRefused
from server.metrics.metrics import Metrics
from server.workers.parent import Parent

_log = logging.getLogger(__name__)

K = TypeVar("K")
V = TypeVar("V")

_CLOSE_WITHIN_S: Final = 5.0

_RETRY_S: Final = 1.0
"""Least pause before the next attempt, while the database is away."""

_POLL_S: Final = 0.01
_MOST_WAITING: Final = 50_000
"""Values that wait at most; when the database is away for long, the oldest go."""


class WriteBehind(Generic[K, V]):
    """Keeps the latest value of each key, and hands them to `write` every `every_s` seconds.

    `what` names the values in log and metrics. While the database is away, they are kept for
    the next time. When it refuses a batch, its values are written one by one, so that one that
    can never be written is lost alone.
    """

    def __init__(
        self,
        write: Callable[[Mapping[K, V]], Awaitable[None]],
        *,
        what: str,
        every_s: float,
        metrics: Metrics | None = None,
    ) -> None:
        self._write = write
        self._metrics = metrics
        self._what = what
        self._every_s = every_s
        self._waiting: dict[K, V] = {}
        self._under_way: dict[K, V] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self._overflowing = False
        self._away = False

    def note(self, key: K, value: V) -> None:
        """Write `value` with the next batch."""
        self._waiting[key] = value
        if len(self._waiting) > _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
            if not self._overflowing:
                _log.error("more %s come than can be written; the oldest are lost", self._what)
            self._overflowing = True
            self._count_lost()
        self._start_timer()

    def get(self, key: K) -> V | None:
        """Return the value that is not in the database yet, or None."""
        return self._waiting.get(key, self._under_way.get(key))

    async def latest(self, key: K) -> V | None:
        """As `get`, wherever the value was noted. Raises `StoreUnavailable`."""
        return self.get(key)

    async def drop(self, key: K) -> None:
        """Stop writing `key`; when this returns, no write of it is under way."""
        async with self._lock:
            self._waiting.pop(key, None)

    async def flush(self) -> None:
        """Write now what waits."""
        async with self._lock:
            batch, self._waiting = self._waiting, {}
            if not batch:
                return
            self._under_way, self._overflowing = batch, False
            try:
                left = await self._write_each(batch)
            finally:
                self._under_way = {}
            if left:
                self._waiting = left | self._waiting
                self._start_timer(max(self._every_s, _RETRY_S))
            elif self._away:
                self._away = False
                _log.info("the %s that waited for the database are written", self._what)

    async def _write_each(self, batch: dict[K, V]) -> dict[K, V]:
        """Write a batch, one by one when it is refused; return what is to be tried again."""
        try:
            await self._write(batch)
        except Exception as failure:  # a value may be anything, and so may go wrong in any way
            if _is_away(failure):
                if not self._away:  # told once, however often it is tried
                    _log.warning("%d %s are not written yet: %s", len(batch), self._what, failure)
                self._away = True
                return batch
            if len(batch) == 1:
                why = f"{type(failure).__name__}: {failure}"
                _log.error("one of the %s cannot be written, and is lost: %s", self._what, why)
                self._count_lost()
                return {}
            left: dict[K, V] = {}
            for key, value in batch.items():
                left |= await self._write_each({key: value})
            return left
        return {}

    def _count_lost(self, count: int = 1) -> None:
        if self._metrics is not None:
            self._metrics.values_lost(self._what, count)

    async def close(self, *, within_s: float = _CLOSE_WITHIN_S) -> None:
        """Write what waits, and stop; what is not written in time is lost, and told."""
        closing = asyncio.create_task(self._finish())
        done, _ = await asyncio.wait({closing}, timeout=within_s)
        if count := len(self._waiting) + len(self._under_way):
            _log.error("%d %s could not be written at the end, and may be lost", count, self._what)
            self._count_lost(count)
        if not done:
            closing.cancel()
        await asyncio.gather(closing, return_exceptions=not done)
        if self._timer is not None:
            self._timer.cancel()

    async def _finish(self) -> None:
        if self._writing is not None:
            await self._writing
        await self.flush()

    def _start_timer(self, after_s: float | None = None) -> None:
        if self._timer is None:
            pause_s = self._every_s if after_s is None else after_s
            self._timer = asyncio.get_running_loop().call_later(pause_s, self._start_writing)

    def _start_writing(self) -> None:
        self._timer = None
        self._writing = asyncio.get_running_loop().create_task(self.flush())


class NotedBehind(WriteBehind[str, str]):
    """Keeps values in the supervisor, where all workers see them; one worker writes them.

    When `note` returns, whoever is answered next may ask any worker. `kind` tells these values
    from others.
    """

    def __init__(
        self,
        parent: Parent,
        kind: str,
        write: Callable[[Mapping[str, str]], Awaitable[None]],
        *,
        every_s: float,
        metrics: Metrics | None = None,
    ) -> None:
        super().__init__(write, what=kind, every_s=every_s, metrics=metrics)
        self._parent = parent
        self._kind = kind

    def note(self, key: str, value: str) -> None:
        self._parent.note(self._kind, key, value)
        self._start_timer()

    async def latest(self, key: str) -> str | None:
        return await self._parent.noted(self._kind, key)

    async def drop(self, key: str) -> None:
        # Another process writes: nobody here is told when it is done.
        while not await self._parent.drop_note(self._kind, key):  # noqa: ASYNC110
            await asyncio.sleep(_POLL_S)

    async def flush(self) -> None:
        """Write what waits; later, where another worker is at it, or the database is away."""
        if not await self._write_noted():
            self._start_timer(max(self._every_s, _RETRY_S) if self._away else None)

    async def _write_noted(self) -> bool:
        """Write until nothing waits; False where something still may."""
        async with self._lock:
            while batch := await self._take():
                written = False
                try:
                    written = not await self._write_each(dict(batch))
                finally:
                    self._parent.give_notes_back(self._kind, written=written)
                if not written:
                    return False
            if self._away and batch is not None:
                self._away = False
                _log.info("the %s that waited for the database are written", self._what)
            return batch is not None

    async def _take(self) -> Sequence[tuple[str, str]] | None:
        try:
            return await self._parent.take_notes(self._kind)
        except StoreUnavailable:
            return ()  # the supervisor is gone, and what was noted with it

    async def _finish(self) -> None:
        """Wait for what another worker is writing: it may not look again for what came since."""
        await super()._finish()
        while not await self._write_noted() and not self._away:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_S)


def _is_away(failure: Exception) -> bool:
    return isinstance(failure, StoreUnavailable) and not isinstance(failure, ValueRefused)
