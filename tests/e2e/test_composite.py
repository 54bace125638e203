"""A key of an adapter before several, over HTTP: what it opens, and by whose rules."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.cli.options import Configured, configured
from tests.adapters import city_tools
from tests.adapters.cities import TORONTO, composite, configure_cities, template
from tests.support.api import running
from tests.support.audit import audited
from tests.support.configuring import write_library

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

DOMAIN = {"domain": {"name": "toronto police"}}
BIKES = "bikes stolen in 2020 in Toronto"


@dataclass
class Server:
    client: httpx.AsyncClient
    keys: Mapping[str, str]

    async def post(self, path: str, key: str = "cities", **body: Any) -> httpx.Response:
        headers = {"X-API-Key": self.keys[key]}
        return await self.client.post(path, json=body, headers=headers)

    async def ask(self, message: str, key: str = "cities", **more: Any) -> dict[str, Any]:
        found = await self.post("/chat", key, message=message, **more)
        answer: dict[str, Any] = found.json()
        return answer

    async def get(self, path: str, key: str = "cities") -> Any:
        return (await self.client.get(path, headers={"X-API-Key": self.keys[key]})).json()


@asynccontextmanager
async def serving(folder: Path, found: Configured | None = None) -> AsyncIterator[Server]:
    found = found or configure_cities(folder)
    store = await KeyStore.open(found.settings.database_url, found.settings.secret_path)
    wanted = {
        "cities": NewKey("cities", user_id="ada"),
        "guest": NewKey("cities", role="guest"),
        "toronto": NewKey("toronto", user_id="ada"),
        "admin": NewKey("cities", role="admin"),
    }
    keys = {name: (await store.create(key))[0] for name, key in wanted.items()}
    await store.close()
    path = folder / "config.yaml"
    async with running(
        found.settings, found.environ, lambda: configured(path).settings.adapters
    ) as api:
        transport = httpx.ASGITransport(api, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            await api.state.api.adapters.every_one_tried()
            yield Server(client, keys)


async def test_what_one_of_them_asked_for_is_given_to_it_by_name(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        city_tools.REPORTED.clear()
        asked = await server.ask("report a theft in toronto", session_id="s")
        (missing,) = asked["metadata"]["missing"]
        # A value may read like the name of another source, or like a question for it.
        given = {missing["name"]: "Ottawa"}
        held = await server.ask("", session_id="s", arguments=given)
        assert held["metadata"]["answered_by"]["adapter"] == "toronto"
        assert held["metadata"]["arguments"][missing["name"]] == {"kind": "form"}
        proposal = held["metadata"]["proposal"]["proposal_id"]
        await server.post("/chat/confirm", session_id="s", proposal_id=proposal, accept=True)
        assert city_tools.REPORTED == ["Ottawa"]
        other = await server.post("/chat", message="", session_id="s", arguments=given)
        assert (other.status_code, other.json()["error"]["code"]) == (400, "request_invalid")


async def test_a_conversation_over_http(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        city_tools.REPORTED.clear()
        models = await server.get("/v1/models")
        assert [each["id"] for each in models["data"]] == ["cities"]
        tools = (await server.get("/adapters/cities/tools"))["tools"]
        names = {each["function"]["name"] for each in tools}
        assert {"toronto_thefts", "parks", "calculate_percentage"} <= names
        first = await server.ask("How many bikes were stolen in 2020?", session_id="s")
        labels = [each["source"]["label"] for each in first["metadata"]["options"]]
        assert labels == ["toronto", "Ottawa"]
        second = await server.ask("the second one", session_id="s")
        assert second["content"] == "120 bikes"
        assert second["metadata"]["answered_by"] == {"adapter": "ottawa", "label": "Ottawa"}
        held = await server.ask("report a theft at the harbour", session_id="s")
        proposal = held["metadata"]["proposal"]["proposal_id"]
        done = await server.post("/chat/confirm", session_id="s", proposal_id=proposal, accept=True)
        assert done.json()["metadata"]["answered_by"]["adapter"] == "toronto"
        assert city_tools.REPORTED == ["harbour"]
        spoken = await server.post(
            "/v1/chat/completions",
            model="cities",
            messages=[{"role": "user", "content": "What is 20% of 50?"}],
        )
        assert spoken.json()["choices"][0]["message"]["content"] == "20% of 50 is **10**"


async def test_every_call_is_judged_and_written_down_by_its_own_adapter(tmp_path: Path) -> None:
    found = configure_cities(tmp_path)
    write_library(tmp_path / "toronto", [TORONTO[0] | {"allowed_roles": ["user"]}], DOMAIN)
    async with serving(tmp_path, found) as server:
        assert (await server.ask(BIKES))["content"] == "1020 bikes"
        refused = (await server.ask(BIKES, "guest"))["metadata"]
        assert refused["policy"]["outcome"] == "role_forbids"
        assert refused["answered_by"]["adapter"] == "toronto"
    events = audited(found.settings, tool="python")
    assert [(e["adapter"], e["outcome"]) for e in events] == [
        ("toronto", "success"),
        ("toronto", "role_forbids"),
    ]


async def test_the_limit_of_an_adapter_holds_through_the_one_before_it(tmp_path: Path) -> None:
    found = configure_cities(tmp_path)
    adapters = list(found.settings.adapters)
    policy = adapters[0].config.policy.model_copy(update={"rate_limit": ("2/minute",)})
    config = adapters[0].config.model_copy(update={"policy": policy})
    adapters[0] = adapters[0].model_copy(update={"config": config})
    settings = found.settings.model_copy(update={"adapters": tuple(adapters)})
    async with serving(tmp_path, Configured(settings, found.environ)) as server:
        assert (await server.ask(BIKES))["content"] == "1020 bikes"
        assert (await server.ask(BIKES, "toronto"))["content"] == "1020 bikes"
        limited = await server.ask(BIKES)
        assert limited["content"] == "The source **toronto** can't be reached now."
        assert "2/minute" in limited["metadata"]["unanswered"][0]["why"]
        assert (await server.ask("bikes stolen in 2020"))["content"] == "120 bikes"
        assert (await server.post("/chat", "toronto", message=BIKES)).status_code == 429


async def test_a_reloaded_adapter_answers_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        museums = template(
            "museums", "count_parks", "How many museums are there?", "number of museums",
            "count the museums", response_template="{{ result }} museums",
        )  # fmt: skip
        write_library(tmp_path / "toronto", [*TORONTO, museums], DOMAIN)
        assert "answered_by" not in (await server.ask("number of museums"))["metadata"]
        await server.post("/admin/adapters/toronto/reload", "admin")
        assert (await server.ask("number of museums"))["content"] == "12 museums"


async def test_it_serves_what_serves(tmp_path: Path) -> None:
    found = configure_cities(tmp_path)
    (tmp_path / "ottawa" / "domain.yaml").write_text("domain: [")
    async with serving(tmp_path, found) as server:
        assert (await server.ask("What is 20% of 50?"))["content"] == "20% of 50 is **10**"
        ready = (await server.client.get("/ready")).json()["adapters"]
        states = {each["name"]: each["state"] for each in ready}
        assert (states["cities"], states["ottawa"]) == ("ready", "unavailable")


async def test_without_any_it_is_unavailable(tmp_path: Path) -> None:
    found = configure_cities(tmp_path, composite(["ottawa"]))
    (tmp_path / "ottawa" / "domain.yaml").write_text("domain: [")
    async with serving(tmp_path, found) as server:
        answer = await server.post("/chat", message="How many parks are there?")
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (503, "adapter_unavailable")
        assert error["message"].startswith("adapter 'cities' has none to ask")
        listed = (await server.get("/admin/adapters", "admin"))["adapters"]
        states = {each["name"]: (each["state"], each.get("why", "")) for each in listed}
        assert states["cities"] == ("unavailable", "none of the adapters behind it serves")


async def test_what_a_guard_of_one_refuses_it_does_not_answer(tmp_path: Path) -> None:
    pack = tmp_path / "guard.yaml"
    pack.write_text("name: g\ncategories:\n  bikes: {patterns: 'bikes', response: 'Not bikes.'}\n")
    found = configure_cities(tmp_path)
    adapters = list(found.settings.adapters)
    guards = adapters[0].guards.model_copy(update={"packs": (pack,)})
    adapters[0] = adapters[0].model_copy(update={"guards": guards})
    settings = found.settings.model_copy(update={"adapters": tuple(adapters)})
    async with serving(tmp_path, Configured(settings, found.environ)) as server:
        assert (await server.ask(BIKES))["content"] == "Not bikes."
        assert (await server.ask("bikes stolen in 2020"))["content"] == "120 bikes"
        assert (await server.ask("cars stolen in 2021 in Toronto"))["content"] == "1021 cars"
