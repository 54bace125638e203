"""Which processes serve from a database: each says so there, again and again.

What a process had begun when it was killed is another's to end. That it is gone shows in that it
says nothing more, by the clock of whoever looks: clocks of machines are never compared, and time
in which the database was away counts for nobody.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from time import monotonic, time
from typing import Final

import sqlalchemy as sa

from server.errors import StoreUnavailable
from server.storage.database import Database
from server.storage.process_locks import LEASES

_SAID_EVERY_S: Final = 1.0
_LASTS_S: Final = 8.0
"""More than anything but its end keeps a process from saying so."""
_SERVES: Final = "serves:"


TakeOver = Callable[[Collection[str]], Awaitable[None]]


class Presence:
    """Says that a process serves, over a `database` of its own, so that it waits for nobody."""

    def __init__(
        self,
        database: Database,
        process: str,
        *,
        lasts_s: float = _LASTS_S,
        clock_s: Callable[[], float] = monotonic,
    ) -> None:
        self._database = database
        self._process = process
        self._lasts_s = lasts_s
        self._clock_s = clock_s
        self._saying: asyncio.Task[None] | None = None
        self._looked_s = 0.0
        self._said: dict[str, tuple[float, float]] = {}
        """What each process said last, and when this one saw it first."""

    def begin(self, take_over: TakeOver) -> None:
        """Say it from now on, and hand those that are gone to `take_over`."""
        self._saying = asyncio.create_task(self._say_on(take_over))

    async def look(self) -> frozenset[str]:
        """Say that this process serves; return those that have said nothing for a while.

        Raises `StoreUnavailable`.
        """
        said = await self._database.run(self._say)
        now_s = self._clock_s()
        if now_s - self._looked_s > self._lasts_s / 2:  # nobody knows who spoke meanwhile
            self._said.clear()
        self._looked_s = now_s
        known = self._said
        self._said = {
            process: known[process] if known.get(process, (None,))[0] == last else (last, now_s)
            for process, last in said.items()
        }
        silent = {each for each, (_, at_s) in self._said.items() if now_s - at_s >= self._lasts_s}
        return frozenset(silent - {self._process})

    async def forget(self, gone: Collection[str]) -> None:
        """Forget processes whose work was taken over; raise `StoreUnavailable` if that fails."""
        names = [f"{_SERVES}{process}" for process in gone]
        await self._database.run(
            lambda c: c.execute(LEASES.delete().where(LEASES.c.name.in_(names)))
        )

    async def close(self) -> None:
        """Say no more, once nothing is under way here any longer."""
        if self._saying is not None:
            self._saying.cancel()
            await asyncio.gather(self._saying, return_exceptions=True)
            with suppress(StoreUnavailable):
                await self.forget([self._process])
        await self._database.close()

    async def _say_on(self, take_over: TakeOver) -> None:
        while True:
            await asyncio.sleep(_SAID_EVERY_S)
            with suppress(StoreUnavailable):  # which others tell of
                if gone := await self.look():
                    await take_over(gone)
                    await self.forget(gone)

    def _say(self, connection: sa.Connection) -> dict[str, float]:
        name, columns = f"{_SERVES}{self._process}", LEASES.c
        mine = {"holder": self._process, "until_s": time() + self._lasts_s}
        say = LEASES.update().where(columns.name == name).values(mine)
        if not connection.execute(say).rowcount:
            connection.execute(LEASES.insert(), {"name": name, **mine})
        everybody = sa.select(columns.holder, columns.until_s).where(
            columns.name.startswith(_SERVES, autoescape=True)
        )
        return {row.holder: row.until_s for row in connection.execute(everybody)}
