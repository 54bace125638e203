"""What the first question that needs it would wait for, read while nobody does."""

import asyncio

from server.adapters.registry import Adapters
from server.text.expressions.quantity import load_units


async def read_units_ahead(adapters: Adapters) -> None:
    """Read the table of units once all adapters are open, where sums are asked for in words.

    It takes a third of a second, for which every other question would wait too.
    """
    await adapters.every_one_tried()
    if any(adapters.reads_expressions(name) for name in adapters.names):
        await asyncio.to_thread(load_units)
