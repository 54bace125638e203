"""A small server with workers that answer a line with a line, and misbehave as a test asks.

Usage: crew.py PORT WORKERS BEHAVIOUR, one of: good, fails (each ends with exit code 7), killed
(each kills itself before it serves), second-fails (those of a replacement end at once), stubborn
(no worker ends when it is told to).

A worker answers: `who` its number and process id, `take LIMIT` whether a call passes, `claim NAME`
whether it was free, `slow` a little later, `die` by killing itself.
"""

import asyncio
import os
import signal
import socket
import sys

from server.access.rate_limits import RateLimits
from server.api.connections import ConnectionCount
from server.cli.logs import set_up_logging
from server.cli.supervisor import Plan, Seat, Supervisor
from server.errors import StoreUnavailable
from server.metrics.metrics import Metrics
from server.settings.models import ConnectionSettings, LoggingSettings
from server.workers.parent import Parent

PORT, WORKERS, BEHAVIOUR = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]


class Worker:
    def __init__(self, seat: Seat) -> None:
        self.parent = Parent(seat.channel, number=seat.number, count=seat.count)
        self.limits = RateLimits(parent=self.parent)
        self.ended = asyncio.Event()
        self.open: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        if BEHAVIOUR != "stubborn":
            loop.add_signal_handler(signal.SIGTERM, self.ended.set)
        else:
            loop.add_signal_handler(signal.SIGTERM, lambda: None)
        self.parent.attach(gone=self.ended.set)
        self.parent.serve(self.take, self.ended.set)
        self.parent.ready()
        await self.ended.wait()
        if self.open:
            await asyncio.wait(self.open)

    def take(self, connection: socket.socket, host: str) -> None:
        task = asyncio.create_task(self.answer(connection, host))
        self.open.add(task)
        task.add_done_callback(self.open.discard)

    async def answer(self, connection: socket.socket, host: str) -> None:
        reader, writer = await asyncio.open_connection(sock=connection)
        try:
            line = await self.next_line(reader)
            while line:
                writer.write(f"{await self.reply(line)}\n".encode())
                line = "" if self.ended.is_set() else (await self.next_line(reader))
        except ConnectionError:
            pass
        finally:
            writer.close()
            self.parent.left(host)

    async def next_line(self, reader: asyncio.StreamReader) -> str:
        """Return what comes next; nothing where the client left, or is to leave."""
        reading = asyncio.ensure_future(reader.readline())
        ending = asyncio.ensure_future(self.ended.wait())
        await asyncio.wait({reading, ending}, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        return (reading.result() if reading.done() else b"").decode().strip()

    async def reply(self, line: str) -> str:
        asked, _, about = line.partition(" ")
        if asked == "take":
            return "refused" if await self.limits.take([about], "ana") else "passed"
        if asked == "claim":
            return await self.parent.claim("test", about)
        if asked == "slow":
            await asyncio.sleep(0.05)
        if asked == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return f"{self.parent.number} {os.getpid()}"


def plan(workers: int, behaviour: str) -> Plan:
    def run(seat: Seat) -> None:
        if behaviour == "fails":
            sys.exit(7)
        if behaviour == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        asyncio.run(Worker(seat).run())

    return Plan(workers, 0.3, run)


def replan() -> Plan:
    if BEHAVIOUR == "unreadable":
        raise StoreUnavailable("no file is there")
    return plan(WORKERS, "fails" if BEHAVIOUR == "second-fails" else BEHAVIOUR)


if __name__ == "__main__":
    set_up_logging(LoggingSettings())
    settings = ConnectionSettings(most_per_address=20)
    supervisor = Supervisor(
        socket.create_server(("127.0.0.1", PORT), backlog=2048),
        plan(WORKERS, BEHAVIOUR),
        ConnectionCount(settings, Metrics()),
        replan=replan,
    )
    sys.exit(supervisor.run())
