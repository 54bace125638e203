"""What a library says over HTTP: to whom, and what never."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.access.rate_limits import RateLimits
from server.library.model import CallPolicy, Domain, Library, Parameter, Template
from server.tools.executor import ToolExecutor
from server.tools.policy.chain import Guardrails, build_chain
from server.tools.registry import ToolRegistry
from tests.api.conftest import Edge
from tests.e2e.test_composite import Server, serving
from tests.support.api import client_from, running
from tests.support.configuring import NOW, adapter, configure, write_library
from tests.support.configuring import PERCENTAGE as PERCENTAGE_YAML
from tests.support.deciding import DIVIDE, PERCENTAGE, table_adapter

pytestmark = pytest.mark.anyio


def open_library(edge: Edge, *templates: Template, name: str = "arithmetic") -> None:
    domain = Domain(name, "Sums", synonyms={"percent": ("per cent",)})
    library = Library(domain, {t.id: t for t in templates})
    registry = ToolRegistry.build()
    chain = build_chain(name, library, registry, ToolExecutor(registry), Guardrails(RateLimits()))
    edge.adapters.opened(replace(table_adapter(name, library), chain=chain))


async def get(edge: Edge, key: str, path: str = "library", **headers: str) -> httpx.Response:
    headers["X-API-Key"] = key
    return await edge.client.get(f"/adapters/arithmetic/{path}", headers=headers)


async def test_a_library_says_what_its_templates_are_for(edge: Edge) -> None:
    unit = Parameter(
        "unit", "string", "Of what", False, "metre", ("metre", "foot"), {"metres": "metre"}
    )
    open_library(edge, replace(PERCENTAGE, parameters=(unit,), tags=("sums",)))
    library = (await get(edge, edge.key)).json()
    assert {**library, "templates": len(library["templates"])} == {
        "adapter": "arithmetic",
        "name": "arithmetic",
        "description": "Sums",
        "languages": ["en"],
        "version": "1.0",
        "synonyms": {"percent": ["per cent"]},
        "templates": 1,
    }
    assert library["templates"][0] == {
        "id": "calculate_percentage",
        "description": "Calculate a percentage of a given value",
        "effect": "read",
        "tool": "calculator",
        "operation": "percentage",
        "version": "1.0.0",
        "tags": ["sums"],
        "topic": "",
        "examples": ["What is 15% of 200?"],
        "counter_examples": [],
        "parameters": [
            {
                "name": "unit",
                "type": "string",
                "description": "Of what",
                "required": False,
                "sensitive": False,
                "aliases": [],
                "default": "metre",
                "choices": ["metre", "foot"],
                "synonyms": {"metre": ["metres"]},
            }
        ],
        "requires_confirmation": False,
        "roles": [],
    }


async def test_it_says_no_value_of_a_sensitive_parameter(edge: Edge) -> None:
    pin = Parameter("pin", "string", default="0000", enum=("0000", "1234"))
    policy = CallPolicy(sensitive_params=("pin",))
    open_library(edge, replace(PERCENTAGE, parameters=(pin,), policy=policy))
    [shown] = (await get(edge, edge.key)).json()["templates"][0]["parameters"]
    assert shown["sensitive"]
    assert "0000" not in json.dumps(shown)


async def test_only_what_the_role_may_run_is_said(edge: Edge) -> None:
    policy = CallPolicy(allowed_roles=("admin",), confirm=True)
    open_library(edge, PERCENTAGE, replace(DIVIDE, policy=policy))
    admin, _ = await edge.keys.create(NewKey("arithmetic", role="admin"))
    for key, ids in (
        (edge.key, ["calculate_percentage"]),
        (admin, ["calculate_percentage", "divide"]),
    ):
        templates = (await get(edge, key)).json()["templates"]
        assert [each["id"] for each in templates] == ids
    assert (templates[1]["roles"], templates[1]["requires_confirmation"]) == (["admin"], True)


async def test_what_has_not_changed_is_not_sent_again(edge: Edge) -> None:
    first = await get(edge, edge.key)
    headers = {"If-None-Match": first.headers["etag"]}
    again = await get(edge, edge.key, **headers)
    assert (again.status_code, again.content) == (304, b"")
    open_library(edge, DIVIDE)
    changed = await get(edge, edge.key, **headers)
    assert [each["id"] for each in changed.json()["templates"]] == ["divide"]


@pytest.mark.parametrize(
    ("role", "adapter", "status", "code"),
    [
        ("user", "broken", 403, "key_foreign"),
        ("user", "nowhere", 403, "key_foreign"),
        ("admin", "nowhere", 404, "adapter_unknown"),
        ("admin", "broken", 503, "adapter_unavailable"),
    ],
)
async def test_a_key_reads_its_own_adapter_and_an_admin_any(
    edge: Edge, role: str, adapter: str, status: int, code: str
) -> None:
    key, _ = await edge.keys.create(NewKey("arithmetic", role=role))
    headers = {"X-API-Key": key}
    response = await edge.client.get(f"/adapters/{adapter}/library", headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    open_library(edge, DIVIDE, name="late")
    response = await edge.client.get("/adapters/late/library", headers=headers)
    assert response.status_code == (200 if role == "admin" else 403)


async def test_it_needs_a_key(edge: Edge) -> None:
    assert (await edge.client.get("/adapters/arithmetic/library")).status_code == 401


@pytest.fixture
async def cities(tmp_path: Path) -> AsyncIterator[Server]:
    async with serving(tmp_path) as server:
        yield server


async def test_an_adapter_before_others_says_what_theirs_say(cities: Server) -> None:
    library = await cities.get("/adapters/cities/library")
    own = await cities.get("/adapters/toronto/library", "toronto")
    theirs = [each for each in library["templates"] if each["source"] == "toronto"]
    assert [each["id"] for each in theirs] == [f"toronto/{t['id']}" for t in own["templates"]]
    assert library["sources"][0] == {
        "adapter": "toronto", "label": library["sources"][0]["label"], "serves": True,
    }  # fmt: skip


async def test_nothing_is_said_of_how_calls_are_carried_out(cities: Server) -> None:
    said = json.dumps(await cities.get("/adapters/cities/library", "admin"))
    assert "city_tools" not in said
    assert ".yaml" not in said


async def test_the_map_has_every_example_and_finds_a_question_on_it(cities: Server) -> None:
    library = await cities.get("/adapters/toronto/library", "toronto")
    found = await cities.get("/adapters/toronto/library/map", "toronto")
    wanted = [(each["id"], text) for each in library["templates"] for text in each["examples"]]
    assert [(each["template"], each["example"]) for each in found["points"]] == wanted
    assert found["left_out"] == []
    assert 0 < found["explained"][1] <= found["explained"][0] < 1
    point = next(each for each in found["points"] if each["template"] == "newest_thefts")
    place = (
        await cities.post("/adapters/toronto/library/map", "toronto", message=point["example"])
    ).json()
    assert (place["x"], place["y"]) == pytest.approx((point["x"], point["y"]), abs=1e-3)
    first = {"template": "newest_thefts", "example": point["example"], "similarity": 1.0}
    assert place["nearest"][0] == first
    for message, status in (("  ", 400), (None, 422)):
        refused = await cities.post("/adapters/toronto/library/map", "toronto", message=message)
        assert refused.status_code == status, message


async def test_examples_of_several_adapters_share_one_map(cities: Server) -> None:
    found = await cities.get("/adapters/cities/library/map")
    sources = [each["template"].partition("/")[0] for each in found["points"]]
    assert list(dict.fromkeys(sources)) == ["toronto", "ottawa", "sums"]
    message = {"message": "What is 20% of 50?"}
    place = (await cities.post("/adapters/cities/library/map", **message)).json()
    assert place["nearest"][0]["template"] == "sums/calculate_percentage"
    pairs = (await cities.get("/adapters/cities/library/collisions"))["pairs"]
    assert pairs[0]["templates"] == ["toronto/toronto_thefts", "ottawa/stolen_in_year"]
    assert set(pairs[0]["sentences"][0]) == {"template", "example", "near", "similarity"}


async def test_a_map_is_of_what_the_role_may_run_and_of_the_library_as_it_is(
    tmp_path: Path,
) -> None:
    more = {**NOW, "allowed_roles": ["admin"]}
    library = write_library(tmp_path / "sums", [PERCENTAGE_YAML, more])
    found = configure(tmp_path, [adapter("sums", library)])
    store = await KeyStore.open(found.settings.database_url, found.settings.secret_path)
    keys = {role: (await store.create(NewKey("sums", role=role)))[0] for role in ("user", "admin")}
    await store.close()
    async with running(found.settings, found.environ) as api:
        await api.state.api.adapters.every_one_tried()
        async with client_from(api, "127.0.0.1") as client:

            async def seen(key: str, path: str) -> Any:
                headers = {"X-API-Key": keys[key]}
                return (await client.get(f"/adapters/sums/library/{path}", headers=headers)).json()

            points = {key: (await seen(key, "map"))["points"] for key in keys}
            assert len(points["user"]) == len(PERCENTAGE_YAML["nl_examples"])
            assert len(points["admin"]) == len(points["user"]) + len(NOW["nl_examples"])
            assert (await seen("user", "words?q=times"))["uses"] == []
            assert (await seen("admin", "words?q=times"))["uses"][0]["text"] == "What time is it?"
            write_library(library, [{**PERCENTAGE_YAML, "nl_examples": ["percentages of things"]}])
            headers = {"X-API-Key": keys["admin"]}
            await client.post("/admin/adapters/sums/reload", headers=headers)
            assert [each["example"] for each in (await seen("user", "map"))["points"]] == [
                "percentages of things"
            ]


async def test_a_library_without_vectors_has_an_empty_map(edge: Edge) -> None:
    empty = {"points": [], "explained": [0.0, 0.0], "left_out": []}
    assert (await get(edge, edge.key, "library/map")).json() == empty
    url, headers = "/adapters/arithmetic/library/map", {"X-API-Key": edge.key}
    refused = await edge.client.post(url, json={"message": "15%"}, headers=headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "request_invalid")
    assert (await get(edge, edge.key, "library/collisions")).json()["pairs"] == []


@pytest.mark.parametrize(("query", "status"), [("", 422), ("q=", 422), ("q=two+words", 422)])
async def test_one_word_is_looked_up(edge: Edge, query: str, status: int) -> None:
    assert (await get(edge, edge.key, f"library/words?{query}")).status_code == status
    found = (await get(edge, edge.key, "library/words?q=Dividing")).json()
    assert [(each["template"], each["where"]) for each in found["uses"]] == [
        ("divide", "example"),
        ("divide", "description"),
    ]
