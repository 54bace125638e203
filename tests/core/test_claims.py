"""Names that one at a time may have."""

import pytest

from server.core.claims import MemoryClaims


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.anyio
async def test_a_name_is_held_until_it_is_released_or_its_time_is_over() -> None:
    clock = Clock()
    claims = MemoryClaims(clock)
    assert await claims.claim("link", "a") == "taken"
    assert await claims.claim("link", "a") == "held"
    assert await claims.claim("key", "a", for_s=10) == "taken"
    await claims.release("link", "a")
    assert await claims.claim("link", "a", for_s=5) == "taken"
    clock.now += 9
    assert (await claims.is_claimed("link", "a"), await claims.is_claimed("key", "a")) == (
        False,
        True,
    )
    assert await claims.claim("link", "a") == "taken"


@pytest.mark.anyio
async def test_only_what_is_over_makes_room() -> None:
    clock = Clock()
    claims = MemoryClaims(clock, most=2)
    assert [await claims.claim("link", name, for_s=10) for name in "abc"] == [
        "taken",
        "taken",
        "full",
    ]
    assert await claims.claim("key", "c", for_s=10) == "taken"
    clock.now += 10
    assert await claims.claim("link", "c", for_s=10) == "taken"
