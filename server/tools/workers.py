"""A few daemon threads, for work that must not hold the event loop.

Python cannot stop a thread, so threads are few, counted, and given to one tool alone: one
that hangs uses up its own, and is then refused at once. A daemon lets the server end.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Final, Generic, TypeVar, cast

from server.errors import OrbitError

T = TypeVar("T")

THREADS_PER_TOOL: Final = 4
"""Calls of one tool or function that may run side by side in threads."""

MAX_WAITING: Final = 100
"""Most jobs that may wait for a thread; the next is refused."""


class WorkersBusy(OrbitError):
    """The work was never started: every thread is taken."""

    code = "workers_busy"


@dataclass(slots=True)
class _Job(Generic[T]):
    work: Callable[[], T]
    future: Future[T] = field(default_factory=Future)
    abandoned: bool = False
    ended: bool = False


class Workers(Generic[T]):
    """Runs work in at most `threads` threads, started when first needed."""

    def __init__(self, name: str, threads: int) -> None:
        self._name = name
        self._most = threads
        self._queue: SimpleQueue[_Job[T] | None] = SimpleQueue()
        self._lock = Lock()
        self._started = 0
        self._unfinished = 0
        self._stuck = 0

    async def run(self, work: Callable[[], T], *, timeout_s: float) -> T:
        """Return what `work` returns, or raise `TimeoutError` or, never started, `WorkersBusy`."""
        job = self._submit(work)
        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.wrap_future(job.future)
        except TimeoutError:
            if self._give_up(job):
                raise WorkersBusy(
                    f"no thread came free for {self._name} within {timeout_s:g} s"
                ) from None
            raise
        except asyncio.CancelledError:
            self._give_up(job)
            raise

    def close(self) -> None:
        """Let the threads end when they have done what waits."""
        with self._lock:
            started, self._started = self._started, 0
        for _ in range(started):
            self._queue.put(None)

    def _submit(self, work: Callable[[], T]) -> _Job[T]:
        job = _Job(work)
        with self._lock:
            if self._stuck >= self._most:
                raise WorkersBusy(
                    f"all {self._most} threads of {self._name} are held by calls that do not end"
                )
            if self._unfinished - self._started >= MAX_WAITING:
                raise WorkersBusy(f"{MAX_WAITING} calls of {self._name} are waiting already")
            self._unfinished += 1
            if self._started < min(self._unfinished, self._most):
                self._started += 1
                Thread(target=self._serve, name=f"tool-{self._name}", daemon=True).start()
        self._queue.put(job)
        return job

    def _give_up(self, job: _Job[T]) -> bool:
        """Stop waiting for a job; True when it had not started, and now never will."""
        if job.future.cancel():
            return True
        with self._lock:
            if not job.ended:
                job.abandoned = True
                self._stuck += 1
        return False

    def _serve(self) -> None:
        while (job := self._queue.get()) is not None:
            self._perform(job)
            del job  # an idle thread keeps no call's data alive

    def _perform(self, job: _Job[T]) -> None:
        result: T | None = None
        failure: BaseException | None = None
        started = job.future.set_running_or_notify_cancel()
        if started:
            try:
                result = job.work()
            except BaseException as failed:
                failure = failed
        with self._lock:
            self._unfinished -= 1
            job.ended = True
            if job.abandoned:
                self._stuck -= 1
        if failure is not None:
            job.future.set_exception(failure)
        elif started:
            job.future.set_result(cast(T, result))
