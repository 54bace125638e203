"""None of the attacks in `table.yaml` gets through."""

import asyncio
import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpcore
import pytest
import yaml

from server.core.turn import Caller
from server.errors import ArgumentsInvalid, ToolFailed
from server.library.http_model import HttpMethod
from server.library.rendering import render
from server.tools.http.engine import HttpEngine
from tests.api.conftest import Edge, edge
from tests.tools.http.calls import execution, once
from tests.tools.http.upstream import Asked, reply, upstream
from tests.tools.policy.chains import bench

__all__ = ["edge"]

pytestmark = pytest.mark.anyio

TABLE = yaml.safe_load((Path(__file__).parent / "table.yaml").read_text(encoding="utf-8"))


def attacks(kind: str) -> Any:
    return [pytest.param(row, id=row["what"]) for row in TABLE[kind]]


def test_there_are_many() -> None:
    assert sum(map(len, TABLE.values())) >= 60
    assert {name: len({row["what"] for row in rows}) for name, rows in TABLE.items()} == {
        name: len(rows) for name, rows in TABLE.items()
    }


def _arguments(row: Mapping[str, Any]) -> dict[str, Any]:
    if "repeat" in row:
        return {"text": "a" * row["repeat"]}
    if "surrogate" in row:
        return {"text": "a\ud800b"}
    if "members" in row:
        return {"rows": [{"id": 1}] * row["members"]}
    if "nest" in row:
        rows: list[Any] = []
        for _ in range(row["nest"]):
            rows = [rows]
        return {"rows": rows}
    return dict(row.get("arguments", {}))


@pytest.mark.parametrize("row", attacks("calls"))
async def test_no_proposal_gets_through(row: dict[str, Any], tmp_path: Path) -> None:
    desk = bench(tmp_path, intents="intent" in row)
    caller = Caller("k", "desk", user_id=row.get("user"), role=row.get("role", "user"))
    borrowed = {name: row[name] for name in ("tool", "operation") if name in row}
    carried = await desk.ask(
        row["template"], _arguments(row), caller=caller, intent=row.get("intent"), **borrowed
    )
    assert carried.outcome == row["ends"]
    assert desk.desk.ran == []
    assert [event["outcome"] for event in await desk.events()] == [row["ends"]]


@pytest.mark.parametrize("row", attacks("places"))
async def test_no_value_leaves_its_place(row: dict[str, Any]) -> None:
    place = row["place"]
    request: dict[str, Any] = {
        "path": {},
        "query": {"query": {"v": "{{ v }}"}},
        "header": {"headers": {"X-V": "{{ v }}"}},
        "json": {"json": {"v": "{{ v }}"}},
        "form": {"form": {"v": "{{ v }}"}},
    }[place]
    path = "/items/{{ v }}/end" if place == "path" else "/items"
    method: HttpMethod = "POST" if place in ("json", "form") else "GET"

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(reply({"ok": True}))

    async with upstream(answering) as service:
        try:
            await once(service, method, path, {"v": row["value"]}, **request)
        except ArgumentsInvalid:
            assert row.get("refused"), "it was refused, and should have been encoded"
            assert service.asked == []
            return
        (asked,) = service.asked
    assert not row.get("refused"), "it was sent, and should have been refused"
    assert asked.headers["host"] == service.host
    assert not {"x-admin"} & asked.headers.keys()
    arrived: Mapping[str, Any] = {
        "path": asked.target,
        "query": dict(asked.query).get("v"),
        "header": asked.headers.get("x-v"),
        "json": json.loads(asked.body or b"null") if place == "json" else None,
        "form": asked.body.decode(),
    }
    assert arrived[place] == row["sent"]
    if place == "query":
        assert len(asked.query) == 1


RESOLVED = {
    "rebinds.example": [["8.8.8.8"], ["127.0.0.1"]],
    "mixed.example": [["8.8.8.8", "10.0.0.1"]],
}


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every address that a connection is opened to; names of tests resolve without a network."""
    opened: list[Any] = []
    asked: dict[str, int] = {}
    real = socket.getaddrinfo

    def resolve(host: Any, port: Any, *more: Any, **named: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in RESOLVED:
            return real(host, port, *more, **named)
        looks = RESOLVED[name]
        answer = looks[min(asked.get(name, 0), len(looks) - 1)]
        asked[name] = asked.get(name, 0) + 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in answer]

    async def connect(self: Any, host: str, *more: Any, **named: Any) -> Any:
        opened.append(host)
        raise httpcore.ConnectError("nobody is there")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect)
    return opened


@pytest.mark.parametrize("row", attacks("hosts"))
async def test_no_call_goes_to_a_private_address(row: dict[str, Any], connected: list[Any]) -> None:
    engine = HttpEngine()
    try:
        with pytest.raises(ToolFailed):
            await engine.run(execution("GET", "/x", base_url=row["origin"]), {})
    finally:
        await engine.close()
    # What was judged is what is connected to: never the name, which may mean another by then.
    assert [address for address in connected if address != "8.8.8.8"] == []


@pytest.mark.parametrize("row", attacks("requests"))
async def test_no_request_gets_through(row: dict[str, Any], edge: Edge) -> None:
    headers = {"Authorization": f"Bearer {edge.key}"} | row.get("headers", {})
    if "headers" in row and not any(name.startswith("X-Orbit") for name in row["headers"]):
        del headers["Authorization"]
    if headers.get("X-API-Key") == "LONG":
        headers["X-API-Key"] = "k" * 1000
    body = json.dumps(row.get("body", {"message": "What is 15% of 200?"})).encode()
    if row.get("raw") == "NESTED":
        body = b'{"message":' + b"[" * 1500 + b"]" * 1500 + b"}"
    if row.get("raw") == "LARGE":
        body = b'{"message":"' + b"a" * 10_000 + b'"}'
    answer = await edge.client.post("/chat", content=body, headers=headers)
    assert answer.status_code == row["status"]
    assert set(answer.json()) == {"error"}


@pytest.mark.parametrize("row", attacks("answers"))
async def test_a_value_is_never_a_template(row: dict[str, Any]) -> None:
    value = row["value"]
    said = render("{{ text }} / {{ fields.text }}", {"text": value, "fields": {"text": value}})
    assert said == f"{value} / {value}"
