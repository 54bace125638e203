"""A library's questions, asked over HTTP while it serves: what comes of them, and what is kept."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from fastapi import FastAPI

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.cli.options import Configured
from server.evaluation.trial import LibraryTrial
from tests.adapters import city_tools
from tests.adapters.cities import configure_cities
from tests.e2e.test_composite import serving as serving_cities
from tests.support.api import client_from, running, served_on_loopback
from tests.support.audit import audited
from tests.support.configuring import NOW, PERCENTAGE, adapter, configure, write_library

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

QUESTIONS: list[dict[str, Any]] = [
    {
        "ask": "What is 30% of 50?",
        "template": "calculate_percentage",
        "arguments": {"value": 50, "percentage": 30},
        "answer": "30% of 50 is **15**",
    },
    {"ask": "what time is it now", "template": "current_time"},
    {"ask": "sing me a song about herrings", "template": None},
    {"ask": "what time is it", "template": "calculate_percentage"},
    {"ask": "who won the cup in Ghent", "template": "current_time"},
]


@dataclass
class Server:
    api: FastAPI
    client: httpx.AsyncClient
    keys: dict[str, str]
    configured: Configured

    async def evaluate(self, key: str = "user", **body: Any) -> list[dict[str, Any]]:
        response = await self.post(key, **body)
        assert response.status_code == 200, response.text
        return events_of(response.text)

    async def post(self, key: str = "user", **body: Any) -> httpx.Response:
        headers = {"X-API-Key": self.keys[key]}
        return await self.client.post("/adapters/sums/evaluations", json=body, headers=headers)

    async def get(self, path: str, key: str = "user") -> Any:
        headers = {"X-API-Key": self.keys[key]}
        return (await self.client.get(f"/adapters/sums/{path}", headers=headers)).json()


def events_of(text: str) -> list[dict[str, Any]]:
    lines = [line for line in text.split("\n\n") if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def judged(events: list[dict[str, Any]]) -> list[str]:
    return [event["judged"] for event in events if event["status"] == "asked"]


def write_questions(folder: Path, questions: list[dict[str, Any]]) -> None:
    (folder / "questions.yaml").write_text(yaml.safe_dump({"questions": questions}))


@asynccontextmanager
async def serving(folder: Path, *templates: Any, **sections: Any) -> AsyncIterator[Server]:
    library = write_library(folder / "sums", templates or (PERCENTAGE, NOW))
    write_questions(library, QUESTIONS)
    found = configure(folder, [adapter("sums", library)], inbox={"enabled": True}, **sections)
    store = await KeyStore.open(found.settings.database_url, found.settings.secret_path)
    wanted = {
        "user": NewKey("sums"),
        "limited": NewKey("sums", limits=("1/minute",)),
        "admin": NewKey("sums", role="admin"),
    }
    keys = {name: (await store.create(key))[0] for name, key in wanted.items()}
    await store.close()
    async with running(found.settings, found.environ) as api:
        await api.state.api.adapters.every_one_tried()
        async with client_from(api, "127.0.0.1") as client:
            yield Server(api, client, keys, found)


async def test_each_question_is_judged_and_the_report_is_that_of_eval(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        first, *asked, last = await server.evaluate("admin", tools=True)
    assert first == {"status": "started", "total": 5, "problems": []}
    assert [event["number"] for event in asked] == [1, 2, 3, 4, 5]
    assert judged(asked) == ["right", "right", "right", "wrong", "silent"]
    assert asked[0] == asked[0] | {
        "ask": "What is 30% of 50?",
        "expected": "calculate_percentage",
        "got": "calculate_percentage",
        "called": True,
        "failure": None,
        "arguments": {"value": 50, "percentage": 30},
    }
    assert asked[3]["failure"] == "expected calculate_percentage, got current_time"
    found = server.configured
    chosen = found.adapter("sums")
    path = chosen.config.domain_config_path.parent / "questions.yaml"
    trial = LibraryTrial(found.settings, found.environ, chosen, path)
    report, drawn = (await trial.measure()).report.to_dict(), (await trial.curves()).to_dict()
    del report["latency_ms"], last["report"]["latency_ms"]
    assert last["report"] == json.loads(json.dumps(report))
    curves = last["curves"]
    assert [each["count"] for each in curves["reliability"]] == [
        each["calls"] for each in drawn["reliability"]
    ]
    assert [each["share_right"] for each in curves["reliability"]] == [
        each["right"] for each in drawn["reliability"]
    ]
    for each, of_eval in zip(curves["thresholds"], drawn["thresholds"], strict=True):
        assert each == of_eval | {"silent": pytest.approx(1 - of_eval["right"] - of_eval["wrong"])}


async def test_nothing_is_kept_of_it(tmp_path: Path) -> None:
    guards = {"enabled": True, "packs": [str(write_guard(tmp_path))]}
    async with serving(tmp_path, guards=guards) as server:
        headers = {"X-API-Key": server.keys["admin"]}
        for message in ("who won the cup in Ghent", "What is 15% of 200?", "herrings"):
            await server.client.post("/chat", json={"message": message}, headers=headers)

        async def kept() -> dict[str, Any]:
            # Before it forgets a session, the inbox writes what waits.
            await server.client.delete("/chat/sessions/another", headers=headers)
            state, metrics = server.api.state.api, (await server.client.get("/metrics")).text
            names = ("orbit_decisions_total", "orbit_stage_seconds", "orbit_guard_outcomes_total")
            return {
                "metrics": [line for line in metrics.splitlines() if line.startswith(names)],
                "inbox": await state.adapters.get("sums").inbox.turns("sums"),
                "guard": await state.guards.counts("sums"),
            }

        before = await kept()
        asked = [*QUESTIONS, {"ask": "tell me about herrings", "template": None}]
        events = await server.evaluate("admin", tools=True, questions=asked)
        assert judged(events)[-1] == "right"
        assert (await kept()) == before
    assert all(before.values())
    by_chat = audited(server.configured.settings, template_id="calculate_percentage")
    assert [event["outcome"] for event in by_chat] == ["success"]


def write_guard(folder: Path) -> Path:
    categories = {"fish": {"action": "block", "patterns": ["herrings"], "response": "No fish."}}
    path = folder / "guard.yaml"
    path.write_text(yaml.safe_dump({"name": "fish", "categories": categories}))
    return path


async def test_no_tool_runs_unless_an_admin_says_so(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        refused = await server.post(tools=True)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "key_foreign")
        report = (await server.evaluate())[-1]["report"]
        with_tools = (await server.evaluate("admin", tools=True))[-1]["report"]
    assert (report["tool_success_rate"], report["answer_accuracy"]) == (None, None)
    assert (with_tools["tool_success_rate"], with_tools["answer_accuracy"]) == (1.0, 1.0)


async def test_a_write_is_never_made(tmp_path: Path) -> None:
    city_tools.REPORTED.clear()
    question = {"ask": "report a theft at the harbour", "template": "report_theft"}
    async with serving_cities(tmp_path) as server:
        headers = {"X-API-Key": server.keys["admin"]}
        response = await server.client.post(
            "/adapters/toronto/evaluations",
            json={"questions": [question], "tools": True},
            headers=headers,
        )
    assert judged(events_of(response.text)) == ["right"]
    assert city_tools.REPORTED == []


async def test_answers_with_sensitive_values_are_neither_judged_nor_shown(tmp_path: Path) -> None:
    private = {**PERCENTAGE, "sensitive_params": ["value"]}
    async with serving(tmp_path, private) as server:
        events = await server.evaluate("admin", tools=True, questions=QUESTIONS[:1])
    assert judged(events) == ["right"]
    assert events[-1]["report"]["answer_accuracy"] is None
    assert "**15**" not in json.dumps(events)


async def test_an_adapter_that_a_guard_leads_to_does_nothing_either(tmp_path: Path) -> None:
    route = {"action": "route", "patterns": ["theft"], "route_to": {"adapter": "toronto"}}
    path = tmp_path / "guard.yaml"
    path.write_text(yaml.safe_dump({"name": "p", "categories": {"thefts": route}}))
    city_tools.REPORTED.clear()
    question = {"ask": "report a theft at the harbour", "template": None}
    guards = {"enabled": True, "packs": [str(path)]}
    found = configure_cities(tmp_path, guards=guards)
    async with serving_cities(tmp_path, found) as server:
        url, headers = "/adapters/sums/evaluations", {"X-API-Key": server.keys["admin"]}
        body = {"questions": [question], "tools": True}
        response = await server.client.post(url, json=body, headers=headers)
    [row] = [event for event in events_of(response.text) if event["status"] == "asked"]
    assert (row["got"], row["judged"]) == ("report_theft", "wrong")
    assert city_tools.REPORTED == []
    assert audited(found.settings, template_id="report_theft") == []


async def test_questions_can_be_given_and_what_is_wrong_with_them_is_said(tmp_path: Path) -> None:
    given = [
        {"ask": "12% of 50", "template": "calculate_percentage"},
        {"ask": "12% of 50?", "template": "percentages"},
        {"ask": "sing", "template": None, "asks": ["value"]},
    ]
    async with serving(tmp_path, server={"max_message_chars": 100}) as server:
        first, *rest = await server.evaluate(questions=given)
        refused = await server.post(questions=given[1:])
        long = await server.post(questions=[{"ask": "x" * 101, "template": None}])
        none = await server.post(questions=[])
    assert first["total"] == 1
    assert first["problems"] == [
        {"what": "no template is called 'percentages'", "ask": "12% of 50?"},
        {"what": "`asks` means nothing beside `template: null`", "ask": "sing"},
    ]
    assert judged(rest) == ["right"]
    assert refused.status_code == 400
    assert "no template is called 'percentages'" in refused.json()["error"]["message"]
    assert (long.status_code, long.json()["error"]["details"][0]["field"]) == (
        422,
        "questions.0.ask",
    )
    assert none.status_code == 422


async def test_a_role_is_asked_about_what_it_may_run(tmp_path: Path) -> None:
    secret = {**NOW, "allowed_roles": ["admin"]}
    async with serving(tmp_path, PERCENTAGE, secret) as server:
        shown = {key: await server.get("questions", key) for key in ("user", "admin")}
        asked = [
            event["expected"] for event in await server.evaluate() if event["status"] == "asked"
        ]
        refused = await server.post(questions=[{"ask": "time?", "template": "current_time"}])
    assert shown["admin"] == {"questions": QUESTIONS, "problems": []}
    about = [each["template"] for each in shown["user"]["questions"]]
    assert about == asked == ["calculate_percentage", None, "calculate_percentage"]
    assert refused.status_code == 400


async def test_what_is_wrong_in_the_file_is_said_without_its_place_on_disk(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        write_questions(tmp_path / "sums", [*QUESTIONS, {"ask": "sing", "templates": None}])
        shown = await server.get("questions")
        first = (await server.evaluate())[0]
        (tmp_path / "sums" / "questions.yaml").unlink()
        gone = await server.get("questions")
        refused = await server.post()
    assert first["problems"] == shown["problems"]
    assert {each["kind"] for each in shown["problems"]} == {"missing-key", "unknown-key"}
    assert str(tmp_path) not in json.dumps(shown)
    assert gone == {"questions": [], "problems": []}
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "request_invalid")


async def test_a_key_evaluates_once_at_a_time_and_ends_with_its_client(tmp_path: Path) -> None:
    template = "calculate_percentage"
    many = [{"ask": f"What is {n}% of 50?", "template": template} for n in range(1, 400)]
    async with serving(tmp_path) as server, served_on_loopback(server.api) as address:
        url, headers = f"{address}/adapters/sums/evaluations", {"X-API-Key": server.keys["user"]}
        opened = server.api.state.api.adapters.get("sums")
        async with httpx.AsyncClient(timeout=30) as client:
            async with client.stream(
                "POST", url, json={"questions": many}, headers=headers
            ) as stream:
                lines = stream.aiter_lines()
                while '"number":3,' not in await anext(lines):
                    pass
                again = await client.post(url, json={"questions": many[:1]}, headers=headers)
                assert (again.status_code, again.json()["error"]["code"]) == (
                    409,
                    "evaluation_running",
                )
                asked = {"message": "What is 15% of 200?"}
                answer = await client.post(f"{address}/chat", json=asked, headers=headers)
                assert answer.json()["content"] == "15% of 200 is **30**"
            async with asyncio.timeout(5):
                await opened.leases.none_held()
            again = await client.post(url, json={"questions": many[:1]}, headers=headers)
    assert judged(events_of(again.text)) == ["right"]


async def test_a_failure_on_the_way_ends_the_events_in_the_one_shape(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        server.api.state.api = replace(server.api.state.api, turn_timeout_s=1e-9)
        *_, last = await server.evaluate()
    assert (last["status"], last["isComplete"]) == ("error", True)
    assert last["error"]["code"] == "turn_timed_out"


async def test_limits_of_a_key_hold(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.evaluate("limited")
        refused = await server.post("limited")
    assert refused.status_code == 429


async def test_an_adapter_before_others_is_asked_as_they_are_together(tmp_path: Path) -> None:
    questions = [
        {
            "ask": "Show theft 12",
            "template": "toronto/theft_details",
            "arguments": {"theft_id": 12},
        },
        {"ask": "bikes stolen in 2020 in Toronto", "template": "toronto/toronto_thefts"},
        {"ask": "How many bikes were stolen in 2020?", "template": "toronto/toronto_thefts"},
    ]
    async with serving_cities(tmp_path) as server:
        response = await server.post("/adapters/cities/evaluations", questions=questions)
        without = await server.post("/adapters/cities/evaluations")
    events = events_of(response.text)
    assert judged(events) == ["right", "right", "asked"]
    assert events[-1]["report"]["questions"] == 3
    assert without.status_code == 400
