"""Clients that try keys: after a few wrong ones they wait, before a database is asked."""

import logging
import math
from collections.abc import Sequence

from server.access.rate_limits import RateLimits
from server.errors import RateLimited
from server.workers.parent import Parent

_log = logging.getLogger(__name__)


class WrongKeys:
    """Counts the unknown keys of each client, in memory."""

    def __init__(self, limits: Sequence[str] = (), parent: Parent | None = None) -> None:
        """`limits` are such as `30/minute`; without one, any number may be tried.

        The memory is that of `parent`, for a worker that has one.
        """
        self._limits = limits
        self._counts = RateLimits(parent=parent, space="wrong_keys")

    async def check(self, client: str) -> None:
        """Raises `RateLimited`: this client has tried too many, and has to wait."""
        refused = await self._counts.peek(self._limits, client)
        if refused is not None:
            seconds = max(1, math.ceil(refused.reset_s))
            raise RateLimited(
                f"too many wrong keys came from this address ({refused.limit}); try again in "
                f"{seconds} s",
                retry_after_s=seconds,
            )

    async def note(self, client: str) -> None:
        """Count a wrong key, and log when it is the last that may be tried."""
        await self._counts.take(self._limits, client)
        refused = await self._counts.peek(self._limits, client)
        if refused is not None:
            _log.warning(
                "%s has tried too many wrong keys (%s): keys that are new here are refused to it "
                "for %.0f s",
                client,
                refused.limit,
                refused.reset_s,
            )
