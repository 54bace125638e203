"""Replicas on one PostgreSQL and one Redis, to be measured: how they start, and what they use.

Linux alone tells what is read here: the processor time of each thread in nanoseconds
(`schedstat`), and the bytes of a connection (`ss`).
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

import yaml

from tests.support import postgresql, redis
from utils.bench.chat import ADAPTER, make_key, start, stop

ROOT: Final = Path(__file__).parents[2]
SHOP: Final = "shop"
Stores = Literal["sqlite", "postgresql"]

_AGENT: Final = ROOT / "examples" / "intent-templates" / "agent-template"
_LIMIT: Final = "1000000/minute"
"""A limit that nobody reaches, so that Redis is asked as it is where there is one."""
_CANCEL: Final = {
    "id": "cancel_order",
    "description": "Cancel an order",
    "effect": "write",
    "nl_examples": ["Cancel order 001", "Please cancel order 17", "I want order 5 cancelled"],
    "parameters": [{"name": "order", "type": "integer", "description": "Number of the order"}],
    "execution": {"type": "python", "function": "shop_tools:cancel"},
    "response_template": "Order {{ order }} is cancelled",
}
_TOOLS: Final = "def cancel(order: int) -> dict:\n    return {'order': order}\n"


class Cpu(NamedTuple):
    """Seconds of processor time of a server: the thread of its event loop, and all others."""

    loop_s: float
    threads_s: float


class Wire(NamedTuple):
    """What connections to a port have carried, as their clients see it."""

    sent: int
    received: int
    messages: int
    """Segments with data that were sent: each is a message that an answer is waited for."""

    def since(self, before: "Wire") -> "Wire":
        return Wire(*(now - then for now, then in zip(self, before, strict=True)))


@dataclass(slots=True)
class Replica:
    """A server with a data folder of its own."""

    place: list[str]
    process: "subprocess.Popen[str]"
    url: str

    def cpu(self) -> Cpu:
        seconds = thread_seconds(self.process.pid)
        loop = seconds.pop(self.process.pid)
        return Cpu(loop, sum(seconds.values()))


@dataclass(slots=True)
class Bed:
    """The stores, and what every replica starts with."""

    folder: Path
    stores: Stores
    postgresql: "postgresql.PostgreSQL | None" = None
    redis: "redis.Redis | None" = None
    replicas: list[Replica] = field(default_factory=list)
    program: Sequence[str] = ("-m", "server")
    _first: Path | None = None

    def add(self) -> Replica:
        """Start one more. All after the first begin with a copy of its data: vectors and secret."""
        data = self.folder / f"data{len(self.replicas)}"
        if self._first is not None and not data.exists():
            shutil.copytree(self._first, data, ignore=shutil.ignore_patterns("orbit.db*", "run"))
        place = ["--config", str(self.folder / "config.yaml"), "--data", str(data)]
        if self._first is None:
            stop(start(place)[1])  # trains and keeps what the next ones begin with
            self._first = data
        _, process, url = start(place, program=self.program)
        self.replicas.append(Replica(place, process, url))
        return self.replicas[-1]

    def key(self, adapter: str = ADAPTER) -> str:
        return make_key(self.replicas[0].place, adapter, "--limit", _LIMIT)

    def database_cpu_s(self) -> float:
        """Of all processes of PostgreSQL, those of its connections included."""
        return 0.0 if self.postgresql is None else family_seconds(self.postgresql.pid)

    def redis_cpu_s(self) -> float:
        if self.redis is None or self.redis.process is None:
            return 0.0
        return family_seconds(self.redis.process.pid)

    def to_database(self) -> Wire:
        return Wire(0, 0, 0) if self.postgresql is None else wire_to(port_of(self.postgresql.url))

    def to_redis(self) -> Wire:
        return Wire(0, 0, 0) if self.redis is None else wire_to(self.redis.port)

    def redis_commands(self) -> int:
        """How many commands Redis has carried out, without those that ask for this."""
        if self.redis is None:
            return 0
        from redis import Redis

        with Redis(port=self.redis.port) as client:
            ran: Mapping[str, Mapping[str, Any]] = client.info("commandstats")
        ours = ("cmdstat_info", "cmdstat_client|setinfo", "cmdstat_hello")
        return sum(int(each["calls"]) for name, each in ran.items() if name not in ours)


@contextmanager
def opened_bed(stores: Stores, *, program: Sequence[str] = ("-m", "server")) -> Iterator[Bed]:
    """Stores that run, without a replica yet; all of it is gone at the end of the block."""
    with ExitStack() as closing:
        folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="orbit-replicas-")))
        bed = Bed(folder, stores, program=program)
        access: dict[str, Any] = {}
        if stores == "postgresql":
            if why := postgresql.why_not() or redis.why_not():
                raise SystemExit(why)
            bed.postgresql = closing.enter_context(postgresql.mortal_postgresql(durable=True))
            (folder / "redis").mkdir()
            bed.redis = closing.enter_context(redis.redis(folder / "redis"))
            access = {
                "database_url": bed.postgresql.url,
                "rate_limits": {"storage": bed.redis.url},
            }
        _write_config(folder, access)
        try:
            yield bed
        finally:
            for replica in bed.replicas:
                with suppress(ProcessLookupError):
                    stop(replica.process)


def _write_config(folder: Path, access: Mapping[str, Any]) -> None:
    shop = folder / "shop"
    shop.mkdir()
    (shop / "domain.yaml").write_text(yaml.safe_dump({"domain": {"name": SHOP, "version": "1.0"}}))
    (shop / "templates.yaml").write_text(yaml.safe_dump({"templates": [_CANCEL]}))
    (shop / "shop_tools.py").write_text(_TOOLS)
    agent = {
        "domain_config_path": str(_AGENT / "domain.yaml"),
        "template_library_path": [str(_AGENT / "tools.yaml"), str(_AGENT / "http_tools.yaml")],
    }
    library = {
        "domain_config_path": str(shop / "domain.yaml"),
        "template_library_path": str(shop / "templates.yaml"),
    }
    config = {
        "access": access,
        "conversation": {"max_sessions_per_key": 10_000_000},
        "python_tools": {"modules": ["shop_tools"], "paths": [str(shop)]},
        "adapters": [{"name": ADAPTER, "config": agent}, {"name": SHOP, "config": library}],
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))


def thread_seconds(pid: int) -> dict[int, float]:
    """Processor time of each thread of a process that is there now."""
    seconds = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            seconds[int(task.name)] = int((task / "schedstat").read_text().split()[0]) / 1e9
    return seconds


def family_seconds(pid: int) -> float:
    """Processor time of a process and all that it started, as far as they are there."""
    seconds = sum(thread_seconds(pid).values())
    with suppress(FileNotFoundError, ProcessLookupError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        seconds += sum(family_seconds(int(child)) for child in children)
    return seconds


def wire_to(port: int) -> Wire:
    """What all open connections to a port of this machine have carried so far."""
    command = ["ss", "-Htin", "state", "established", "dport", "=", f":{port}"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def total(name: str) -> int:
        return sum(int(n) for n in re.findall(rf"\b{name}:(\d+)", told))

    return Wire(total("bytes_sent"), total("bytes_received"), total("data_segs_out"))


def port_of(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None
    return port
