"""Who reads answers: the event loop the small ones, processes that can be ended the others."""

import asyncio
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Final

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


class ResponseReaders:
    """Reads answers, with at most `processes` processes, each started when first needed."""

    def __init__(self, *, processes: int = _PROCESSES, timeout_s: float = READ_TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._slots = asyncio.Semaphore(processes)
        self._idle: list[Process] = []
        self._ending: set[asyncio.Task[int]] = set()

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
        while self._idle:
            self._end(self._idle.pop())
        await asyncio.gather(*self._ending)

    async def _read_in_process(self, job: ReadJob) -> Mapped:
        process = await self._process()
        reply: Reply | None = None
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await _exchange(process, job)
        except TimeoutError:
            seconds = f"{self._timeout_s:g} s"
            raise AnswerUnreadable(f"answered what cannot be read within {seconds}") from None
        except (OSError, EOFError):
            raise AnswerUnreadable("answered what cannot be read") from None
        finally:
            if reply is None or reply.last:
                self._end(process)
            else:
                self._idle.append(process)
        if reply.page is None:
            raise ToolFailed(reply.failure)
        return reply.page

    async def _process(self) -> Process:
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None:
                return process
            self._end(process)
        command = (sys.executable, "-c", _PROGRAM, str(self._timeout_s))
        # In a session of its own, so that Ctrl-C in a terminal is for the server alone.
        return await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, cwd=_ROOT, start_new_session=True
        )

    def _end(self, process: Process) -> None:
        if process.returncode is None:
            process.kill()
        task = asyncio.ensure_future(process.wait())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _exchange(process: Process, job: ReadJob) -> Reply:
    assert process.stdin is not None  # noqa: S101  PIPE
    assert process.stdout is not None  # noqa: S101  PIPE
    process.stdin.write(pack(job))
    await process.stdin.drain()
    length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES), "big")
    content = await process.stdout.readexactly(length)
    reply: Reply = pickle.loads(content)  # noqa: S301  our own process wrote it
    return reply
