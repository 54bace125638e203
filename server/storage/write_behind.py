"""Values that change often, written in batches while no request waits."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Generic, TypeVar

from server.errors import StoreUnavailable

_log = logging.getLogger(__name__)

K = TypeVar("K")
V = TypeVar("V")

_CLOSE_WITHIN_S: Final = 5.0

_MOST_WAITING: Final = 50_000
"""Values that wait at most; when the database is away for long, the oldest go."""


class WriteBehind(Generic[K, V]):
    """Keeps the latest value of each key, and hands them to `write` every `every_s` seconds.

    `what` names the values in the log. What cannot be written is kept for the next time.
    """

    def __init__(
        self, write: Callable[[Mapping[K, V]], Awaitable[None]], *, what: str, every_s: float
    ) -> None:
        self._write = write
        self._what = what
        self._every_s = every_s
        self._waiting: dict[K, V] = {}
        self._under_way: dict[K, V] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self._overflowing = False

    def note(self, key: K, value: V) -> None:
        """Write `value` with the next batch."""
        self._waiting[key] = value
        if len(self._waiting) > _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
            if not self._overflowing:
                _log.error("more %s come than can be written; the oldest are lost", self._what)
            self._overflowing = True
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._every_s, self._start_writing)

    def get(self, key: K) -> V | None:
        """Return the value that is not in the database yet, or None."""
        return self._waiting.get(key, self._under_way.get(key))

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
                await self._write(batch)
            except StoreUnavailable as failure:
                _log.warning("%d %s are not written yet: %s", len(batch), self._what, failure)
                self._waiting = batch | self._waiting
                if self._timer is None:
                    loop = asyncio.get_running_loop()
                    self._timer = loop.call_later(self._every_s, self._start_writing)
            finally:
                self._under_way = {}

    async def close(self, *, within_s: float = _CLOSE_WITHIN_S) -> None:
        """Write what waits, and stop; what is not written in time is lost, and told."""
        closing = asyncio.create_task(self._finish())
        done, _ = await asyncio.wait({closing}, timeout=within_s)
        if not done:
            count = len(self._waiting) + len(self._under_way)
            closing.cancel()
            _log.error("%d %s could not be written at the end, and may be lost", count, self._what)
        await asyncio.gather(closing, return_exceptions=not done)
        if self._timer is not None:
            self._timer.cancel()

    async def _finish(self) -> None:
        if self._writing is not None:
            await self._writing
        await self.flush()

    def _start_writing(self) -> None:
        self._timer = None
        self._writing = asyncio.get_running_loop().create_task(self.flush())
