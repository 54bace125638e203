"""Adapters are read again while the server runs; what cannot be used changes nothing."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.cli.options import configured
from server.providers.embeddings import watched
from server.settings.loader import load_settings
from tests.support.api import running
from tests.support.audit import audited
from tests.support.configuring import NOW, PERCENTAGE, adapter, configure, write_library
from tests.support.ollama_server import ollama_stand_in

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SUMS = "what is 5% of 80"
PACK = (
    "name: p\nfallback: {intent: CHAT, confidence: 0.5}\n"
    "intents:\n  - {name: SUM, keywords: [WORD]}\n  - {name: CHAT}\n"
)


@dataclass
class Server:
    client: httpx.AsyncClient
    folder: Path
    key: str
    admin: str
    version: Callable[[str], str]

    async def ask(self, message: str) -> str:
        found = await self.client.post(
            "/chat", json={"message": message}, headers={"X-API-Key": self.key}
        )
        return str(found.json().get("content", found.json()))

    async def admin_call(self, method: str, path: str) -> httpx.Response:
        return await self.client.request(method, path, headers={"X-API-Key": self.admin})

    async def reload(self, name: str = "sums") -> httpx.Response:
        return await self.admin_call("POST", f"/admin/adapters/{name}/reload")


@asynccontextmanager
async def serving(
    folder: Path,
    *adapters: dict[str, Any],
    said: list[str] | None = None,
    **sections: Any,
) -> AsyncIterator[Server]:
    """A server over these adapters. With `said` it watches, and says there what it did."""
    found = configure(folder, adapters, **sections)
    keys = await KeyStore.open(found.settings.database_url, found.settings.secret_path)
    key, _ = await keys.create(NewKey("sums"))
    admin, _ = await keys.create(NewKey("sums", role="admin"))
    await keys.close()
    path = folder / "config.yaml"
    async with running(
        found.settings,
        found.environ,
        lambda: configured(path).settings.adapters,
        sources=lambda: load_settings(path, {}).sources,
        watches=said is not None,
        say=None if said is None else said.append,
    ) as api:
        transport = httpx.ASGITransport(api, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            await api.state.api.adapters.every_one_tried()
            yield Server(client, folder, key, admin, api.state.api.manager.version)


async def test_a_template_that_was_added_answers_after_a_reload(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    async with serving(tmp_path, adapter("sums", library)) as server:
        assert "nearest" in await server.ask("What time is it?")
        write_library(library, [PERCENTAGE, NOW])
        assert "nearest" in await server.ask("What time is it?")
        reloaded = await server.reload()
        assert (reloaded.status_code, reloaded.json()["state"]) == (200, "ready")
        assert reloaded.json()["details"]["templates"] == 2
        assert "nearest" not in await server.ask("What time is it?")
        assert await server.ask(SUMS) == "5% of 80 is **4**"


async def test_what_cannot_be_used_is_named_and_changes_nothing(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    async with serving(tmp_path, adapter("sums", library)) as server:
        write_library(library, [{**PERCENTAGE, "tool_operation": "percent"}])
        refused = await server.reload()
        error = refused.json()["error"]
        assert (refused.status_code, error["code"]) == (409, "reload_refused")
        assert error["message"].startswith("adapter 'sums' was not reloaded: ")
        (problem,) = error["details"]
        assert problem["kind"] == "unknown-operation"
        assert problem["where"].startswith(f"{library / 'tools.yaml'}:")
        (tmp_path / "config.yaml").write_text("adapters: [{nmae: sums}]")
        refused = await server.reload()
        assert refused.status_code == 409
        assert "unknown key 'nmae'; did you mean 'name'?" in refused.text
        assert await server.ask(SUMS) == "5% of 80 is **4**"
        assert (await server.admin_call("GET", "/admin/adapters/sums")).json()["state"] == "ready"


async def test_a_rule_pack_reloads_with_its_adapter(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    pack = tmp_path / "pack.yaml"
    pack.write_text(PACK.replace("WORD", "percent"))
    async with serving(tmp_path, adapter("sums", library, config={"intents": str(pack)})) as server:

        async def intent_of(text: str) -> str:
            found = await server.client.post(
                "/intents/detect", json={"message": text}, headers={"X-API-Key": server.key}
            )
            return str(found.json()["intent"])

        assert [await intent_of(t) for t in ("percent", "share")] == ["SUM", "CHAT"]
        pack.write_text(PACK.replace("WORD", "share"))
        assert (await server.reload()).status_code == 200
        assert [await intent_of(t) for t in ("percent", "share")] == ["CHAT", "SUM"]


async def test_adapters_come_and_go_with_the_configuration(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    clock = write_library(tmp_path / "clock", [NOW])
    broken = write_library(tmp_path / "broken", [{**NOW, "tool_operation": "later"}])
    async with serving(tmp_path, adapter("sums", library), adapter("old", clock)) as server:
        configure(
            tmp_path, [adapter("sums", library), adapter("new", clock), adapter("bad", broken)]
        )
        rows = (await server.admin_call("POST", "/admin/reload")).json()["adapters"]
        assert [(row["name"], row["state"], row["reloaded"]) for row in rows] == [
            ("sums", "ready", True),
            ("old", "closed", True),
            ("new", "ready", True),
            ("bad", "unavailable", False),
        ]
        assert rows[3]["error"]["code"] == "reload_refused"
        assert rows[3]["error"]["details"][0]["kind"] == "unknown-operation"
        listed = (await server.admin_call("GET", "/admin/adapters")).json()["adapters"]
        assert [row["name"] for row in listed] == ["sums", "new", "bad"]
        assert (await server.reload("old")).status_code == 404
        ready = (await server.client.get("/ready")).json()
        assert (ready["status"], len(ready["adapters"])) == ("degraded", 3)
        assert await server.ask(SUMS) == "5% of 80 is **4**"


async def test_a_question_under_way_is_answered_by_the_adapter_it_came_to(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    async with serving(tmp_path, adapter("sums", library)) as server:
        asked = [asyncio.create_task(server.ask(SUMS)) for _ in range(20)]
        reloaded = await asyncio.gather(*(server.reload() for _ in range(3)))
        asked += [asyncio.create_task(server.ask(SUMS)) for _ in range(20)]
        assert {answer.status_code for answer in reloaded} == {200}
        assert set(await asyncio.gather(*asked)) == {"5% of 80 is **4**"}


async def test_a_provider_that_is_down_leaves_the_adapter_as_it_was(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    with ollama_stand_in() as served:
        sections: dict[str, Any] = {
            "embeddings": {"ollama": {"base_url": served.base_url, "max_retries": 0}}
        }
        async with serving(tmp_path, adapter("sums", library), **sections) as server:
            served.statuses = [500] * 9
            moved = adapter("sums", library, embedding_provider="ollama")
            configure(tmp_path, [moved], **sections)
            refused = await server.reload()
            assert (refused.status_code, "ollama" in refused.text) == (503, True)
            assert await server.ask(SUMS) == "5% of 80 is **4**"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/admin/adapters"),
        ("GET", "/admin/adapters/sums"),
        ("POST", "/admin/adapters/sums/reload"),
        ("POST", "/admin/reload"),
    ],
)
async def test_only_an_admin_may(tmp_path: Path, method: str, path: str) -> None:
    library = write_library(tmp_path / "sums")
    async with serving(tmp_path, adapter("sums", library)) as server:
        for headers, status in (({}, 401), ({"X-API-Key": server.key}, 403)):
            refused = await server.client.request(method, path, headers=headers)
            assert refused.status_code == status


async def test_an_adapter_is_not_ready_while_its_encoder_is_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = write_library(tmp_path / "sums")
    with ollama_stand_in() as served:
        sections: dict[str, Any] = {
            "embeddings": {"ollama": {"base_url": served.base_url, "max_retries": 0}}
        }
        far = adapter("sums", library, embedding_provider="ollama")
        async with serving(tmp_path, far, **sections) as server:

            async def readiness() -> tuple[int, str, str]:
                ready = await server.client.get("/ready")
                (row,) = ready.json()["adapters"]
                return ready.status_code, row["state"], row.get("why", "")

            assert await readiness() == (200, "ready", "")
            served.statuses[:] = [401] * 3
            assert await readiness() == (200, "ready", "")  # it answered a moment ago
            assert "provider_rejected" in await server.ask("What time is it, please?")
            status, state, why = await readiness()
            assert (status, state, "'ollama'" in why) == (503, "unavailable", True)
            served.statuses.clear()
            assert await readiness() == (200, "ready", "")
            # Nobody has asked for a while: /ready asks by itself.
            monkeypatch.setattr(watched, "_FRESH_S", 0.0)
            served.statuses[:] = [500]
            assert (await readiness())[:2] == (503, "unavailable")
            assert await readiness() == (200, "ready", "")


async def test_what_becomes_of_adapters_is_audited(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    both = adapter("sums", library), adapter("old", library)
    async with serving(tmp_path, *both) as server:
        await server.reload()
        write_library(library, [{**PERCENTAGE, "tool_operation": "percent"}])
        await server.reload()
        write_library(library)
        configure(tmp_path, [adapter("sums", library)])
        await server.admin_call("POST", "/admin/reload")
        (tmp_path / "config.yaml").write_text("adapters: [{nmae: sums}]")
        await server.reload()
        settings = configure(tmp_path, both).settings
    found = [e for e in audited(settings, tool="adapters") if e["outcome"] != "started"]
    rows = [(e["role"], e["operation"], e["adapter"], e["outcome"]) for e in found]
    assert sorted(rows[:2]) == [
        ("server", "open", "old", "success"),
        ("server", "open", "sums", "success"),
    ]
    assert rows[2:] == [
        ("admin", "reload", "sums", "success"),
        ("admin", "reload", "sums", "error"),
        ("admin", "reload", "sums", "success"),
        ("admin", "close", "old", "success"),
        ("admin", "reload", "sums", "error"),
    ]
    assert [e["reason"] for e in found if e["outcome"] == "error"] == ["reload_refused"] * 2
