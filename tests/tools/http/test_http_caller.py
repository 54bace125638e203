"""Who asks, in requests: encoded for its place like any value, and never taken for more."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from server.core.tools import ToolCall
from server.errors import ArgumentsInvalid
from server.library.http_model import HttpExecution, HttpPreparation, HttpService
from server.library.loader import load_library
from server.library.placeholders import PlaceholderInvalid, parse_text
from server.responses.mapping import ResponseMapping
from server.tools.http.engine import HttpCalls, HttpEngine
from tests.support.configuring import write_library
from tests.tools.http.calls import FAST, LOOPBACK, ask, execution, request
from tests.tools.http.upstream import always, calculated, reply, upstream

OK = reply({"ok": True})
HOSTILE = ("../admin", "a/b?c=d#e", "ana\r\nX-Admin: 1", '"; DROP', "{{ 7 * 7 }}", "{id}", "é ‮")


def caller(user_id: str, role: str = "user") -> dict[str, str]:
    return {"caller_user_id": user_id, "caller_role": role}


@pytest.mark.parametrize("user_id", HOSTILE)
def test_whoever_asks_stays_one_value_wherever_it_stands(user_id: str) -> None:
    _, (asked,) = ask(
        always(OK),
        "POST",
        "/people/{{ caller.user_id }}/leave",
        caller(user_id),
        query={"for": "{caller.user_id}"},
        json={"user": "{{ caller.user_id }}", "note": "by {{ caller.user_id | upper }}"},
    )
    assert asked.path.count("/") == 3
    assert asked.query == [("for", user_id)]
    assert asked.json == {"user": user_id, "note": f"by {user_id.upper()}"}
    assert "x-admin" not in asked.headers


@pytest.mark.parametrize("user_id", [".", "..", ""])
def test_a_name_that_would_lead_elsewhere_is_refused(user_id: str) -> None:
    with pytest.raises(ArgumentsInvalid):
        ask(always(OK), "GET", "/people/{{ caller.user_id }}", caller(user_id))


def test_a_line_break_in_a_header_is_refused() -> None:
    headers = {"X-User": "{{ caller.user_id }}"}
    with pytest.raises(ArgumentsInvalid, match="line breaks"):
        ask(always(OK), "GET", "/x", caller("ana\r\nX-Admin: 1"), headers=headers)


def test_a_result_does_not_say_who_asked() -> None:
    result, _ = ask(always(OK), "GET", "/{{ n }}", {"n": 1, **caller("ana")})
    assert result["input"] == {"n": 1}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{{ caller.user_id }}", {"caller_user_id"}),
        ("{caller.role} {x}", {"caller_role", "x"}),
        ("{{ caller_user_id }}", {"caller_user_id"}),
        ("{{ y if caller.role == 'admin' else caller.user_id }}",
         {"y", "caller_role", "caller_user_id"}),
    ],
)  # fmt: skip
def test_what_is_asked_of_the_caller_is_known(text: str, names: set[str]) -> None:
    assert parse_text(text).names == names


@pytest.mark.parametrize("text", ["{{ caller }}", "{{ caller.name }}", "{{ caller['role'] }}"])
def test_what_is_not_known_of_the_caller_is_refused(text: str) -> None:
    with pytest.raises(PlaceholderInvalid, match=r"write caller\.user_id or caller\.role"):
        parse_text(text)


def test_every_place_of_a_request_counts() -> None:
    places: list[dict[str, Any]] = [
        {"query": {"q": "{{ caller.role }}"}},
        {"headers": {"X-Role": "{{ caller.role }}"}},
        {"json": {"a": [{"b": "{{ caller.role }}"}]}},
        {"form": {"a": "{{ caller.role }}"}},
        {"text": "{{ caller.role }}"},
    ]
    found: list[HttpExecution] = [execution("POST", "http://h.example/", **p) for p in places]
    first = request("GET", "http://h.example/{{ caller.role }}")
    prepare = HttpPreparation(first, FAST, ResponseMapping(fields={"id": "id"}))
    found.append(execution("GET", "http://h.example/{{ id }}", prepare=prepare))
    runs: dict[str, tuple[HttpExecution, dict[str, Any]]] = {
        str(number): (each, {}) for number, each in enumerate(found)
    }
    engine = HttpEngine(egress=LOOPBACK)
    system = HttpCalls(runs, engine).system
    asyncio.run(engine.close())
    assert list(system.values()) == [{"caller_role"}] * len(found)


def test_the_headers_of_a_domain_count(tmp_path: Path) -> None:
    domain = {
        "domain_name": "people",
        "api_config": {
            "base_url": "http://people.example",
            "headers": {"X-User": "{{ caller.user_id }}"},
        },
    }
    template = {"id": "t", "nl_examples": ["days"], "tool_type": "query", "endpoint": "/days"}
    folder = write_library(tmp_path, [template], domain)
    loaded = load_library(folder / "domain.yaml", [folder / "tools.yaml"], {})
    assert (loaded.problems, loaded.library is not None) == ((), True)
    assert loaded.library is not None
    found = loaded.library.templates["t"]
    assert isinstance(found.execution, HttpExecution)
    assert found.execution.names == {"caller_user_id"}
    assert found.parameters == ()


def test_a_kept_answer_is_given_to_nobody_else() -> None:
    async def run() -> list[Any]:
        answering = calculated(lambda asked: reply({"days": asked.path}))
        async with upstream(answering) as service:
            kept = execution(
                "GET",
                "/{{ caller.user_id }}",
                base_url=service.origin,
                service=HttpService(cache_ttl_s=60),
            )
            calls = HttpCalls({"t": (kept, {})}, HttpEngine(egress=LOOPBACK))
            said = list[Any]()
            for user in ("ana", "bob", "ana"):
                call = ToolCall("t", "http_call", "op", caller(user))
                said.append((await calls.run(call, timeout_s=5))["days"])
            await calls.close()
            return [*said, len(service.asked)]

    assert asyncio.run(run()) == ["/ana", "/bob", "/ana", 2]
