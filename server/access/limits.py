"""Counting calls against rate limits, in memory or in Redis."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic, time
from typing import Any, Final, Literal, Protocol, cast

import limits
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter

from server.errors import StoreUnavailable

_log = logging.getLogger(__name__)

Window = Literal["moving", "fixed"]

_SWEEP_EVERY_S: Final = 60.0
_REDIS_TIMEOUT_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Standing:
    """How a caller stands with one limit; `reset_s` is when the count is lower again."""

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


class _Strategy(Protocol):
    """What both strategies of `limits` offer; on Redis each returns an awaitable."""

    def test(self, item: Any, *identifiers: str) -> Any: ...
    def hit(self, item: Any, *identifiers: str) -> Any: ...
    def get_window_stats(self, item: Any, *identifiers: str) -> Any: ...


class _Memory(MemoryStorage):
    """Counts in memory, forgetting what is over once a minute.

    The library's own starts a thread for that with nearly every call, which costs ten
    times what counting does.
    """

    def __init__(self) -> None:
        self._swept_s = monotonic()
        super().__init__()

    def _MemoryStorage__schedule_expiry(self) -> None:  # noqa: N802 - the name that it calls
        if monotonic() - self._swept_s >= _SWEEP_EVERY_S:
            self._swept_s = monotonic()
            self._MemoryStorage__expire_events()  # type: ignore[attr-defined]


class RateLimits:
    """Counts calls. Of any number at once, exactly as many pass as a limit allows."""

    def __init__(self, url: str | None = None, window: Window = "moving") -> None:
        """`url` is `redis://…` or `rediss://…`; without one, counts are this process's own.

        Raises:
            StoreUnavailable: the URL names nothing that can count.
        """
        self._strategy: _Strategy
        self._redis: Any = None
        if url is None:
            memory = _Memory()
            kinds: dict[Window, Any] = {
                "moving": MovingWindowRateLimiter,
                "fixed": FixedWindowRateLimiter,
            }
            self._strategy = kinds[window](memory)
            return
        self._redis, self._strategy = _open_redis(url, window)

    async def peek(self, names: Sequence[str], *who: str) -> Standing | None:
        """The limit among `names` that would refuse a call now, without counting one."""
        for name in names:
            if not await self._ask(self._strategy.test, name, who):
                return await self._standing(name, who, allowed=False)
        return None

    async def take(self, names: Sequence[str], *who: str) -> Standing | None:
        """Count one call; the limit that refuses it, or None. A refused call is not counted.

        Raises:
            StoreUnavailable: the counts cannot be reached.
        """
        refused = await self.peek(names, *who) if len(names) > 1 else None
        if refused is not None:
            return refused
        for name in names:
            if not await self._ask(self._strategy.hit, name, who):
                return await self._standing(name, who, allowed=False)
        return None

    async def standings(self, names: Sequence[str], *who: str) -> tuple[Standing, ...]:
        """How `who` stands with each limit, without counting a call."""
        return tuple([await self._standing(name, who, allowed=True) for name in names])

    async def close(self) -> None:
        if self._redis is not None:
            await self._redis.storage.bridge.storage.aclose()

    async def _standing(self, name: str, who: tuple[str, ...], *, allowed: bool) -> Standing:
        stats = await self._ask(self._strategy.get_window_stats, name, who)
        return Standing(name, allowed, stats.remaining, max(0.0, stats.reset_time - time()))

    async def _ask(self, question: Any, name: str, who: tuple[str, ...]) -> Any:
        if self._redis is None:
            return question(_item(name), *who)
        try:
            return await question(_item(name), *who)
        except limits.errors.StorageError as failed:
            _log.error("rate limits cannot be counted: %s", failed.storage_error)
            raise StoreUnavailable("rate limits cannot be checked at the moment") from failed


@lru_cache(maxsize=1024)
def _item(name: str) -> limits.RateLimitItem:
    return limits.parse(name)


def _open_redis(url: str, window: Window) -> tuple[Any, _Strategy]:
    from limits.aio.storage import RedisStorage
    from limits.aio.strategies import FixedWindowRateLimiter as Fixed
    from limits.aio.strategies import MovingWindowRateLimiter as Moving

    if not url.startswith(("redis://", "rediss://")):
        raise StoreUnavailable("rate limits: write a URL as redis://HOST:PORT/DB")
    try:
        storage = RedisStorage(
            f"async+{url}",
            wrap_exceptions=True,
            implementation="redispy",
            key_prefix="orbit",
            socket_timeout=_REDIS_TIMEOUT_S,
            socket_connect_timeout=_REDIS_TIMEOUT_S,
        )
    except (limits.errors.ConfigurationError, ValueError) as wrong:
        raise StoreUnavailable(f"rate limits: the URL of Redis cannot be used: {wrong}") from None
    strategy = Moving(storage) if window == "moving" else Fixed(storage)
    return strategy, cast(_Strategy, strategy)
