"""Connections before a key is known: how many, how large, how slow, and how they end."""

import asyncio
import logging
import os
import resource
import socket
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import ValidationError
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from server.access.clients import client_of
from server.api.connections import within_descriptors
from server.api.factory import RequestFrame
from server.metrics.metrics import Metrics
from server.settings.models import ConnectionSettings
from tests.support.api import served_within

pytestmark = pytest.mark.anyio

GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """The event loop that serves."""
    return "asyncio", {"use_uvloop": True}


class Answering:
    """Says `ok`, and the address of the client, after `takes_s`."""

    def __init__(self, takes_s: float = 0.0, size: int = 0) -> None:
        self.takes_s = takes_s
        self.size = size
        self.left = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        gone = asyncio.ensure_future(receive())
        done, _ = await asyncio.wait({gone}, timeout=self.takes_s) if self.takes_s else ((), ())
        if done:
            self.left += 1
            return
        body = f"ok {scope['client'][0]}".encode() + b" " * self.size
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        gone.cancel()


class Served:
    """A server, what it counted, and connections to it."""

    def __init__(self, port: int, metrics: Metrics) -> None:
        self.port = port
        self._metrics = metrics

    def metric(self, name: str) -> dict[str, float]:
        """The values of a metric that are not zero, by their labels."""
        lines = [line for line in self._metrics.text().decode().splitlines() if line[0] != "#"]
        found = (line.rpartition(" ") for line in lines if line.startswith(name))
        return {key.removeprefix(name): float(value) for key, _, value in found if float(value)}

    @property
    def ended(self) -> dict[str, float]:
        found = self.metric("orbit_connection_limits_total")
        return {key.split('"')[1]: value for key, value in found.items()}

    async def emptied(self) -> None:
        """Return when no connection is open."""
        async with asyncio.timeout(5):
            while self.metric("orbit_connections "):  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def ask(self, *parts: bytes, pause_s: float = 0.0) -> bytes:
        """Send parts, and return all that comes until the server closes."""
        reader, writer = await self.connect()
        for part in parts:
            writer.write(part)
            await asyncio.sleep(pause_s)
        try:
            async with asyncio.timeout(5):
                return await reader.read()
        finally:
            writer.close()


@asynccontextmanager
async def served(app: Any = None, **limits: Any) -> AsyncIterator[Served]:
    metrics, settings = Metrics(), ConnectionSettings(**limits)
    frame = RequestFrame(app or Answering(), max_body_bytes=4096, metrics=metrics)
    async with served_within(frame, settings, metrics) as port:
        yield Served(port, metrics)


def status(answer: bytes) -> str:
    return answer[9:12].decode()


HEADERS = b"".join(b"X-%d: y\r\n" % number for number in range(6))


@pytest.mark.parametrize(
    ("parts", "limits", "answered", "ended"),
    [
        (
            [GET[:-2], b"X-Long: " + b"x" * 3000, b"\r\n\r\n"],
            {"max_head_kb": 1},
            "431",
            "head_size",
        ),
        ([GET[:-2], *[b"x" * 500] * 10], {"max_head_kb": 1}, "431", "head_size"),
        ([b"GET /" + b"x" * 2000 + b" HTTP/1.1\r\n\r\n"], {"max_head_kb": 1}, "431", "head_size"),
        ([GET[:-2] + HEADERS + b"\r\n"], {"max_headers": 5}, "431", "head_size"),
        (
            [b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ", *[b"x" * 500] * 10],
            {"max_head_kb": 1},
            "431",
            "head_size",
        ),
        ([GET[:-4]], {"head_s": 0.2}, "408", "head_time"),
        ([GET[:9], *[b"a"] * 20], {"head_s": 0.2}, "408", "head_time"),
        ([b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"], {"body_s": 0.2}, "408", "body_time"),
        ([], {"idle_s": 0.2}, "", "idle"),
        ([b"\r\n", b"\r\n"], {"idle_s": 0.2}, "", "idle"),
        ([GET], {"idle_s": 0.2}, "200", "idle"),
    ],
)
async def test_what_is_too_large_or_too_slow_is_ended_counted_and_told(
    parts: Sequence[bytes],
    limits: dict[str, Any],
    answered: str,
    ended: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served(**limits) as server:
        answer = await server.ask(*parts, pause_s=0.03)
        assert (status(answer), server.ended) == (answered, {ended: 1})
        await server.emptied()
    rested = ended == "idle" and answered == "200"
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(told) == (0 if rested else 1)


@pytest.mark.parametrize(
    ("limits", "ended"),
    [({"most": 3}, "connections"), ({"most_per_address": 3}, "address")],
)
async def test_beyond_the_limits_a_connection_is_turned_away_until_another_ends(
    limits: dict[str, int], ended: str
) -> None:
    async with served(**limits) as server:
        held = [await server.connect() for _ in range(3)]
        refused = [status(await server.ask()) for _ in range(4)]
        held.pop()[1].close()
        await asyncio.sleep(0.05)
        _, writer = again = await server.connect()
        writer.write(GET)
        answered = status(await again[0].read(100))
        assert (refused, answered, server.ended) == (["503"] * 4, "200", {ended: 4})
        for _, writer in [*held, again]:
            writer.close()
        await server.emptied()


@pytest.mark.parametrize(
    ("trusted", "refused", "client"),
    [((), 1, b"127.0.0.1"), (("127.0.0.0/8",), 0, b"198.51.100.7")],
)
async def test_a_trusted_proxy_is_not_one_client_and_names_its_own(
    trusted: tuple[str, ...], refused: int, client: bytes
) -> None:
    forwarded = GET[:-2] + b"X-Forwarded-For: 203.0.113.9, 198.51.100.7\r\n\r\n"
    async with served(most_per_address=2, trusted_proxies=trusted) as server:
        held = [await server.connect() for _ in range(3)]
        held[0][1].write(forwarded)
        assert (await held[0][0].read(1000)).endswith(b"ok " + client)
        assert server.ended.get("address", 0) == refused
        for _, writer in held:
            writer.close()


def test_what_is_no_network_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match=r"'10\.0\.0\.7/8' is no address or network"):
        ConnectionSettings(trusted_proxies=("10.0.0.7/8",))


@pytest.mark.parametrize(
    ("host", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
    ],
)
def test_a_client_is_an_address_or_a_network(host: str, client: str) -> None:
    assert client_of(host) == client


async def test_a_client_that_closed_its_half_gets_its_answer() -> None:
    async with served(Answering(takes_s=0.7)) as server:
        reader, writer = await server.connect()
        writer.write(GET)
        writer.write_eof()
        answer = await asyncio.wait_for(reader.read(), 5)
        interim, _, final = answer.rpartition(b"HTTP/1.1 200")
        assert interim == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert final.endswith(b"ok 127.0.0.1")
        assert server.ended == {}
        writer.close()
        await server.emptied()


async def test_a_quick_answer_to_a_half_closed_client_is_all_it_gets() -> None:
    async with served() as server:
        reader, writer = await server.connect()
        writer.write(GET)
        writer.write_eof()
        assert status(await asyncio.wait_for(reader.read(), 5)) == "200"
        writer.close()


async def test_a_client_that_left_is_noticed_before_its_answer() -> None:
    app = Answering(takes_s=30.0)
    async with served(app) as server:
        _, writer = await server.connect()
        writer.write(GET)
        await asyncio.sleep(0.05)
        writer.close()
        await server.emptied()
        await asyncio.sleep(0.05)
        assert app.left == 1


def upload(port: int, size: int, *more: bytes) -> bytes:
    """What a plain client reads that sends all of a body before it reads anything."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        head = b"POST /chat HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n" % size
        client.sendall(head + b"".join(more) + b"\r\n")
        for _ in range(size // 65536):
            client.sendall(b"x" * 65536)
        client.sendall(b"x" * (size % 65536))
        return b"".join(iter(lambda: client.recv(65536), b""))


async def test_a_413_can_be_read_by_a_client_that_still_sends() -> None:
    async with served() as server:
        answer = await asyncio.to_thread(upload, server.port, 8_000_000, b"Connection: close\r\n")
        assert (status(answer), b'"body_too_large"' in answer) == ("413", True)


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as server:
        _, writer = await server.connect()
        writer.write(b"POST /chat HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nabc")
        await asyncio.sleep(0.05)
        writer.close()
        await server.emptied()
        await asyncio.sleep(0.05)
        assert server.metric("orbit_requests_total") == {
            '{method="POST",route="unmatched",status="499"}': 1.0
        }
    assert caplog.records == []


async def test_a_client_that_leaves_before_what_a_get_has_no_use_for_is_no_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def reading(scope: Scope, receive: Receive, send: Send) -> None:
        await Request(scope, receive).body()

    async with served(reading) as server:
        _, writer = await server.connect()
        writer.write(GET[:-2] + b"Content-Length: 50\r\n\r\nabc")
        await asyncio.sleep(0.05)
        writer.close()
        await server.emptied()
        await asyncio.sleep(0.05)
    assert caplog.records == []


async def test_who_waits_to_be_told_to_go_on_is_told_of_a_malformed_body(
    caplog: pytest.LogCaptureFixture,
) -> None:
    head = (
        b"POST /chat HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n"
    )
    async with served() as server:
        answer = await server.ask(head + b"\r\nno chunk\r\n")
        await asyncio.sleep(0.05)
    assert (status(answer), b'"request_malformed"' in answer) == ("400", True)
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_of_many_requests_that_are_none_the_log_tells_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as server:
        answers = [await server.ask(b"no request\r\n\r\n") for _ in range(20)]
        assert server.ended == {"malformed": 20.0}
    assert {status(answer) for answer in answers} == {"400"}
    (message,) = caplog.messages
    assert message.endswith("ended: what came is not an HTTP/1.1 request")


async def test_a_client_that_does_not_read_its_answer_is_let_go() -> None:
    async with served(Answering(size=20_000_000), idle_s=0.2) as server:
        _, writer = await server.connect()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(GET)
        await asyncio.sleep(0.1)
        await server.emptied()
        assert server.ended == {"unread": 1}
        writer.close()


@pytest.mark.chaos  # it measures how soon they are answered, so it runs alone
async def test_of_256_clients_that_connect_together_the_last_is_answered_within_a_second() -> None:
    class Busy(Answering):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            until = time.perf_counter() + 0.001  # of work, not of waiting
            while time.perf_counter() < until:
                pass
            await super().__call__(scope, receive, send)

    async with served(Busy()) as server:
        began, over = time.perf_counter(), asyncio.Event()

        async def first_answer_s() -> float:
            reader, writer = await server.connect()
            first: float | None = None
            while first is None or not over.is_set():  # and it asks on, as the others do
                writer.write(GET)
                await reader.readuntil(b"127.0.0.1")
                first = first or time.perf_counter() - began
                waiting.discard(asyncio.current_task())
                if not waiting:
                    over.set()
            writer.close()
            return first

        asking = [asyncio.create_task(first_answer_s()) for _ in range(256)]
        waiting: set[asyncio.Task[Any] | None] = set(asking)
        slowest = max(await asyncio.gather(*asking))
    assert slowest < 1.0


async def test_without_descriptors_connections_wait_and_it_is_told() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with served() as server:
        clients = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(6)]
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free_descriptor(), hard))
        try:
            await asyncio.sleep(0.1)
            told = server.ended.get("descriptors", 0)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for client in clients:
            client.sendall(GET)
        answers = [status(await asyncio.to_thread(client.recv, 1000)) for client in clients]
        for client in clients:
            client.close()
    assert (told > 0, answers) == (True, ["200"] * 6)


def lowest_free_descriptor() -> int:
    with open(os.devnull) as file:
        return file.fileno()


def test_no_more_connections_are_taken_than_may_be_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 64))
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    taken = within_descriptors(ConnectionSettings(most=100)).most
    assert 1 <= taken < 64 - len(os.listdir("/dev/fd"))


def test_a_limit_that_may_be_raised_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    raised = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 4096))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    settings = ConnectionSettings(most=100)
    assert within_descriptors(settings) == settings
    assert raised[0][0] > 200
