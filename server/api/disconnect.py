"""Work that is only worth doing while the client waits for it."""

import asyncio
from typing import Any, TypeVar

from starlette.types import Receive

from server.errors import OrbitError

T = TypeVar("T")


class ClientLeft(OrbitError):
    """The client closed the connection; nobody will read the response."""

    code = "client_left"


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the client has closed the connection. The body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def cancel_on_disconnect(receive: Receive, work: "asyncio.Task[T]") -> T:
    """Return the result of `work`; cancel it when the client leaves.

    Raises:
        ClientLeft: the client left first.
    """
    watch = asyncio.create_task(wait_for_disconnect(receive))
    try:
        await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        raise ClientLeft("the client left before the answer was there")
    finally:
        await stop_task(watch)
        await stop_task(work)


async def stop_task(task: "asyncio.Task[Any]") -> None:
    """Cancel a task and wait until it has ended; its result or failure is ignored."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
