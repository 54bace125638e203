"""Threads for calls that block, which nobody waits for longer than a deadline."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

_T = TypeVar("_T")


class CallTimedOut(Exception):
    """The call, or a thread that is free for it, was not there in time."""


class BlockingCalls:
    """Runs calls in at most `threads` threads.

    A call that nobody waits for any longer keeps its thread until it returns, so that a
    database that hangs takes no more threads than these. No thread holds up the end of the
    process.
    """

    def __init__(self, *, threads: int) -> None:
        self._free = asyncio.Semaphore(threads)
        self._started = 0
        self._idle = 0
        self._calls: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()

    async def run(self, call: Callable[[], _T], *, timeout_s: float | None = None) -> _T:
        """Return what `call` returns. Raises `CallTimedOut`; the call may go on all the same."""
        loop = asyncio.get_running_loop()
        since_s = loop.time()
        try:
            async with asyncio.timeout(timeout_s):
                await self._free.acquire()
        except TimeoutError:
            raise CallTimedOut from None
        result: Future[_T] = Future()
        result.add_done_callback(lambda _: self._release(loop))
        if self._idle:
            self._idle -= 1
        else:
            self._started += 1
            Thread(target=self._work, name="orbit-storage", daemon=True).start()
        self._calls.put((call, result))
        waited_for = asyncio.wrap_future(result)
        rest_s = None if timeout_s is None else max(0.0, timeout_s - (loop.time() - since_s))
        done, _ = await asyncio.wait({waited_for}, timeout=rest_s)
        if not done:
            waited_for.add_done_callback(_forget)
            raise CallTimedOut
        return waited_for.result()

    def close(self) -> None:
        """Let every thread end after what it is doing now."""
        for _ in range(self._started):
            self._calls.put(None)
        self._started = self._idle = 0

    def _release(self, loop: asyncio.AbstractEventLoop) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._released)

    def _released(self) -> None:
        self._idle += 1
        self._free.release()

    def _work(self) -> None:
        while (asked := self._calls.get()) is not None:
            call, result = asked
            try:
                returned = call()
            except BaseException as failure:
                result.set_exception(failure)
            else:
                result.set_result(returned)
                del returned
            del asked, call, result


def _forget(late: "asyncio.Future[Any]") -> None:
    """Look at a failure that comes too late for anybody, so that it is not reported as unseen."""
    if not late.cancelled():
        late.exception()
