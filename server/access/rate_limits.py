"""Counting calls against rate limits, in memory or in Redis."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from inspect import isawaitable
from time import monotonic, time
from typing import Any, Final, Literal

import limits
from limits import strategies
from limits.aio import strategies as aio_strategies

from server.access.counts import SteadyMemoryStorage
from server.errors import StoreUnavailable

_log = logging.getLogger(__name__)

Window = Literal["moving", "fixed"]

_STRATEGIES: Final = {"moving": "MovingWindowRateLimiter", "fixed": "FixedWindowRateLimiter"}
_REDIS_TIMEOUT_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class LimitStatus:
    """The state of one limit for a caller; after `reset_s` seconds the count is lower."""

    limit: str
    allowed: bool
    remaining: int
    reset_s: float

    @property
    def count(self) -> int:
        return _item(self.limit).amount

    @property
    def window_s(self) -> int:
        return _item(self.limit).get_expiry()


class RateLimits:
    """Counts calls. Of any number of calls at once, exactly as many pass as a limit allows."""

    def __init__(
        self,
        url: str | None = None,
        window: Window = "moving",
        clock_s: Callable[[], float] = monotonic,
    ) -> None:
        """`url` is `redis://…` or `rediss://…`; without one, counts are this process's own.

        `clock_s` is for counts in memory; Redis is told the time of day, so that servers agree.

        Raises `StoreUnavailable`: the URL names nothing that can count.
        """
        self._redis = None if url is None else _open_redis(url)
        # The async storage in memory hands every key to a thread each time it forgets some.
        kinds = strategies if self._redis is None else aio_strategies
        self._clock_s = clock_s if self._redis is None else time
        storage = self._redis or SteadyMemoryStorage(clock_s)
        self._strategy: Any = getattr(kinds, _STRATEGIES[window])(storage)

    async def peek(self, names: Sequence[str], *who: str) -> LimitStatus | None:
        """Return the limit among `names` that would refuse a call now, without counting one."""
        return await self._first_refusal("test", names, who)

    async def take(self, names: Sequence[str], *who: str) -> LimitStatus | None:
        """Count one call; return the limit that refuses it, or None. A refused call is not counted.

        Raises `StoreUnavailable`: the counts cannot be reached.
        """
        refused = await self.peek(names, *who) if len(names) > 1 else None
        return refused or await self._first_refusal("hit", names, who)

    async def standings(self, names: Sequence[str], *who: str) -> tuple[LimitStatus, ...]:
        """Return the state of each limit for `who`, without counting a call."""
        return tuple([await self._status(name, who, allowed=True) for name in names])

    async def close(self) -> None:
        if self._redis is not None:
            await self._redis.bridge.storage.aclose()

    async def _first_refusal(
        self, question: Literal["test", "hit"], names: Sequence[str], who: tuple[str, ...]
    ) -> LimitStatus | None:
        for name in names:
            if not await self._ask(question, name, who):
                return await self._status(name, who, allowed=False)
        return None

    async def _status(self, name: str, who: tuple[str, ...], *, allowed: bool) -> LimitStatus:
        stats = await self._ask("get_window_stats", name, who)
        # Where the clock was set back, what was counted before lies in the future.
        reset_s = min(stats.reset_time - self._clock_s(), _item(name).get_expiry())
        return LimitStatus(name, allowed, stats.remaining, max(0.0, reset_s))

    async def _ask(self, question: str, name: str, who: tuple[str, ...]) -> Any:
        try:
            answer = getattr(self._strategy, question)(_item(name), *who)
            return await answer if isawaitable(answer) else answer
        except limits.errors.StorageError as failed:
            _log.error("rate limits cannot be counted: %s", failed.storage_error)
            why = "rate limits cannot be checked at the moment"
            raise StoreUnavailable(why, shown=True) from failed


@lru_cache(maxsize=1024)
def _item(name: str) -> limits.RateLimitItem:
    return limits.parse(name)


def _open_redis(url: str) -> Any:
    from limits.aio.storage import RedisStorage

    if not url.startswith(("redis://", "rediss://")):
        raise StoreUnavailable("rate limits: write a URL as redis://HOST:PORT/DB")
    try:
        return RedisStorage(
            f"async+{url}",
            wrap_exceptions=True,
            implementation="redispy",
            key_prefix="orbit",
            socket_timeout=_REDIS_TIMEOUT_S,
            socket_connect_timeout=_REDIS_TIMEOUT_S,
        )
    except (limits.errors.ConfigurationError, ValueError) as wrong:
        raise StoreUnavailable(f"rate limits: the URL of Redis cannot be used: {wrong}") from None
