"""Both HTTP examples over `/chat`, as a client sees them."""

import asyncio
from pathlib import Path
from typing import Any

import httpx

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.cli.options import configured
from tests.examples.running import EXAMPLES, services
from tests.support.api import running

CONFIG = f"""
adapters:
  - name: agent
    implementation: retrievers.implementations.intent.IntentAgentRetriever
    config:
      domain_config_path: {EXAMPLES}/agent-template/domain.yaml
      template_library_path: {EXAMPLES}/agent-template/*tools.yaml
      http: {{private_hosts: [127.0.0.1, localhost]}}
  - name: http
    implementation: retrievers.implementations.intent.IntentHTTPRetriever
    config:
      domain_config_path: {EXAMPLES}/jsonplaceholder/domain.yaml
      template_library_path: {EXAMPLES}/jsonplaceholder/templates.yaml
      http: {{private_hosts: [127.0.0.1, localhost]}}
"""


async def ask(folder: Path, address: str, *asked: tuple[str, str]) -> list[dict[str, Any]]:
    """The bodies that `/chat` answers to each adapter and question."""
    (folder / "config.yaml").write_text(CONFIG)
    found = configured(folder / "config.yaml", data=folder / "data")
    environ = {**found.environ, "DEMO_SERVICES_URL": address}
    async with running(found.settings, environ) as api:
        transport = httpx.ASGITransport(api, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            while (await client.get("/ready")).json()["status"] != "ready":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            keys = await KeyStore.open(found.settings.database_url, found.settings.secret_path)
            raw = {name: (await keys.create(NewKey(name)))[0] for name in ("agent", "http")}
            await keys.close()
            answers = []
            for adapter, question in asked:
                headers = {"Authorization": f"Bearer {raw[adapter]}"}
                answer = await client.post("/chat", json={"message": question}, headers=headers)
                assert answer.status_code == 200
                answers.append(answer.json())
            return answers


def test_chat_answers_with_data_of_the_services(tmp_path: Path) -> None:
    with services() as address:
        weather, money, user, nobody = asyncio.run(
            ask(
                tmp_path,
                address,
                ("agent", "What's the weather in London?"),
                ("agent", "convert 250 usd to euros"),
                ("http", "show user 3"),
                ("http", "show user 4711"),
            )
        )
    assert weather["content"].startswith("London, United Kingdom: **13.6°C**, partly cloudy")
    execution = weather["metadata"]["tool_execution"]
    assert {name: execution[name] for name in ("tool_name", "operation", "status")} == {
        "tool_name": "http_call",
        "operation": "get_current_weather",
        "status": "success",
    }
    assert execution["parameters"] == {"location": "London", "units": "metric"}
    assert execution["result"]["temperature"] == 13.6
    assert money["content"] == "250 USD is **200 EUR** (1 USD = 0.8 EUR, 2025-06-04)."
    assert user["content"].startswith("**Chioma Eze**")
    failed = nobody["metadata"]["tool_execution"]
    host = address.removeprefix("http://")
    assert (failed["status"], failed["error_message"]) == (
        "error",
        f"{host} answered 404 Not Found",
    )
