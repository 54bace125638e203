"""What a cluster is made of, real programs on loopback: replicas, balancer, stores, and a shop.

The shop is the service that replicas call; it writes down every request that reaches it.
"""

import asyncio
import csv
import os
import shutil
import socket
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import yaml

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.cli.options import configured
from server.settings.models import Settings
from server.storage.installation import InstallationSecret
from tests.chaos.process import Server
from tests.support import postgresql, redis
from tests.support.chroma import chroma_server
from tests.support.configuring import PERCENTAGE, adapter, configure, write_library
from tests.support.ports import free_port
from tests.tools.http.upstream import Asked, Upstream, reply, upstream

NAMES: Final = ("one", "two", "three")
ADAPTER: Final = "shop"
DRAIN_S: Final = 2.0
"""In which the balancer has to see that a replica is to stop."""
_HAPROXY: Final = Path(__file__).with_name("haproxy.cfg")
_SECRET: Final = "s" * 32
_ADAPTER_CONFIG: Final = {
    "http": {"private_hosts": ["127.0.0.1"]},
    "agent": {"tool_timeout": 5},
}
_SHELF_LIFE: Final = ("open", "packed", "shipped")


def missing() -> list[str]:
    """What has to be installed first, and how; empty where a cluster can run."""
    found = []
    if shutil.which("haproxy") is None:
        found.append("haproxy: apt-get install haproxy")
    if (why := postgresql.why_not()) is not None:
        found.append(f"postgresql: {why}")
    if (why := redis.why_not()) is not None:
        found.append(f"redis-server: {why}")
    if find_spec("redis") is None:
        found.append("the extra redis: ./bin/orbit.sh install redis")
    return found


@dataclass
class Replica(Server):
    """One of several servers with the same configuration, each with a data folder of its own."""

    name: str = ""

    @property
    def log(self) -> Path:
        return self.data.with_suffix(".log")


@dataclass
class Balancer:
    """HAProxy, with the configuration that lies beside this file."""

    folder: Path
    replicas: Sequence[Replica]
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def _stats(self) -> Path:
        return self.folder / "stats.sock"

    def start(self) -> None:
        where = {each.name.upper(): f"127.0.0.1:{each.port}" for each in self.replicas}
        where |= {"PORT": f"127.0.0.1:{self.port}", "STATS": str(self._stats)}
        with (self.folder / "haproxy.log").open("ab") as log:
            self.process = subprocess.Popen(
                ["haproxy", "-db", "-f", str(_HAPROXY)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, **where},
            )  # fmt: skip
        for _ in range(200):
            if self._stats.exists():
                return
            time.sleep(0.05)
        raise RuntimeError((self.folder / "haproxy.log").read_text())

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(10)

    def seen(self) -> dict[str, "Seen"]:
        """How it sees each replica now."""
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(str(self._stats))
            asking.sendall(b"show stat\n")
            said = b"".join(iter(lambda: asking.recv(65536), b"")).decode()
        rows = csv.DictReader(said.removeprefix("# ").splitlines())
        return {
            row["svname"]: Seen(row["status"].startswith("UP"), int(row["stot"]))
            for row in rows
            if row["svname"] in NAMES
        }


@dataclass(frozen=True, slots=True)
class Seen:
    """Whether requests are sent to a replica, and how many were."""

    is_up: bool
    requests: int


@dataclass
class Shop:
    """Orders: what is known of each, and every cancellation that arrived."""

    service: Upstream
    kernel: Upstream
    """Who is told of commits."""

    @property
    def cancelled(self) -> Counter[int]:
        """How often each order was cancelled, by idempotency key."""
        keys = (
            asked.headers["idempotency-key"] for asked in self.service.asked if _is_cancel(asked)
        )
        return Counter(int(key.removeprefix("cancel-")) for key in keys)

    @property
    def told(self) -> dict[int, set[str]]:
        """The ids of the commit events of each order."""
        told: defaultdict[int, set[str]] = defaultdict(set)
        for asked in self.kernel.asked:
            told[int(asked.json["target"])].add(asked.json["id"])
        return told


def status_of(order: int) -> str:
    """What the shop says of an order that nobody cancelled."""
    return _SHELF_LIFE[order % len(_SHELF_LIFE)]


def weight_of(order: int) -> int:
    return order % 89 + 1


@dataclass
class Cluster:
    folder: Path
    config: Path
    replicas: list[Replica]
    balancer: Balancer
    postgresql: postgresql.PostgreSQL
    redis: redis.Redis
    shop: Shop

    @property
    def settings(self) -> Settings:
        return configured(self.config, data=self.replicas[0].data).settings

    async def new_key(self, new: NewKey) -> str:
        """Make a key as the command line does."""
        settings = self.settings
        keys = await KeyStore.open(settings.database_url, InstallationSecret.of(settings))
        raw, _ = await keys.create(new)
        await keys.close()
        return raw

    def add_template(self) -> None:
        """Change the library: from its next reload on, orders can be weighed too."""
        _write_library(self.folder, self.shop.service.origin, weighs=True)

    async def start(self, *names: str) -> None:
        """Start replicas, all without names, and return when the balancer sends requests there."""
        wanted = [each for each in self.replicas if each.name in (names or NAMES)]
        for each in wanted:
            each.start()
            # The first one makes what all share; each that follows finds it.
            if not await each.ready():
                raise RuntimeError(f"replica {each.name}: {each.said()[-3000:]}")
        await self.until_up(each.name for each in wanted)

    async def until_up(self, names: Iterator[str]) -> None:
        awaited = set(names)
        async with asyncio.timeout(30):
            while not all(self.balancer.seen()[name].is_up for name in awaited):  # noqa: ASYNC110
                await asyncio.sleep(0.1)


@asynccontextmanager
async def opened_cluster(folder: Path) -> AsyncIterator[Cluster]:
    """A cluster whose stores and balancer run; its replicas are to be started."""
    async with AsyncExitStack() as closing:
        shop = await closing.enter_async_context(_shop())
        store = closing.enter_context(postgresql.mortal_postgresql(durable=True))
        (folder / "redis").mkdir()
        counts = closing.enter_context(redis.redis(folder / "redis", keeps=True))
        chroma_port, _ = closing.enter_context(chroma_server(folder / "chroma"))
        library = _write_library(folder, shop.service.origin)
        hook = {"url": f"{shop.kernel.origin}/commit", "secret": _SECRET, "first_retry_s": 0.2}
        settings = configure(
            folder,
            [adapter(ADAPTER, library, config=_ADAPTER_CONFIG)],
            server={
                "turn_timeout_s": 15,
                "drain_s": DRAIN_S,
                "connections": {"trusted_proxies": ["127.0.0.1"]},
            },
            access={
                "database_url": store.url,
                "secret_file": str(_write_secret(folder)),
                "rate_limits": {"storage": counts.url},
            },
            vector_store={"mode": "server", "host": "127.0.0.1", "port": chroma_port},
            conversation={"commits": {"webhook": hook}},
        )
        assert settings.settings.access.database_url is not None
        config = folder / "config.yaml"
        replicas = [Replica(config, folder / name, name=name) for name in NAMES]
        balancer = Balancer(folder, replicas)
        balancer.start()
        closing.callback(balancer.stop)
        for each in replicas:
            closing.callback(each.kill)
        yield Cluster(folder, config, replicas, balancer, store, counts, shop)


def _write_secret(folder: Path) -> Path:
    path = folder / "secret"
    path.touch(0o600)
    path.write_text(os.urandom(32).hex())
    return path


@asynccontextmanager
async def _shop() -> AsyncIterator[Shop]:
    cancelled: set[int] = set()

    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        order = int(asked.path.split("/")[2])
        if _is_cancel(asked):
            cancelled.add(order)
            await asyncio.sleep(0.02)
        status = "cancelled" if order in cancelled else status_of(order)
        writer.write(reply({"order": order, "status": status, "kg": weight_of(order)}))

    async def take(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(reply({}))

    async with upstream(answer) as service, upstream(take) as kernel:
        yield Shop(service, kernel)


def _is_cancel(asked: Asked) -> bool:
    return asked.method == "POST"


def _write_library(folder: Path, origin: str, *, weighs: bool = False) -> Path:
    templates = [PERCENTAGE, _CANCEL, _STATUS, *([_WEIGHT] if weighs else [])]
    there = yaml.safe_load(yaml.safe_dump(templates).replace("ORIGIN", origin))
    return write_library(folder / "library", there)


def _of_order(name: str, description: str, examples: Sequence[str], **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "description": description,
        "tool_type": "function",
        "nl_examples": list(examples),
        "function_schema": {
            "name": name,
            "parameters": [{"name": "order", "type": "integer", "required": True}],
        },
        **more,
    }


_CANCEL: Final = _of_order(
    "cancel_order",
    "Cancel an order",
    ["Cancel order 001", "Please cancel order 17", "I want order 5 cancelled"],
    effect="write",
    execution={
        "type": "http_call",
        "http_method": "POST",
        "endpoint_template": "ORIGIN/orders/{order}/cancel",
        "headers": {"Idempotency-Key": "cancel-{order}"},
    },
)
_STATUS: Final = _of_order(
    "order_status",
    "Tell the status of an order",
    ["What is the status of order 001?", "How far is order 17?", "Status of order 5 please"],
    execution={"type": "http_call", "endpoint_template": "ORIGIN/orders/{order}"},
    response_template="Order {{ order }} is **{{ status }}**",
)
_WEIGHT: Final = _of_order(
    "order_weight",
    "Tell how heavy the parcel of an order is",
    ["How heavy is order 001?", "How much does order 17 weigh?", "Weight of order 5 in kilograms"],
    execution={"type": "http_call", "endpoint_template": "ORIGIN/orders/{order}"},
    response_template="Order {{ order }} weighs **{{ kg }}** kg",
)
