"""When each key was last used, written in batches and never while a request waits."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

from server.errors import StoreUnavailable

_log = logging.getLogger(__name__)


class LastUsed:
    """Collects uses and hands them to `write` at most once every `every_s` seconds."""

    def __init__(
        self, write: Callable[[Mapping[str, datetime]], Awaitable[None]], *, every_s: float = 5.0
    ) -> None:
        self._write = write
        self._every_s = every_s
        self._pending: dict[str, datetime] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None

    def note(self, key_id: str, at: datetime) -> None:
        self._pending[key_id] = at
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._every_s, self._start_writing)

    async def flush(self) -> None:
        """Write what has been collected; what cannot be written is kept for the next time."""
        batch, self._pending = self._pending, {}
        if not batch:
            return
        try:
            await self._write(batch)
        except StoreUnavailable as failure:
            _log.warning("last uses of %d keys are not written yet: %s", len(batch), failure)
            self._pending = batch | self._pending

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._writing is not None:
            await self._writing
        await self.flush()

    def _start_writing(self) -> None:
        self._timer = None
        self._writing = asyncio.get_running_loop().create_task(self.flush())
