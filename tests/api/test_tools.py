"""What an adapter can do, listed for other programs, with the adapter's own key."""

from dataclasses import replace

import pytest

from server.access.models import NewKey
from server.access.rate_limits import RateLimits
from server.library.model import CallPolicy, Library
from server.tools.executor import ToolExecutor
from server.tools.policy.chain import Guardrails, build_chain
from server.tools.registry import ToolRegistry
from tests.api.conftest import Edge
from tests.support.deciding import DIVIDE, LIBRARY, PERCENTAGE, table_adapter

pytestmark = pytest.mark.anyio


async def test_tools_are_in_the_format_of_openai(edge: Edge) -> None:
    response = await edge.client.get("/adapters/arithmetic/tools", headers={"X-API-Key": edge.key})
    assert response.status_code == 200
    first, second = response.json()["tools"]
    assert first == {
        "type": "function",
        "function": {
            "name": "calculate_percentage",
            "description": "Calculate a percentage of a given value",
            "parameters": {
                "type": "object",
                "properties": {
                    "value": {"type": "number", "description": "The base value"},
                    "percentage": {"type": "number", "description": "The percentage to calculate"},
                },
                "required": ["value", "percentage"],
            },
        },
    }
    assert second["function"]["name"] == "divide"


async def test_only_what_the_role_may_run_is_listed(edge: Edge) -> None:
    admins = replace(DIVIDE, policy=CallPolicy(allowed_roles=("admin",)))
    library = Library(LIBRARY.domain, {t.id: t for t in (PERCENTAGE, admins)})
    registry = ToolRegistry.build()
    chain = build_chain(
        "arithmetic", library, registry, ToolExecutor(registry), Guardrails(RateLimits())
    )
    edge.adapters.opened(replace(table_adapter(library=library), chain=chain))
    admin, _ = await edge.keys.create(NewKey("arithmetic", role="admin"))
    for key, count in ((edge.key, 1), (admin, 2)):
        response = await edge.client.get("/adapters/arithmetic/tools", headers={"X-API-Key": key})
        assert len(response.json()["tools"]) == count


@pytest.mark.parametrize("name", ["broken", "nowhere"])
async def test_a_key_lists_its_own_adapter_alone(edge: Edge, name: str) -> None:
    response = await edge.client.get(f"/adapters/{name}/tools", headers={"X-API-Key": edge.key})
    assert (response.status_code, response.json()["error"]["code"]) == (403, "key_foreign")


async def test_it_needs_a_key(edge: Edge) -> None:
    assert (await edge.client.get("/adapters/arithmetic/tools")).status_code == 401
