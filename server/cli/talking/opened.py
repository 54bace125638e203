"""Keeping a partner open on an event loop in another thread."""

import asyncio
from concurrent.futures import Future, wait
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Final

from anyio.from_thread import BlockingPortal

from server.cli.progress import Progress
from server.cli.talking.partner import Partner

_QUICK_S: Final = 0.5
"""What is opened in this time needs no line that says so."""
_REDRAW_S: Final = 0.2


class Opened:
    """Opens a partner on entering, and closes it on leaving, in one task of the loop."""

    def __init__(
        self, portal: BlockingPortal, partner: AbstractAsyncContextManager[Partner]
    ) -> None:
        self._portal = portal
        self._partner = partner
        self._leaving = asyncio.Event()
        self._ready: Future[Partner] = Future()
        self._whole: Future[None] | None = None

    def __enter__(self) -> Partner:
        """Wait until it is open, saying so when that takes long.

        Raises:
            Whatever opening it raises.
        """
        self._whole = self._portal.start_task_soon(self._keep_open)
        if not wait([self._ready], _QUICK_S).done:
            with Progress("Opening") as progress:
                while not wait([self._ready], _REDRAW_S).done:
                    progress.show()
        return self._ready.result()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._portal.call(self._leaving.set)
        if self._whole is not None:
            self._whole.result()

    async def _keep_open(self) -> None:
        try:
            async with self._partner as partner:
                self._ready.set_result(partner)
                await self._leaving.wait()
        except BaseException as failed:
            if self._ready.done():
                raise
            self._ready.set_exception(failed)
