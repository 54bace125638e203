"""What services do to us over a real wire, and what we say of it."""

import asyncio
import gzip
import socket
import ssl
from dataclasses import replace

import pytest
import trustme

from server.errors import ToolError, ToolFailed, ToolTimedOut
from server.library.http_auth import HttpAuth
from server.library.http_model import HttpMethod
from server.tools.http.engine import HttpEngine
from tests.tools.http.calls import FAST, LOOPBACK, ask, execution, once
from tests.tools.http.upstream import Answering, Asked, always, calculated, in_turn, reply, upstream

OK = reply({"ok": True})
QUICK = replace(FAST, timeout_s=0.3)


def failure(
    answering: Answering, method: HttpMethod = "GET", path: str = "/x", **more: object
) -> tuple[str, str, int]:
    """Kind of failure, its message with the host as HOST, and how often it was asked."""

    async def run() -> tuple[str, str, int]:
        async with upstream(answering) as service:
            with pytest.raises(ToolError) as failed:
                await once(service, method, path, {}, **more)
            message = str(failed.value).replace(service.host, "HOST")
            return type(failed.value).__name__, message, len(service.asked)

    return asyncio.run(run())


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_every_method_arrives_as_it_is(method: HttpMethod) -> None:
    result, asked = ask(always(OK), method, "/things", json={"a": 1})
    assert (result["result"], [(a.method, a.path, a.json) for a in asked]) == (
        {"ok": True},
        [(method, "/things", {"a": 1})],
    )


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            reply({"message": "no such city"}, status=404),
            "HOST answered 404 Not Found: no such city",
        ),
        (
            reply({"error": {"reason": "bad\r\n\x1b[31mday"}}, status=400),
            "HOST answered 400 Bad Request: bad [31mday",
        ),
        (reply("x", status=500), "HOST answered 500 Internal Server Error: x"),
        (
            reply(body=b"<html>", status=403, content_type="text/html"),
            "HOST answered 403 Forbidden",
        ),
        (reply(body=b"[" * 9000, status=400), "HOST answered 400 Bad Request"),
        (reply({}, status=299 + 300), "HOST answered 599"),
        (reply({}, status=304), "HOST answered 304 Not Modified"),
    ],
)
def test_a_refusal_is_told_with_its_reason(answer: bytes, message: str) -> None:
    assert failure(always(answer)) == ("ToolFailed", message, 1)


def test_a_reason_never_repeats_a_secret() -> None:
    answer = calculated(
        lambda asked: reply({"detail": f"bad {asked.headers} {asked.query}"}, status=401)
    )
    service = replace(FAST, auth=HttpAuth("api_key", secret="hunter2", name="k", place="query"))
    _, message, _ = failure(answer, service=service, headers={"X-Secret": "Bearer swordfish"})
    assert "***" in message
    assert "hunter2" not in message
    assert "swordfish" not in message


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_passing_fault_is_tried_again(status: int) -> None:
    result, asked = ask(in_turn(reply({}, status=status), reply({}, status=status), OK), "GET", "/")
    assert (result["result"], len(asked)) == ({"ok": True}, 3)


def test_a_lasting_fault_is_told_after_the_last_try() -> None:
    assert failure(always(reply({}, status=503))) == (
        "ToolFailed",
        "HOST answered 503 Service Unavailable",
        3,
    )


def test_what_may_have_happened_is_not_sent_twice() -> None:
    assert failure(always(reply({}, status=503)), "POST") == (
        "ToolFailed",
        "HOST answered 503 Service Unavailable",
        1,
    )


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_busy_service_is_asked_again_when_it_says(method: HttpMethod) -> None:
    busy = reply({}, status=429, retry_after="0")
    result, asked = ask(in_turn(busy, OK), method, "/")
    assert (result["result"], len(asked)) == ({"ok": True}, 2)


@pytest.mark.parametrize("when", ["60", "Fri, 31 Dec 2999 23:59:59 GMT"])
def test_a_wait_beyond_the_deadline_is_told_instead(when: str) -> None:
    kind, message, asked = failure(always(reply({}, status=429, retry_after=when)), service=QUICK)
    assert (kind, asked) == ("ToolFailed", 1)
    assert message.startswith("HOST answered 429 Too Many Requests; it asks to wait ")


def test_a_refused_connection_names_the_service() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{unused.getsockname()[1]}"

    async def run() -> None:
        engine = HttpEngine(egress=LOOPBACK)
        try:
            await engine.run(execution("GET", f"http://{host}/x"), {})
        finally:
            await engine.close()

    with pytest.raises(ToolFailed) as failed:
        asyncio.run(run())
    assert str(failed.value) == f"{host} could not be reached: it refused the connection"


def test_a_name_that_no_one_has_cannot_be_reached() -> None:
    async def run() -> None:
        engine = HttpEngine(egress=LOOPBACK)
        try:
            await engine.run(execution("GET", "http://nowhere.invalid/x"), {})
        finally:
            await engine.close()

    with pytest.raises(ToolFailed, match=r"^nowhere\.invalid could not be reached$"):
        asyncio.run(run())


def test_a_stranger_behind_tls_is_not_trusted() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)

    async def run() -> str:
        async with upstream(always(OK), ssl=context) as service:
            with pytest.raises(ToolFailed) as failed:
                await once(service, "GET", "/x")
            return str(failed.value).replace(service.host, "HOST")

    assert asyncio.run(run()).startswith("HOST could not prove who it is (TLS: unable to get")


async def _nothing(asked: Asked, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


async def _drip(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("answering", [_nothing, _drip])
def test_silence_and_a_slow_drip_end_at_the_deadline(answering: Answering) -> None:
    assert failure(answering, service=QUICK) == ("ToolTimedOut", "HOST did not answer in time", 1)


async def _garbage(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"\x00\xff\x17 not http at all\r\n\r\n")


async def _hang_up(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def _truncated(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")
    writer.close()


@pytest.mark.parametrize("answering", [_garbage, _hang_up, _truncated])
def test_a_broken_answer_is_tried_again_and_then_told(answering: Answering) -> None:
    message = "HOST broke off its answer, or did not speak HTTP"
    assert failure(answering) == ("ToolFailed", message, 3)


async def _endless(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n")
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


def test_a_huge_answer_is_left_unread() -> None:
    service = replace(FAST, max_response_bytes=300_000)
    assert failure(_endless, service=service) == ("ToolFailed", "HOST sent more than 0.3 MB", 1)


def test_a_small_gzip_body_cannot_unpack_into_a_huge_one() -> None:
    bomb = reply(body=gzip.compress(b"0" * 50_000_000), content_encoding="gzip")
    assert failure(always(bomb)) == ("ToolFailed", "HOST sent more than 4 MB", 1)


@pytest.mark.parametrize("encoding", ["gzip", "GZIP"])
def test_a_gzip_body_is_unpacked(encoding: str) -> None:
    packed = reply(body=gzip.compress(b'{"ok": true}'), content_encoding=encoding)
    result, asked = ask(always(packed), "GET", "/")
    assert (result["result"], asked[0].headers["accept-encoding"]) == ({"ok": True}, "gzip")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (reply(body=b"plain", content_encoding="gzip"), "HOST sent a body that cannot be unpacked"),
        (
            reply(body=gzip.compress(b"0" * 9999)[:-9], content_encoding="gzip"),
            "HOST broke off its answer",
        ),
        (
            reply(body=b"x", content_encoding="br"),
            "HOST sent a body in an encoding that was not asked for",
        ),
    ],
)
def test_a_badly_packed_body_is_told(answer: bytes, message: str) -> None:
    assert failure(always(answer)) == ("ToolFailed", message, 1)


def test_a_redirect_on_the_same_host_is_followed() -> None:
    answer = calculated(
        lambda asked: OK if asked.path == "/there" else reply({}, status=302, location="/there")
    )
    result, asked = ask(answer, "GET", "/here")
    assert (result["result"], [a.path for a in asked]) == ({"ok": True}, ["/here", "/there"])


@pytest.mark.parametrize(
    "location", ["http://localhost:1/x", "//127.0.0.1:1/x", "http://169.254.169.254/x"]
)
def test_a_redirect_to_another_host_is_not_followed(location: str) -> None:
    assert failure(always(reply({}, status=307, location=location))) == (
        "ToolFailed",
        "HOST redirected to another host, which is not followed",
        1,
    )


def test_redirects_in_a_circle_end() -> None:
    assert failure(always(reply({}, status=302, location="/x"))) == (
        "ToolFailed",
        "HOST redirected too often",
        4,
    )


def test_a_redirect_to_no_address_is_not_followed() -> None:
    assert failure(always(reply({}, status=302, location="http://[bad"))) == (
        "ToolFailed",
        "HOST redirected to another host, which is not followed",
        1,
    )


def test_cookies_are_not_kept_for_the_next_caller() -> None:
    answering = always(reply({}, set_cookie="session=alice; Path=/"))

    async def run() -> list[bool]:
        async with upstream(answering) as service:
            engine = HttpEngine(egress=LOOPBACK)
            for _ in range(2):
                await engine.run(execution("GET", "/", base_url=service.origin), {})
            await engine.close()
            return ["cookie" in asked.headers for asked in service.asked]

    assert asyncio.run(run()) == [False, False]


def test_no_more_calls_at_once_than_allowed() -> None:
    running = most = 0

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        writer.write(OK)

    async def run() -> None:
        async with upstream(answering) as service:
            engine = HttpEngine(egress=LOOPBACK, max_concurrency=3)
            call = execution("GET", "/", base_url=service.origin)
            await asyncio.gather(*(engine.run(call, {}) for _ in range(12)))
            await engine.close()

    asyncio.run(run())
    assert most == 3


def test_a_full_house_makes_a_call_time_out_not_wait_forever() -> None:
    async def run() -> None:
        async with upstream(_nothing) as service:
            engine = HttpEngine(egress=LOOPBACK, max_concurrency=1)
            slow = execution("GET", "/", base_url=service.origin)
            first = asyncio.create_task(engine.run(slow, {}))
            await asyncio.sleep(0.05)
            with pytest.raises(ToolTimedOut):
                await engine.run(slow, {}, timeout_s=0.05)
            first.cancel()
            await engine.close()

    asyncio.run(run())


def test_slow_calls_run_side_by_side() -> None:
    async def run() -> int:
        everyone = asyncio.Barrier(32)

        async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
            await everyone.wait()  # nobody gets an answer before all have asked
            writer.write(OK)

        async with upstream(answering) as service:
            engine = HttpEngine(egress=LOOPBACK)
            call = execution("GET", "/", base_url=service.origin)
            results = await asyncio.gather(*(engine.run(call, {}) for _ in range(32)))
            await engine.close()
            return len(results)

    assert asyncio.run(run()) == 32


def test_a_cancelled_call_gives_its_connection_back() -> None:
    async def run() -> dict[str, object]:
        async with upstream(in_turn(OK)) as service:
            engine = HttpEngine(egress=LOOPBACK, max_concurrency=1)
            call = execution("GET", "/", base_url=service.origin)
            task = asyncio.create_task(engine.run(call, {}))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            result = await engine.run(call, {})
            await engine.close()
            return result

    assert asyncio.run(run())["result"] == {"ok": True}
