"""The process that reads large answers: jobs come in on standard input, data goes out.

It ends by itself when its server is gone, when a job takes too long, and when it has grown.
"""

import pickle
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from server.errors import ToolFailed
from server.responses.decoder import Body, ResponseType, read_body
from server.responses.mapping import NO_MAPPING, Mapped, ResponseMapping, map_answer

try:
    import resource
except ImportError:  # not on Windows, where only time and sizes bound it
    resource = None  # type: ignore[assignment]

LENGTH_BYTES: Final = 8
_STATM: Final = Path("/proc/self/statm")
_MAX_MEMORY: Final = 1_000_000_000
_GROWN_BYTES: Final = 150_000_000
"""With this much memory in use a process makes way for a new one."""


@dataclass(frozen=True, slots=True)
class ReadJob:
    """A body, and what to take from it."""

    body: Body
    expected: ResponseType = "auto"
    mapping: ResponseMapping = NO_MAPPING
    next_path: str = ""
    max_values: int = 100_000

    def run(self) -> Mapped:
        """Return what is asked for, or raise `AnswerUnreadable` or `ToolFailed`."""
        mapping, most = self.mapping, self.max_values
        structured = bool(mapping.items or mapping.fields or self.next_path)
        data = read_body(self.body, self.expected, structured=structured, max_values=most)
        return map_answer(data, mapping, max_values=most, next_path=self.next_path)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a job; `last` says that the process ends with it."""

    page: Mapped | None
    failure: str = ""
    last: bool = False


def pack(value: object) -> bytes:
    content = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return len(content).to_bytes(LENGTH_BYTES, "big") + content


def serve(incoming: BinaryIO, outgoing: BinaryIO, timeout_s: float) -> None:
    while len(length := incoming.read(LENGTH_BYTES)) == LENGTH_BYTES:
        job: ReadJob = pickle.loads(incoming.read(int.from_bytes(length, "big")))  # noqa: S301
        # The signal ends the process whatever it is doing, also when nobody waits any more.
        signal.setitimer(signal.ITIMER_REAL, timeout_s)
        reply = _reply(job)
        signal.setitimer(signal.ITIMER_REAL, 0)
        outgoing.write(pack(reply))
        outgoing.flush()
        if reply.last:
            return


def _reply(job: ReadJob) -> Reply:
    try:
        return Reply(job.run(), last=_has_grown())
    except ToolFailed as failed:
        return Reply(None, str(failed), last=_has_grown())
    except MemoryError:
        return Reply(None, "answered more than can be read", last=True)


def _has_grown() -> bool:
    # Not the most that was ever used: that begins with what the server used when it forked.
    try:
        pages = int(_STATM.read_text("ascii").split()[1])
    except OSError:
        return False  # not on Linux
    return pages * resource.getpagesize() > _GROWN_BYTES


def main() -> None:
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
    serve(sys.stdin.buffer, sys.stdout.buffer, float(sys.argv[1]))
