"""Counting calls against rate limits, in memory or in Redis."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic, time
from typing import Any, Final, Literal, Protocol, cast

import limits
from limits.storage import MemoryStorage
from limits.storage.memory import Entry
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter

from server.errors import StoreUnavailable

_log = logging.getLogger(__name__)

Window = Literal["moving", "fixed"]

_SWEEP_EVERY_S: Final = 60.0
_REDIS_TIMEOUT_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class LimitStatus:
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
    """What both strategies of `limits` offer for Redis."""

    async def test(self, item: Any, *identifiers: str) -> bool: ...
    async def hit(self, item: Any, *identifiers: str) -> bool: ...
    async def get_window_stats(self, item: Any, *identifiers: str) -> Any: ...


class _Memory(MemoryStorage):
    """Where `limits` keeps its counts, forgetting what is over once a minute.

    Its own ways to count start a thread for that with nearly every call, which costs ten
    times what counting does.
    """

    def __init__(self) -> None:
        self._swept_s = monotonic()
        super().__init__()

    def sweep(self) -> None:
        """Forget what is over, now and then."""
        now_s = monotonic()
        if now_s - self._swept_s >= _SWEEP_EVERY_S:
            self._swept_s = now_s
            self._MemoryStorage__expire_events()  # type: ignore[attr-defined]


class _MovingCounts:
    """The moving window of `limits`, asked of its memory without making each key anew."""

    def __init__(self) -> None:
        self._memory = _Memory()
        self._strategy = MovingWindowRateLimiter(self._memory)

    def has_room(self, name: str, who: tuple[str, ...]) -> bool:
        """Whether fewer entries than the limit are young enough; the newest come first."""
        key, limit, expiry_s = _window(name, who)
        entries = self._memory.events.get(key, ())
        return len(entries) < limit or entries[limit - 1].atime < time() - expiry_s

    def take(self, name: str, who: tuple[str, ...]) -> bool:
        """Make an entry where there is room."""
        memory = self._memory
        memory.sweep()
        key, _, expiry_s = _window(name, who)
        with memory.locks[key]:
            if not self.has_room(name, who):
                return False
            memory.events.setdefault(key, []).insert(0, Entry(expiry_s))
            return True

    def stats(self, name: str, who: tuple[str, ...]) -> Any:
        return self._strategy.get_window_stats(_item(name), *who)


class _FixedCounts:
    """The fixed window of `limits`, likewise."""

    def __init__(self) -> None:
        self._memory = _Memory()
        self._strategy = FixedWindowRateLimiter(self._memory)

    def has_room(self, name: str, who: tuple[str, ...]) -> bool:
        """Whether the count of the window at hand is below the limit."""
        memory = self._memory
        key, limit, _ = _window(name, who)
        is_over = memory.expirations.get(key, 0) <= time()
        return (0 if is_over else memory.storage[key]) < limit

    def take(self, name: str, who: tuple[str, ...]) -> bool:
        """Count one more where there is room, in a new window where the last is over."""
        memory = self._memory
        memory.sweep()
        key, limit, expiry_s = _window(name, who)
        with memory.locks[key]:
            now_s = time()
            if memory.expirations.get(key, 0) <= now_s:
                memory.expirations[key], memory.storage[key] = now_s + expiry_s, 0
            if memory.storage[key] >= limit:
                return False
            memory.storage[key] += 1
            return True

    def stats(self, name: str, who: tuple[str, ...]) -> Any:
        return self._strategy.get_window_stats(_item(name), *who)


class RateLimits:
    """Counts calls. Of any number at once, exactly as many pass as a limit allows."""

    def __init__(self, url: str | None = None, window: Window = "moving") -> None:
        """`url` is `redis://…` or `rediss://…`; without one, counts are this process's own.

        Raises:
            StoreUnavailable: the URL names nothing that can count.
        """
        self._here: _MovingCounts | _FixedCounts | None = None
        self._redis: Any = None
        if url is None:
            self._here = _MovingCounts() if window == "moving" else _FixedCounts()
        else:
            self._redis, self._strategy = _open_redis(url, window)

    async def peek(self, names: Sequence[str], *who: str) -> LimitStatus | None:
        """The limit among `names` that would refuse a call now, without counting one."""
        for name in names:
            here = self._here
            if not (here.has_room(name, who) if here else await self._ask("test", name, who)):
                return await self._standing(name, who, allowed=False)
        return None

    async def take(self, names: Sequence[str], *who: str) -> LimitStatus | None:
        """Count one call; the limit that refuses it, or None. A refused call is not counted.

        Raises:
            StoreUnavailable: the counts cannot be reached.
        """
        refused = await self.peek(names, *who) if len(names) > 1 else None
        if refused is not None:
            return refused
        for name in names:
            here = self._here
            if not (here.take(name, who) if here else await self._ask("hit", name, who)):
                return await self._standing(name, who, allowed=False)
        return None

    async def standings(self, names: Sequence[str], *who: str) -> tuple[LimitStatus, ...]:
        """How `who` stands with each limit, without counting a call."""
        return tuple([await self._standing(name, who, allowed=True) for name in names])

    async def close(self) -> None:
        if self._redis is not None:
            await self._redis.storage.bridge.storage.aclose()

    async def _standing(self, name: str, who: tuple[str, ...], *, allowed: bool) -> LimitStatus:
        here = self._here
        stats = here.stats(name, who) if here else await self._ask("get_window_stats", name, who)
        return LimitStatus(name, allowed, stats.remaining, max(0.0, stats.reset_time - time()))

    async def _ask(self, question: str, name: str, who: tuple[str, ...]) -> Any:
        """One of the questions of `_Strategy`, to Redis."""
        try:
            return await getattr(self._strategy, question)(_item(name), *who)
        except limits.errors.StorageError as failed:
            _log.error("rate limits cannot be counted: %s", failed.storage_error)
            raise StoreUnavailable("rate limits cannot be checked at the moment") from failed


@lru_cache(maxsize=4096)
def _window(name: str, who: tuple[str, ...]) -> tuple[str, int, int]:
    """Under which key it is counted, how many there may be, and in how many seconds."""
    item = _item(name)
    return item.key_for(*who), item.amount, item.get_expiry()


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
