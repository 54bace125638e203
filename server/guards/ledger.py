"""What guards decided, on its way to the database: gathered, and written once a second."""

import asyncio
import logging
from collections import Counter, deque
from typing import Final

from server.errors import StoreUnavailable
from server.guards.store import Counted, Decided, GuardStore

_log = logging.getLogger(__name__)

_PAUSE_S: Final = 1.0
_WAITING: Final = 5000
"""Decisions that wait at most; when the database is away for long, the oldest go."""


class Ledger:
    """Never makes a question wait, and never fails one."""

    def __init__(self, store: GuardStore) -> None:
        self._store = store
        self._counts: Counter[Counted] = Counter()
        self._decided: deque[Decided] = deque(maxlen=_WAITING)
        self._writer: asyncio.Task[None] | None = None

    def count(self, key: Counted, decided: Decided | None) -> None:
        """Count a decision; `decided` is given when it is worth keeping itself."""
        self._counts[key] += 1
        if decided is not None:
            self._decided.append(decided)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_soon())

    async def flush(self) -> None:
        """Write now what waits."""
        counts, decided = dict(self._counts), tuple(self._decided)
        self._counts.clear()
        self._decided.clear()
        if not counts and not decided:
            return
        try:
            await self._store.add(counts, decided)
        except StoreUnavailable as failure:
            _log.warning("guard decisions cannot be written down: %s", failure)
            self._counts.update(counts)
            self._decided.extend(decided)

    async def close(self) -> None:
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        await self.flush()

    async def _write_soon(self) -> None:
        # More may have come in while it was writing.
        while self._counts or self._decided:
            await asyncio.sleep(_PAUSE_S)
            await self.flush()
