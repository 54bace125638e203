"""Counting calls: in memory, and in a real Redis."""

import asyncio
import time
from collections.abc import Iterator

import limits
import pytest
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter

from server.access.counts import SteadyMemoryStorage
from server.access.rate_limits import LimitStatus, RateLimits, Window
from server.errors import StoreUnavailable
from tests.support.redis import redis, why_not

NEEDS_REDIS = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis of our own on a free port."""
    with redis(tmp_path_factory.mktemp("redis")) as started:
        yield started.url


WINDOWS: list[Window] = ["moving", "fixed"]


async def passes(limits: RateLimits, count: int, names: tuple[str, ...], *who: str) -> int:
    asked = await asyncio.gather(*(limits.take(names, *who) for _ in range(count)))
    return asked.count(None)


@pytest.mark.parametrize("window", WINDOWS)
def test_of_200_at_once_exactly_20_pass_in_memory(window: Window) -> None:
    assert asyncio.run(passes(RateLimits(window=window), 200, ("20/hour",), "ana")) == 20


@pytest.mark.parametrize("window", WINDOWS)
def test_a_look_tells_what_the_next_call_will_be_told(window: Window) -> None:
    async def looks_and_calls() -> list[tuple[bool, bool]]:
        limits = RateLimits(window=window)
        told = []
        for _ in range(5):
            looked = await limits.peek(("3/minute",), "ana")
            told.append((looked is None, await limits.take(("3/minute",), "ana") is None))
        return told

    assert asyncio.run(looks_and_calls()) == [(True, True)] * 3 + [(False, False)] * 2


@pytest.mark.parametrize("window", WINDOWS)
def test_there_is_room_again_when_the_window_is_over(window: Window) -> None:
    async def until_it_passes() -> tuple[bool, bool]:
        limits = RateLimits(window=window)
        assert await passes(limits, 3, ("2/second",), "ana") == 2
        for _ in range(200):
            if await limits.peek(("2/second",), "ana") is None:
                break
            await asyncio.sleep(0.05)
        return (
            await limits.take(("2/second",), "ana") is None,
            await limits.peek(("2/second",), "ana") is None,
        )

    assert asyncio.run(until_it_passes()) == (True, True)


@pytest.mark.slow
@pytest.mark.parametrize("jump_s", [-86_400.0, 86_400.0])
@pytest.mark.parametrize("window", WINDOWS)
def test_a_clock_that_is_set_changes_no_count_in_memory(
    window: Window, jump_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> list[int]:
        limits = RateLimits(window=window)
        counted = [await passes(limits, 3, ("2/second",), "ana")]
        now = time.time
        monkeypatch.setattr(time, "time", lambda: now() + jump_s)
        counted.append(await passes(limits, 3, ("2/second",), "ana"))
        await asyncio.sleep(1.1)
        return [*counted, await passes(limits, 3, ("2/second",), "ana")]

    assert asyncio.run(run()) == [2, 0, 2]


@pytest.mark.slow
@NEEDS_REDIS
@pytest.mark.parametrize("window", WINDOWS)
def test_a_clock_that_is_set_back_locks_nobody_out_in_redis(
    window: Window, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> tuple[int, float, int]:
        limits = RateLimits(redis_url, window)
        who = ("eve", window)
        assert await passes(limits, 3, ("2/second",), *who) == 2
        now = time.time
        monkeypatch.setattr(time, "time", lambda: now() - 86_400)
        monkeypatch.setattr("server.access.rate_limits.time", time.time)
        at_once = await passes(limits, 3, ("2/second",), *who)
        (standing,) = await limits.standings(("2/second",), *who)
        await asyncio.sleep(2.1)  # Redis forgets in whole seconds
        later = await passes(limits, 3, ("2/second",), *who)
        await limits.close()
        return at_once, standing.reset_s, later

    at_once, reset_s, later = asyncio.run(run())
    assert (at_once, reset_s <= 1.0, later) == (0, True, 2)


def test_what_has_run_out_is_forgotten() -> None:
    now_s = 0.0
    storage = SteadyMemoryStorage(lambda: now_s)
    for number in range(100):
        storage.incr(f"fixed {number}", 10)
        storage.acquire_entry(f"moving {number}", 5, 10)
    now_s = 61.0
    storage.incr("fixed", 10)
    storage.acquire_entry("moving", 5, 10)
    assert storage.reset() == 2


@pytest.mark.parametrize("window", WINDOWS)
def test_they_are_counted_as_the_library_counts_them(window: Window) -> None:
    strategy = {"moving": MovingWindowRateLimiter, "fixed": FixedWindowRateLimiter}[window]
    library, three = strategy(MemoryStorage()), limits.parse("3/hour")

    async def side_by_side() -> list[tuple[object, object]]:
        ours = RateLimits(window=window)
        told: list[tuple[object, object]] = []
        for _ in range(5):
            told.append((await ours.peek(("3/hour",), "ana") is None, library.test(three, "ana")))
            told.append((await ours.take(("3/hour",), "ana") is None, library.hit(three, "ana")))
            (standing,) = await ours.standings(("3/hour",), "ana")
            told.append((standing.remaining, library.get_window_stats(three, "ana").remaining))
        return told

    told = asyncio.run(side_by_side())
    assert [ours for ours, _ in told] == [theirs for _, theirs in told]


@NEEDS_REDIS
@pytest.mark.parametrize("window", WINDOWS)
def test_of_200_at_once_exactly_20_pass_in_redis_from_two_servers(
    window: Window, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.access.rate_limits._REDIS_TIMEOUT_S", 60.0)  # on a busy machine

    async def run() -> int:
        servers = [RateLimits(redis_url, window) for _ in range(2)]
        try:
            asked = (passes(each, 100, ("20/hour",), "ana", window) for each in servers)
            return sum(await asyncio.gather(*asked))
        finally:
            for each in servers:
                await each.close()

    assert asyncio.run(run()) == 20


@NEEDS_REDIS
def test_standings_are_the_same_from_redis(redis_url: str) -> None:
    async def run() -> tuple[LimitStatus, ...]:
        limits = RateLimits(redis_url)
        await limits.take(("5/minute",), "bob")
        found = await limits.standings(("5/minute",), "bob")
        await limits.close()
        return found

    (standing,) = asyncio.run(run())
    assert (standing.count, standing.window_s, standing.remaining) == (5, 60, 4)
    assert 50 < standing.reset_s <= 60


def test_a_redis_that_is_gone_lets_nothing_pass() -> None:
    async def run() -> None:
        limits = RateLimits("redis://127.0.0.1:1/0")
        with pytest.raises(StoreUnavailable, match="cannot be checked"):
            await limits.take(("5/minute",), "ana")
        await limits.close()

    asyncio.run(run())


@pytest.mark.parametrize("url", ["postgres://x", "redis://host:notaport/0"])
def test_a_url_that_names_no_redis_is_refused(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="rate limits"):
        RateLimits(url)


def test_of_several_limits_a_refused_call_costs_none() -> None:
    async def run() -> tuple[int, ...]:
        limits = RateLimits()
        both = ("100/hour", "2/minute")
        for _ in range(10):
            await limits.take(both, "ana")
        return tuple(s.remaining for s in await limits.standings(both, "ana"))

    assert asyncio.run(run()) == (98, 0)


def test_peeking_counts_nothing() -> None:
    async def run() -> int:
        limits = RateLimits()
        for _ in range(50):
            assert await limits.peek(("1/hour",), "ana") is None
        return await passes(limits, 5, ("1/hour",), "ana")

    assert asyncio.run(run()) == 1


def test_who_is_counted_is_kept_apart() -> None:
    async def run() -> list[int]:
        limits = RateLimits()
        return [await passes(limits, 5, ("2/hour",), who) for who in ("a", "b", "a")]

    assert asyncio.run(run()) == [2, 2, 0]
