"""What a library says over HTTP: to whom, and what never."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from server.access.models import NewKey
from server.access.rate_limits import RateLimits
from server.library.model import CallPolicy, Domain, Library, Parameter, Template
from server.tools.executor import ToolExecutor
from server.tools.policy.chain import Guardrails, build_chain
from server.tools.registry import ToolRegistry
from tests.api.conftest import Edge
from tests.e2e.test_composite import Server, serving
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
