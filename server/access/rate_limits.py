"""Counting calls against rate limits: in memory, in that of a supervisor, or in Redis."""

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
from server.workers.parent import Parent

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


class LocalCounts:
    """Counts of one process, which may be the supervisor of others."""

    def __init__(self, window: Window, clock_s: Callable[[], float] = monotonic) -> None:
        # The async storage in memory hands every key to a thread each time it forgets some.
        self._strategy: Any = getattr(strategies, _STRATEGIES[window])(SteadyMemoryStorage(clock_s))

    def ask(self, question: str, limit: str, *who: str) -> Any:
        """Return what a strategy of `limits` answers to `test`, `hit` or `get_window_stats`."""
        return getattr(self._strategy, question)(_item(limit), *who)


class _ParentCounts:
    """A strategy of `limits` whose counts are in the supervisor of this process."""

    def __init__(self, parent: Parent, space: str, window: Window) -> None:
        self._parent, self._space, self._window = parent, space, window

    async def test(self, item: limits.RateLimitItem, *who: str) -> bool:
        return bool(await self._ask("test", item, who))

    async def hit(self, item: limits.RateLimitItem, *who: str) -> bool:
        return bool(await self._ask("hit", item, who))

    async def get_window_stats(self, item: limits.RateLimitItem, *who: str) -> limits.WindowStats:
        return limits.WindowStats(*await self._ask("get_window_stats", item, who))

    async def _ask(self, question: str, item: limits.RateLimitItem, who: tuple[str, ...]) -> Any:
        counts = self._parent.count_calls
        return await counts(self._space, self._window, question, str(item), *who)


class RateLimits:
    """Counts calls. Of any number of calls at once, exactly as many pass as a limit allows."""

    def __init__(
        self,
        url: str | None = None,
        window: Window = "moving",
        clock_s: Callable[[], float] = monotonic,
        *,
        parent: Parent | None = None,
        space: str = "limits",
    ) -> None:
        """`url` is `redis://…` or `rediss://…`; without one, counts are in memory.

        That of `parent`, for a worker that has one, where those of one `space` are together.
        `clock_s` is for counts in memory; Redis is told the time of day, so that servers agree.

        Raises `StoreUnavailable`: the URL names nothing that can count.
        """
        self._redis = None if url is None else _open_redis(url)
        self._clock_s = clock_s if self._redis is None else time
        self._strategy: Any
        if self._redis is not None:
            self._strategy = getattr(aio_strategies, _STRATEGIES[window])(self._redis)
        elif parent is not None:
            self._strategy = _ParentCounts(parent, space, window)
        else:
            storage = SteadyMemoryStorage(clock_s)
            self._strategy = getattr(strategies, _STRATEGIES[window])(storage)

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
