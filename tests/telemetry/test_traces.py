"""Spans of a whole server, as a collector gets them; what they tell, and what they never tell."""

import asyncio
import builtins
import re
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest

from server.core.spans import traced_request
from server.core.tools import ToolCall
from server.errors import ConfigurationInvalid
from server.library.sql_model import SqlExecution
from server.library.sql_text import parse_sql
from server.metrics.metrics import Metrics
from server.providers.metered import MeteredEmbedder
from server.settings.models import TracesSettings
from server.telemetry.traces import OtelTracer
from server.tools.sql.address import read_address
from server.tools.sql.databases import open_database
from server.tools.sql.engine import SqlCalls, SqlRun
from tests.e2e.test_whole_server import key_for, readiness, serving
from tests.support.collector import Collector, SentSpan, collecting
from tests.support.configuring import PERCENTAGE, adapter, configure, write_library
from tests.support.fake_embedder import FakeEmbedder
from tests.support.loopback import Answer, Asked, Service
from tests.support.loopback import serving as service_on_loopback
from tests.support.sql_shop import make_shop

pytestmark = pytest.mark.anyio

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
SERVER, CLIENT = 2, 3


def notify(origin: str) -> dict[str, Any]:
    return {
        "id": "notify",
        "description": "Send a notification to a person",
        "tool_type": "function",
        "effect": "read",
        "nl_examples": ["Notify Quentin", "Send Ana a notification", "Notify Berta please"],
        "function_schema": {
            "name": "notify",
            "parameters": [{"name": "person", "type": "string", "required": True}],
        },
        "execution": {
            "type": "http_call",
            "http_method": "POST",
            "endpoint_template": f"{origin}/notify/{{person}}",
            "body": {"urgent": False},
        },
    }


class Traced:
    """A server that is traced, the API that it calls, and a client with its key."""

    def __init__(self, client: httpx.AsyncClient, key: str, api: Service) -> None:
        self.client, self.key, self.api = client, key, api

    async def ask(self, message: str, **headers: str) -> httpx.Response:
        sent = {"X-API-Key": self.key, **headers}
        return await self.client.post("/chat", json={"message": message}, headers=sent)


@asynccontextmanager
async def traced(folder: Path, traces: dict[str, Any]) -> AsyncIterator[Traced]:
    def reply(asked: Asked) -> Answer:
        return Answer({"done": True}, 500 if "Berta" in asked.path else 200)

    with service_on_loopback(reply) as api:
        library = write_library(folder / "sums", [PERCENTAGE, notify(api.base_url)])
        private = {"http": {"private_hosts": ["127.0.0.1"]}}
        telemetry = {"traces": traces}
        configured = configure(
            folder, [adapter("sums", library, config=private)], telemetry=telemetry
        )
        key = await key_for(configured, "sums")
        async with serving(configured) as client:
            await readiness(client, {"ready"})
            yield Traced(client, key, api)


def on(collector: Collector, **more: Any) -> dict[str, Any]:
    return {"enabled": True, "endpoint": collector.endpoint, **more}


def below(spans: list[SentSpan], span: SentSpan) -> set[str]:
    return {each.name for each in spans if each.parent == span.span_id}


async def test_a_turn_is_a_tree_of_spans_below_the_clients_own(tmp_path: Path) -> None:
    with collecting() as collector:
        headers = {"authorization": "Bearer of-the-collector"}
        async with traced(tmp_path, on(collector, headers=headers, service_name="desk")) as server:
            answered = await server.ask(
                "Notify Quentin", traceparent=TRACEPARENT, tracestate="a=b", baggage="user=ana"
            )
            assert answered.json()["metadata"]["tool_execution"]["status"] == "success"
            sent = server.api.asked[0].headers
    spans = collector.spans
    [request], [turn], [tool], [call] = map(collector.named, ("POST /chat", "turn", "tool", "POST"))
    assert {span.trace_id for span in spans if span.trace_id == TRACE} == {TRACE}
    assert (request.parent, request.kind) == (PARENT, SERVER)
    assert below(spans, request) == {"turn"}
    assert below(spans, turn) >= {"match", "extract", "verify", "choose", "tool"}
    assert (call.parent, call.kind) == (tool.span_id, CLIENT)
    assert dict(request.attributes) | {"orbit.request.id": ""} == {
        "http.request.method": "POST",
        "http.route": "/chat",
        "http.response.status_code": 200,
        "url.scheme": "http",
        "network.protocol.version": "1.1",
        "orbit.request.id": "",
    }
    assert turn.attributes.items() >= {
        "orbit.adapter": "sums", "orbit.decision": "call", "orbit.template.id": "notify",
    }.items()  # fmt: skip
    assert call.attributes == {
        "http.request.method": "POST",
        "server.address": "127.0.0.1",
        "server.port": int(server.api.base_url.rpartition(":")[2]),
        "url.scheme": "http",
        "http.response.status_code": 200,
    }
    # The called API continues the trace, and gets nothing else that a stranger sent.
    assert sent["traceparent"] == f"00-{TRACE}-{call.span_id}-01"
    assert not {"tracestate", "baggage"} & sent.keys()
    assert collector.headers[0]["authorization"] == "Bearer of-the-collector"
    assert request.resource["service.name"] == "desk"
    # No word of the question, no value, no key.
    assert not any(b"Quentin" in body or server.key.encode() in body for body in collector.bodies)


async def test_what_fails_is_named_by_its_kind_and_without_a_message(tmp_path: Path) -> None:
    with collecting() as collector:
        async with traced(tmp_path, on(collector)) as server:
            await server.ask("Notify Berta")
            await server.client.get("/no-such/Quentin")
            await server.client.get("/health")
    [tool], [call] = collector.named("tool"), collector.named("POST")
    assert (tool.failed, tool.attributes["error.type"]) == (True, "error")
    assert (call.failed, call.attributes["error.type"]) == (True, "500")
    unmatched = collector.named("GET")
    assert [span.attributes["http.response.status_code"] for span in unmatched] == [404]
    assert not any(b"Quentin" in body or b"/health" in body for body in collector.bodies)


async def test_off_means_that_called_apis_get_no_context(tmp_path: Path) -> None:
    async with traced(tmp_path, {}) as server:
        await server.ask("Notify Quentin", traceparent=TRACEPARENT)
        assert "traceparent" not in server.api.asked[0].headers


@pytest.mark.parametrize(
    ("traceparent", "continues", "sampled"),
    [
        (TRACEPARENT, True, True),
        (f"00-{TRACE}-{PARENT}-00", True, False),
        (f"00-{TRACE}-{PARENT}", False, True),
        (f"ff-{TRACE}-{PARENT}-01", False, True),
        ("00-" + "0" * 32 + f"-{PARENT}-01", False, True),
        ("x" * 5000, False, True),
    ],
)
async def test_a_context_is_continued_where_it_is_one(
    traceparent: str, continues: bool, sampled: bool
) -> None:
    with collecting() as collector:
        tracer = OtelTracer.open(TracesSettings(enabled=True, endpoint=collector.endpoint))
        assert tracer is not None
        with tracer.span("request", "server", {}, parent=traceparent) as span:
            version, trace_id, _, flags = span.traceparent.split("-")
        await tracer.close()
    assert (version, trace_id == TRACE) == ("00", continues)
    assert int(flags, 16) & 1 == sampled
    assert len(collector.spans) == sampled


@pytest.mark.parametrize(("ratio", "kept"), [(0.0, 0), (1.0, 20)])
async def test_a_part_of_the_traces_that_begin_here_is_sent(ratio: float, kept: int) -> None:
    with collecting() as collector:
        settings = TracesSettings(enabled=True, endpoint=collector.endpoint, sample_ratio=ratio)
        tracer = OtelTracer.open(settings)
        assert tracer is not None
        for _ in range(20):
            with tracer.span("request", "server", {}):
                pass
        await tracer.close()
    assert len(collector.spans) == kept


async def test_variables_of_the_standard_say_what_settings_leave_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", collector.endpoint)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=desk")
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
        for name, expected in ((None, "orbit"), ("counter", "counter")):
            if name is not None:
                monkeypatch.setenv("OTEL_SERVICE_NAME", name)
            tracer = OtelTracer.open(TracesSettings(enabled=True))
            assert tracer is not None
            with tracer.span("request", "server", {}):
                pass
            await tracer.close()
            resource = collector.spans[-1].resource
            assert resource["service.name"] == expected
            assert resource["deployment.environment.name"] == "test"
    assert collector.headers[0]["x-team"] == "desk"


async def test_databases_and_models_are_called_in_spans_without_values(tmp_path: Path) -> None:
    database = open_database(read_address(str(make_shop(tmp_path / "shop.db"))))
    sql = "SELECT id FROM orders WHERE city = :city"
    calls = SqlCalls({"orders": SqlRun(SqlExecution(parse_sql(sql, ("city",))))}, database)
    embedder = MeteredEmbedder(FakeEmbedder(), Metrics())
    with collecting() as collector:
        tracer = OtelTracer.open(TracesSettings(enabled=True, endpoint=collector.endpoint))
        assert tracer is not None
        with traced_request(tracer, "POST /chat", None):
            await embedder.embed(["orders in Lisbon"])
            call = ToolCall("orders", "sql", "query", {"city": "Lisbon"})
            await calls.run(call, timeout_s=5)
            async with calls.stream(call, timeout_s=5) as (_, pieces):
                assert [len(piece) async for piece in pieces] == [20]
        await embedder.embed(["orders in Porto"])  # behind no request
        await tracer.close()
    await database.close()
    [request] = collector.named("POST /chat")
    children = [span for span in collector.spans if span is not request]
    assert [(span.parent, span.kind) for span in children] == [(request.span_id, CLIENT)] * 3
    about = {
        "db.system.name": "sqlite",
        "db.query.summary": "orders",
        "orbit.template.id": "orders",
    }
    assert [span.attributes for span in children if span.name == "sqlite"] == [about] * 2
    [vectors] = (span for span in children if span.name != "sqlite")
    assert vectors.attributes["gen_ai.operation.name"] == "embeddings"
    assert not any(b"Lisbon" in body for body in collector.bodies)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["refuses", "fails", "hangs"])
async def test_a_collector_that_is_away_costs_no_turn_and_the_end_is_bounded(
    tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    with collecting() as collector:
        collector.status = 503 if how == "fails" else 200
        collector.delay_s = 2.0 if how == "hangs" else 0.0
        settings = on(collector, close_within_s=0.3)
        if how == "refuses":
            settings["endpoint"] = "http://127.0.0.1:9/v1/traces"
        async with traced(tmp_path, settings) as server:
            for _ in range(3):
                began = monotonic()
                assert (await server.ask("what's 15% of 200")).status_code == 200
                assert monotonic() - began < 1.5
            began = monotonic()
        assert monotonic() - began < 3
        # Whatever is still under way ends soon, and says nothing in another test.
        for thread in threading.enumerate():
            if thread.name == "orbit-traces":
                await asyncio.to_thread(thread.join, 10)
                assert not thread.is_alive()
    assert "already shutdown" not in caplog.text
    if how == "hangs":
        assert "spans are lost" in caplog.text


async def test_without_the_extra_the_start_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def missing(name: str, *args: Any, **more: Any) -> Any:
        if name.startswith("opentelemetry.exporter"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *args, **more)

    monkeypatch.delitem(sys.modules, "server.telemetry.exporter", raising=False)
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ConfigurationInvalid) as refused:
        OtelTracer.open(TracesSettings(enabled=True))
    assert "orbit.sh install otel" in str(refused.value)
    assert OtelTracer.open(TracesSettings()) is None


async def test_spans_of_tasks_at_once_stay_below_their_own_request() -> None:
    with collecting() as collector:
        tracer = OtelTracer.open(TracesSettings(enabled=True, endpoint=collector.endpoint))
        assert tracer is not None

        async def request(name: str) -> None:
            with tracer.span(name, "server", {}):
                await asyncio.sleep(0.01)
                with tracer.span(f"{name} stage", "internal", {}):
                    await asyncio.sleep(0.01)

        await asyncio.gather(*(request(f"r{n}") for n in range(5)))
        await tracer.close()
    for n in range(5):
        [span] = collector.named(f"r{n}")
        assert below(collector.spans, span) == {f"r{n} stage"}
    assert all(re.fullmatch("[0-9a-f]{32}", span.trace_id) for span in collector.spans)
