"""What a client makes of responses: errors, what is sent again, and streams that break off."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from server.client import (
    AsyncClient,
    Client,
    ClientError,
    KeyRefused,
    Piece,
    Proposal,
    Refused,
    ResponseInvalid,
    ServerUnreachable,
    TryLater,
)
from server.errors import OrbitError

ANSWER = {"content": "30", "confidence": 1.0, "session_id": "s", "metadata": {"source": "intent"}}
HELD = Proposal(proposal_id="p", session_id="s")

Reply = httpx.Response | Exception


def refused(status: int, code: str, **headers: str) -> httpx.Response:
    error = {"code": code, "message": "no", "request_id": "r1", "details": [{"field": "x"}]}
    return httpx.Response(status, json={"error": error}, headers=headers)


def scripted(*replies: Reply) -> tuple[httpx.MockTransport, list[httpx.Request]]:
    """Answers with each in turn; what was asked."""
    left, asked = list(replies), list[httpx.Request]()

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        reply = left.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    return httpx.MockTransport(answer), asked


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.client.calls._FIRST_PAUSE_S", 0.0)


def outcome(work: Callable[[Client], Any], *replies: Reply) -> tuple[Any, int]:
    """What a client comes to, and how often it asked."""
    transport, asked = scripted(*replies)
    with Client("http://orbit", "k", transport=transport) as client:
        try:
            return work(client), len(asked)
        except ClientError as failed:
            return failed, len(asked)


def ask(client: Client) -> Any:
    return client.ask("x").content


def health(client: Client) -> Any:
    return client.health().status


HEALTHY = httpx.Response(200, json={"status": "ok", "version": "1", "instance": "i"})


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "key_unknown", KeyRefused),
        (403, "gateway_refused", KeyRefused),
        (422, "fields_invalid", Refused),
        (410, "proposal_expired", Refused),
        (503, "store_unavailable", TryLater),
    ],
)
def test_a_refusal_says_all_that_the_server_says(
    status: int, code: str, kind: type[Refused]
) -> None:
    failed, times = outcome(ask, refused(status, code, **{"Retry-After": "7"}))
    assert type(failed) is kind
    assert isinstance(failed, OrbitError)
    assert (str(failed), failed.status, failed.code, failed.request_id) == (
        "no",
        status,
        code,
        "r1",
    )
    assert (failed.details, failed.retry_after_s, times) == (({"field": "x"},), 7.0, 1)


def test_what_changes_nothing_is_sent_again() -> None:
    late, down = httpx.ReadTimeout("late"), refused(503, "store_unavailable")
    assert outcome(health, late, down, HEALTHY) == ("ok", 3)
    failed, times = outcome(health, late, late, late, HEALTHY)
    assert (type(failed), times) == (ServerUnreachable, 3)


@pytest.mark.parametrize("work", [ask, lambda client: client.confirm(HELD).content])
def test_what_may_have_been_done_is_not_sent_again(work: Callable[[Client], Any]) -> None:
    answer = httpx.Response(200, json=ANSWER)
    for failure in (httpx.ReadTimeout("late"), httpx.RemoteProtocolError("broke off"),
                    refused(503, "store_unavailable"), refused(504, "turn_timed_out")):  # fmt: skip
        failed, times = outcome(work, failure, answer)
        assert (isinstance(failed, ClientError), times) == (True, 1)
    for unbegun in (httpx.ConnectError("nobody there"), refused(503, "adapter_unavailable"),
                    refused(429, "rate_limited")):  # fmt: skip
        assert outcome(work, unbegun, answer) == ("30", 2)


def test_whoever_is_told_to_come_back_much_later_is_told_at_once() -> None:
    failed, times = outcome(health, refused(429, "rate_limited", **{"Retry-After": "3600"}))
    assert (failed.retry_after_s, times) == (3600.0, 1)


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(502, text="<html>bad gateway"),
        httpx.Response(200, text="<html>hello"),
        httpx.Response(200, json=["a"]),
        httpx.Response(200, json={"content": "30"}),
        httpx.Response(404, json={"error": "no"}),
    ],
)
def test_what_is_no_answer_is_not_taken_for_one(reply: httpx.Response) -> None:
    failed, _ = outcome(ask, reply)
    assert type(failed) is ResponseInvalid


def test_a_newer_server_may_say_more() -> None:
    assert outcome(ask, httpx.Response(200, json=ANSWER | {"mood": "good"})) == ("30", 1)


def test_no_server_is_ready_as_well() -> None:
    row = {"name": "shop", "state": "unavailable", "why": "gone"}
    reply = httpx.Response(503, json={"status": "unavailable", "adapters": [row]})
    found, _ = outcome(lambda client: client.ready(), reply)
    assert (found.serves, found.adapters[0].why) == (False, "gone")


def events(*data: dict[str, Any]) -> httpx.Response:
    lines = "".join(f": waiting\n\ndata: {json.dumps(each)}\n\n" for each in data)
    return httpx.Response(200, text=lines, headers={"x-request-id": "r9"})


STREAMED = {k: v for k, v in ANSWER.items() if k != "content"} | {"status": "complete"}


def test_pieces_come_and_the_answer_is_what_counts() -> None:
    def work(client: Client) -> Any:
        with client.stream("x") as pieces:
            with pytest.raises(ClientError, match="go through all pieces"):
                _ = pieces.answer
            return list(pieces), pieces.answer.content, pieces.answer.request_id

    said = events(
        {"status": "sources", "sources": []},
        {"status": "streaming", "chunk": "31"},
        {"status": "reset", "reason": "'31' is not in the result"},
        {"status": "streaming", "chunk": "30"},
        STREAMED,
    )
    pieces = [Piece("31"), Piece(reset="'31' is not in the result"), Piece("30")]
    assert outcome(work, said) == ((pieces, "30", "r9"), 1)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (events({"status": "streaming", "chunk": "3"}), ServerUnreachable),
        (events({"status": "error", "error": refused(504, "turn_timed_out").json()["error"]}),
         Refused),
        (events({"status": "streaming"}), ResponseInvalid),
        (refused(401, "key_unknown"), KeyRefused),
    ],
)  # fmt: skip
def test_a_stream_that_does_not_end_well_is_a_failure(
    reply: httpx.Response, kind: type[ClientError]
) -> None:
    def work(client: Client) -> Any:
        with client.stream("x") as pieces:
            return list(pieces)

    failed, _ = outcome(work, reply)
    assert type(failed) is kind


def test_url_and_key_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORBIT_URL", "http://elsewhere:1/orbit/")
    monkeypatch.setenv("ORBIT_API_KEY", "from the environment")
    transport, asked = scripted(HEALTHY, HEALTHY)
    with Client(transport=transport) as client:
        client.health()
    with Client("http://here", "given", transport=transport) as client:
        client.health()
    assert [(str(r.url), r.headers["authorization"]) for r in asked] == [
        ("http://elsewhere:1/orbit/health", "Bearer from the environment"),
        ("http://here/health", "Bearer given"),
    ]


def test_the_one_that_is_awaited_does_the_same() -> None:
    async def run() -> tuple[str, int, type]:
        transport, asked = scripted(
            httpx.ConnectError("x"), httpx.Response(200, json=ANSWER), httpx.ReadTimeout("x")
        )
        async with AsyncClient("http://orbit", transport=transport) as client:
            answer = await client.ask("x")
            with pytest.raises(ServerUnreachable) as failed:
                await client.ask("x")
            return answer.content, len(asked), type(failed.value.__cause__)

    assert asyncio.run(run()) == ("30", 3, httpx.ReadTimeout)


def test_both_have_the_same_methods() -> None:
    def methods(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert methods(Client) - {"close"} == methods(AsyncClient) - {"aclose"}
