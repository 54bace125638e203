"""Rotating: the new key opens the same, and the old one ends when it should."""

import asyncio
from datetime import timedelta

import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.core.turn import Caller
from server.errors import KeyUnchangeable, OrbitError
from tests.access.conftest import START, Clock, OpenStore

DAY = timedelta(days=1)


async def works(store: KeyStore, raw: str) -> bool:
    try:
        await store.authenticate(raw)
    except OrbitError:
        return False
    return True


def test_a_rotated_key_is_replaced_at_once(open_store: OpenStore) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            old, record = await store.create(
                NewKey("agent", user_id="ada", role="editor", limits=("9/hour",), label="kiosk")
            )
            new, fresh = await store.rotate(record.key_id)
            assert not await works(store, old)
            assert await store.authenticate(new) == Caller(
                fresh.key_id, "agent", "ada", "editor", ("9/hour",)
            )
            assert (fresh.label, fresh.key_id != record.key_id) == ("kiosk", True)

    asyncio.run(scenario())


def test_with_grace_both_work_for_a_while(open_store: OpenStore, clock: Clock) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            old, record = await store.create(NewKey("agent"))
            new, _ = await store.rotate(record.key_id, grace=timedelta(hours=1))
            assert (await works(store, old), await works(store, new)) == (True, True)
            clock.move(timedelta(hours=1))
            assert (await works(store, old), await works(store, new)) == (False, True)

    asyncio.run(scenario())


def test_grace_never_outlasts_the_old_keys_own_expiry(open_store: OpenStore, clock: Clock) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            old, record = await store.create(NewKey("agent", expires_in=DAY))
            await store.rotate(record.key_id, grace=30 * DAY)
            clock.move(DAY)
            assert not await works(store, old)

    asyncio.run(scenario())


def test_the_new_key_is_given_as_long_a_life(open_store: OpenStore, clock: Clock) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            _, record = await store.create(NewKey("agent", expires_in=30 * DAY))
            clock.move(10 * DAY)
            _, fresh = await store.rotate(record.key_id)
            assert fresh.expires_at == START + 40 * DAY

    asyncio.run(scenario())


def test_of_two_rotations_at_once_one_wins(open_store: OpenStore) -> None:
    async def scenario() -> list[str]:
        async with open_store() as store, open_store() as other:
            _, record = await store.create(NewKey("agent"))
            results = await asyncio.gather(
                *(s.rotate(record.key_id) for s in (store, other) for _ in range(4)),
                return_exceptions=True,
            )
            assert len(await store.list()) == 2
            return sorted(type(result).__name__ for result in results)

    assert asyncio.run(scenario()) == ["KeyUnchangeable"] * 7 + ["tuple"]


def test_what_cannot_be_rotated_says_why(open_store: OpenStore) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            _, revoked = await store.create(NewKey("agent"))
            await store.revoke(revoked.key_id)
            with pytest.raises(KeyUnchangeable, match=r"is revoked: make a new one instead$"):
                await store.rotate(revoked.key_id)
            sample = await store.create_sample("agent", "word")
            with pytest.raises(KeyUnchangeable, match="is a sample key"):
                await store.rotate(sample.key_id)
            (kept,) = [r for r in await store.list() if r.sample]
            assert kept == sample

    asyncio.run(scenario())
