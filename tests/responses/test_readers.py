"""Large answers are read in processes, which are ended when they have to be."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from server.errors import ToolFailed
from server.responses.decoder import Body
from server.responses.mapping import Mapped
from server.responses.process import ReadJob
from server.responses.readers import READ_AT_ONCE_BYTES, ResponseReaders

SMALL = ReadJob(Body(b"[1, 2]", "application/json"))
LARGE = ReadJob(Body(b" " * READ_AT_ONCE_BYTES + b"[1, 2]", "application/json"))
ENDLESS = ReadJob(Body(b"[" + b"1," * 900_000 + b"1]", "application/json"), max_values=10**9)
READ = Mapped([1, 2])

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def soon(seconds: float = 10.0) -> float:
    return asyncio.get_running_loop().time() + seconds


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").exists()


async def pid_of(readers: ResponseReaders) -> int:
    """The process that has read, and waits for the next answer."""
    assert await readers.read(LARGE, deadline=soon()) == READ
    return readers._idle[-1].pid


async def test_a_small_answer_needs_no_process() -> None:
    readers = ResponseReaders()
    assert await readers.read(SMALL, deadline=soon()) == READ
    assert not readers._idle


async def test_a_process_reads_one_answer_after_the_other_and_ends_with_its_server() -> None:
    readers = ResponseReaders()
    first, second = await pid_of(readers), await pid_of(readers)
    await readers.close()
    assert (first == second, is_alive(first)) == (True, False)


async def test_what_takes_too_long_is_ended_and_the_next_answer_is_read() -> None:
    readers = ResponseReaders(timeout_s=0.05)
    with pytest.raises(ToolFailed, match=r"cannot be read within 0\.05 s"):
        await readers.read(ENDLESS, deadline=soon())
    readers._timeout_s = 5.0
    assert await readers.read(LARGE, deadline=soon()) == READ
    await readers.close()


async def test_a_deadline_and_a_client_that_leaves_end_the_process() -> None:
    readers = ResponseReaders()
    pid = await pid_of(readers)
    with pytest.raises(TimeoutError):
        await readers.read(ENDLESS, deadline=soon(0.05))
    await readers.close()
    assert not is_alive(pid)
    pid = await pid_of(readers)
    reading = asyncio.create_task(readers.read(ENDLESS, deadline=soon()))
    await asyncio.sleep(0.05)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    await readers.close()
    assert not is_alive(pid)


async def test_a_process_that_was_killed_is_replaced() -> None:
    readers = ResponseReaders()
    pid = await pid_of(readers)
    os.kill(pid, signal.SIGKILL)
    await asyncio.to_thread(os.waitid, os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert await pid_of(readers) != pid
    await readers.close()


async def test_a_process_that_has_grown_makes_way_for_a_new_one() -> None:
    readers = ResponseReaders()
    text = json.dumps(["x" * 50] * 1_000_000).encode()
    large = ReadJob(Body(text, "application/json"), max_values=10**9)
    assert len((await readers.read(large, deadline=soon())).items) == 1_000_000
    assert not readers._idle
    await readers.close()
