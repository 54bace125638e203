"""Going on with rows that a database found."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.sql_shop import Shop, open_shop

pytestmark = pytest.mark.anyio

LISTED = "Show me the orders in Lisbon"
"""Orders 3, 6, 9 … of Ana Silva."""


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    async with open_shop(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("message", "template", "arguments"),
    [
        ("details of the second one", "order_by_id", {"id": 6}),
        ("the third", "order_by_id", {"id": 9}),
        ("what is in the last order?", "order_by_id", {"id": 60}),
        ("and in Porto?", "orders_in_city", {"city": "Porto"}),
        ("what about Dublin", "orders_in_city", {"city": "Dublin"}),
    ],
)
@pytest.mark.parametrize("accept", ["application/json", "text/csv"])
async def test_a_message_may_point_to_rows_that_were_found(
    shop: Shop, message: str, template: str, arguments: Mapping[str, Any], accept: str
) -> None:
    await shop.send(LISTED, "s", accept=accept)
    metadata = (await shop.ask(message, "s"))["metadata"]
    parameters = metadata["tool_execution"]["parameters"]
    assert (metadata["template_id"], parameters) == (template, arguments)


async def test_a_row_that_is_pointed_to_is_changed_after_a_yes(shop: Shop) -> None:
    await shop.ask(LISTED, "s")
    asked = await shop.ask("delete the second one", "s")
    assert asked["metadata"]["proposal"]["arguments"] == {"id": 6}
    assert (await shop.ask("yes", "s"))["content"] == "1 row was changed."
    assert (await shop.ask("Show order 6"))["content"] == "Nothing was found."
