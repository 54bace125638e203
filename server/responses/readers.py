"""Who reads answers: the event loop the small ones, processes that can be ended the others."""

import asyncio
import pickle
import sys
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Final

from anyio import CapacityLimiter, to_thread

from server.errors import ToolFailed
from server.responses.decoder import AnswerUnreadable
from server.responses.mapping import Mapped
from server.responses.process import LENGTH_BYTES, ReadJob, Reply, pack

READ_AT_ONCE_BYTES: Final = 8_192
"""Bodies up to this size take a few milliseconds, whatever they hold."""

READ_TIMEOUT_S: Final = 5.0
"""How long reading one answer may take."""

_PROCESSES: Final = 2
_PROGRAM: Final = "from server.responses.process import main; main()"
_ROOT: Final = Path(__file__).parents[2]


class ReaderProcess:
    """One process; its methods block."""

    def __init__(self, timeout_s: float) -> None:
        command = (sys.executable, "-c", _PROGRAM, str(timeout_s))
        # In a session of its own, so that Ctrl-C in a terminal is for the server alone.
        self._process = Popen(command, stdin=PIPE, stdout=PIPE, cwd=_ROOT, start_new_session=True)  # noqa: S603
        self.pid = self._process.pid

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def exchange(self, job: ReadJob) -> Reply:
        """Return what comes of a job; raise OSError or EOFError when the process has ended."""
        incoming, outgoing = self._process.stdout, self._process.stdin
        assert incoming is not None  # noqa: S101  PIPE
        assert outgoing is not None  # noqa: S101  PIPE
        outgoing.write(pack(job))
        outgoing.flush()
        length = incoming.read(LENGTH_BYTES)
        if len(length) < LENGTH_BYTES:
            raise EOFError("the process has ended")
        reply: Reply = pickle.load(incoming)  # noqa: S301  our own process wrote it
        return reply

    def kill(self) -> None:
        """End the process; whoever exchanges with it learns of that at once. Does not block."""
        self._process.kill()

    def end(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._process.wait()


class ResponseReaders:
    """Reads answers, with at most `processes` processes, each started when first needed."""

    def __init__(self, *, processes: int = _PROCESSES, timeout_s: float = READ_TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._slots = asyncio.Semaphore(processes)
        self._threads = CapacityLimiter(2 * processes)
        self._idle: list[ReaderProcess] = []
        self._killed: list[ReaderProcess] = []

    async def read(self, job: ReadJob, *, deadline: float) -> Mapped:
        """Return what a job asks for, before `deadline` by the loop's clock.

        Raises:
            AnswerUnreadable, ToolFailed: it is not what it should be, or took too long to read.
            TimeoutError: the deadline passed.
        """
        if len(job.body.content) <= READ_AT_ONCE_BYTES:
            return job.run()
        async with asyncio.timeout_at(deadline), self._slots:
            return await self._read_in_process(job)

    async def close(self) -> None:
        """End all processes. Nobody may be reading any more."""
        self._killed += self._idle
        self._idle.clear()
        await self._bury()

    async def _read_in_process(self, job: ReadJob) -> Mapped:
        await self._bury()
        process = self._idle.pop() if self._idle else ReaderProcess(self._timeout_s)
        if not process.is_alive():
            self._killed.append(process)
            process = ReaderProcess(self._timeout_s)
        reply: Reply | None = None
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await to_thread.run_sync(
                    process.exchange, job, abandon_on_cancel=True, limiter=self._threads
                )
        except TimeoutError:
            seconds = f"{self._timeout_s:g} s"
            raise AnswerUnreadable(f"answered what cannot be read within {seconds}") from None
        except (OSError, EOFError, pickle.UnpicklingError):
            raise AnswerUnreadable("answered what cannot be read") from None
        finally:
            if reply is None or reply.last:
                process.kill()
                self._killed.append(process)
            else:
                self._idle.append(process)
        if reply.page is None:
            raise ToolFailed(reply.failure)
        return reply.page

    async def _bury(self) -> None:
        """Take leave of processes that were killed, so that the system can forget them."""
        while self._killed:
            await to_thread.run_sync(self._killed.pop().end, limiter=self._threads)
