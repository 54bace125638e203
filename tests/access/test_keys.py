"""Keys: made once, told apart, ended for good."""

import asyncio
import hmac
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from server.access import queries
from server.access.keys import KeyStore
from server.access.models import NewKey
from server.core.turn import Caller
from server.errors import (
    AccessDenied,
    KeyExpired,
    KeyForeign,
    KeyMissing,
    KeyNotFound,
    KeyRevoked,
    KeyUnknown,
    OrbitError,
    RequestInvalid,
    StoreUnavailable,
)
from tests.access.conftest import START, Clock, OpenStore

AGENT = NewKey("agent")


async def outcome(store: KeyStore, raw: str, *, sample_allowed: bool = False) -> str:
    """The adapter that a key opens, or the name of the refusal."""
    try:
        return (await store.authenticate(raw, sample_allowed=sample_allowed)).adapter
    except OrbitError as refused:
        return type(refused).__name__


def test_a_key_opens_what_it_was_made_for(open_store: OpenStore) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            raw, record = await store.create(
                NewKey("agent", user_id="ada", role="editor", limits=("60/minute",))
            )
            caller = await store.authenticate(raw)
            assert caller == Caller(record.key_id, "agent", "ada", "editor", ("60/minute",))

    asyncio.run(scenario())


def test_a_key_outlives_the_process_that_made_it(open_store: OpenStore) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            raw, _ = await store.create(AGENT)
        async with open_store() as store:
            assert await outcome(store, raw) == "agent"

    asyncio.run(scenario())


def test_no_file_holds_a_raw_key_or_its_plain_hash(open_store: OpenStore, folder: Path) -> None:
    async def scenario() -> str:
        async with open_store() as store:
            raw, _ = await store.create(AGENT)
            await store.create_sample("agent", "a-guessable-word")
            await store.authenticate(raw)
            return raw

    secret_part = asyncio.run(scenario()).rpartition("_")[2]
    contents = b"".join(file.read_bytes() for file in folder.iterdir())
    assert secret_part.encode() not in contents
    assert b"a-guessable-word" not in contents


def test_a_key_of_another_installation_is_unknown(open_store: OpenStore, folder: Path) -> None:
    async def scenario() -> str:
        async with open_store() as store:
            raw, _ = await store.create(AGENT)
        (folder / "secret").write_text("0123456789abcdef" * 4)
        async with open_store() as store:
            return await outcome(store, raw)

    assert asyncio.run(scenario()) == "KeyUnknown"


def test_a_right_id_with_a_wrong_secret_is_unknown(open_store: OpenStore) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            raw, _ = await store.create(AGENT)
            forged = raw[:-1] + ("a" if raw[-1] != "a" else "b")
            with pytest.raises(KeyUnknown, match=r"^this key was never issued here"):
                await store.authenticate(forged)
            assert await outcome(store, raw) == "agent"

    asyncio.run(scenario())


def test_digests_are_compared_in_constant_time_even_when_there_is_no_record(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []

    def compare(stored: bytes, presented: bytes) -> bool:
        compared.append(len(stored))
        return hmac.compare_digest(stored, presented)

    class Spy:
        compare_digest = staticmethod(compare)

    monkeypatch.setattr(queries, "hmac", Spy)

    async def scenario() -> None:
        async with open_store() as store:
            raw, _ = await store.create(AGENT)
            assert await outcome(store, raw) == "agent"
            assert await outcome(store, "orb_000000000000_" + "x" * 43) == "KeyUnknown"

    asyncio.run(scenario())
    assert compared == [32, 32]


def test_a_key_expires_on_the_second(open_store: OpenStore, clock: Clock) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            raw, record = await store.create(NewKey("agent", expires_in=timedelta(days=30)))
            assert record.expires_at == START + timedelta(days=30)
            clock.move(timedelta(days=30) - timedelta(seconds=1))
            assert await outcome(store, raw) == "agent"
            clock.move(timedelta(seconds=1))
            assert await outcome(store, raw) == "KeyExpired"
            with pytest.raises(KeyExpired, match=f"^key {record.key_id} has expired$"):
                await store.authenticate(raw)

    asyncio.run(scenario())


def test_a_revoke_is_effective_at_once_and_for_good(open_store: OpenStore, clock: Clock) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            raw, record = await store.create(AGENT)
            assert await outcome(store, raw) == "agent"
            first = await store.revoke(record.key_id)
            with pytest.raises(KeyRevoked, match=f"^key {record.key_id} was revoked$"):
                await store.authenticate(raw)
            clock.move(timedelta(hours=1))
            assert await store.revoke(record.key_id) == first
            assert first.revoked_at == START

    asyncio.run(scenario())


def test_another_process_notices_a_revoke_within_two_seconds(
    open_store: OpenStore, clock: Clock
) -> None:
    async def scenario() -> list[str]:
        async with open_store() as serving, open_store() as command_line:
            raw, record = await command_line.create(AGENT)
            seen = [await outcome(serving, raw)]
            await command_line.revoke(record.key_id)
            seen.append(await outcome(serving, raw))
            clock.move(timedelta(seconds=2))
            return [*seen, await outcome(serving, raw)]

    assert asyncio.run(scenario()) == ["agent", "agent", "KeyRevoked"]


def test_a_remembered_key_costs_no_sql(open_store: OpenStore, folder: Path) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            raw, _ = await store.create(AGENT)
            await store.authenticate(raw)
            with sqlite3.connect(folder / "orbit.db") as behind_its_back:
                behind_its_back.execute("DELETE FROM api_keys")
            behind_its_back.close()
            assert await outcome(store, raw) == "agent"

    asyncio.run(scenario())


def test_ids_that_do_not_exist_are_named(open_store: OpenStore) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            with pytest.raises(KeyNotFound, match=r"^there is no key with the id 'nobody'$"):
                await store.revoke("nobody")
            with pytest.raises(KeyNotFound, match=r"^there is no key with the id 'nobody'$"):
                await store.rotate("nobody")

    asyncio.run(scenario())


def test_the_list_is_complete_and_oldest_first(open_store: OpenStore, clock: Clock) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            assert await store.list() == ()
            _, first = await store.create(AGENT)
            clock.move(timedelta(seconds=1))
            _, second = await store.create(NewKey("weather", label="for the kiosk"))
            gone = await store.revoke(first.key_id)
            assert await store.list() == (gone, second)

    asyncio.run(scenario())


def test_last_uses_are_written_when_the_store_closes(open_store: OpenStore, clock: Clock) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            raw, _ = await store.create(AGENT)
            clock.move(timedelta(minutes=1))
            await store.authenticate(raw)
        async with open_store() as store:
            (record,) = await store.list()
            assert record.last_used_at == START + timedelta(minutes=1)

    asyncio.run(scenario())


def test_no_key_is_a_refusal_of_its_own(open_store: OpenStore) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            with pytest.raises(KeyMissing):
                await store.authenticate("")

    asyncio.run(scenario())


@given(raw=st.text(min_size=1) | st.binary(min_size=1).map(lambda b: b.decode("latin-1")))
def test_whatever_comes_as_a_key_is_refused_by_name(
    shared_store_loop: "asyncio.Runner", shared_store: KeyStore, raw: str
) -> None:
    with pytest.raises(AccessDenied):
        shared_store_loop.run(shared_store.authenticate(raw, sample_allowed=True))


@pytest.mark.parametrize(
    "raw",
    [
        "\x00",
        "orb_",
        "orb__",
        "\ud800",
        "orb_000000000000_" + "é" * 43,
        "x" * 10_000_000,
        "' OR 1=1",
    ],
    ids=["nul", "prefix", "empty parts", "lone surrogate", "not ascii", "ten megabytes", "sql"],
)
def test_hostile_keys_are_unknown(open_store: OpenStore, raw: str) -> None:
    async def scenario() -> str:
        async with open_store() as store:
            return await outcome(store, raw, sample_allowed=True)

    assert asyncio.run(scenario()) == "KeyUnknown"


def test_a_store_that_cannot_be_used_says_which_and_why(tmp_path: Path) -> None:
    not_a_database = tmp_path / "orbit.db"
    not_a_database.write_bytes(b"this is no database, and long enough to be noticed" * 40)

    async def opened(url: str) -> None:
        await KeyStore.open(url, tmp_path / "secret")

    with pytest.raises(StoreUnavailable, match=r"orbit\.db cannot be used: file is not a database"):
        asyncio.run(opened(f"sqlite:///{not_a_database}"))
    with pytest.raises(StoreUnavailable, match="database URL of the key store is malformed"):
        asyncio.run(opened("not a url"))
    with pytest.raises(StoreUnavailable, match="driver that is not installed") as refused:
        asyncio.run(opened("postgresql+nosuchdriver://me:hunter2@db/orbit"))
    assert "hunter2" not in str(refused.value)


def test_whoever_presents_a_key_is_not_told_where_the_keys_are(
    open_store: OpenStore, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            raw, _ = await store.create(AGENT)
            behind_its_back = sqlite3.connect(folder / "orbit.db")
            behind_its_back.execute("DROP TABLE api_keys")
            behind_its_back.close()
            with pytest.raises(StoreUnavailable, match=r"^keys cannot be checked at the moment$"):
                await store.authenticate(raw)

    asyncio.run(scenario())
    (message,) = caplog.messages
    assert message.endswith("orbit.db cannot be used: no such table: api_keys")


def test_a_sample_key_works_where_samples_are_allowed_and_nowhere_else(
    open_store: OpenStore,
) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            record = await store.create_sample("intent-agent-example", "agent")
            assert record.sample
            assert await outcome(store, "agent", sample_allowed=True) == "intent-agent-example"
            with pytest.raises(KeyForeign, match=r"^this is a sample key, which works only"):
                await store.authenticate("agent")

    asyncio.run(scenario())


def test_making_a_sample_key_again_revives_it_and_keeps_one_record(
    open_store: OpenStore,
) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            record = await store.create_sample("intent-agent-example", "agent")
            await store.revoke(record.key_id)
            assert await outcome(store, "agent", sample_allowed=True) == "KeyRevoked"
            again = await store.create_sample("intent-agent-example", "agent")
            assert await store.list() == (again,)
            assert await outcome(store, "agent", sample_allowed=True) == "intent-agent-example"

    asyncio.run(scenario())


def test_a_sample_key_never_changes_adapter_unasked(open_store: OpenStore) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            record = await store.create_sample("intent-agent-example", "agent")
            with pytest.raises(RequestInvalid, match=f"revoke {record.key_id}, or make"):
                await store.create_sample("agent", "agent")
            assert await outcome(store, "agent", sample_allowed=True) == "intent-agent-example"

    asyncio.run(scenario())


@pytest.mark.parametrize("raw", ["", "orb_000000000000_" + "x" * 43, "x" * 257])
def test_a_sample_key_cannot_pose_as_an_issued_one(open_store: OpenStore, raw: str) -> None:
    async def scenario() -> None:
        async with open_store() as store:
            with pytest.raises(RequestInvalid):
                await store.create_sample("agent", raw)

    asyncio.run(scenario())


def test_of_many_requests_at_once_with_one_key_one_reads_it(open_store: OpenStore) -> None:
    read: list[str] = []

    def note(*arguments: Any) -> None:
        if arguments[2].startswith("SELECT"):
            read.append(arguments[2])

    async def scenario() -> list[str]:
        async with open_store() as store:
            raw, _ = await store.create(AGENT)
            sa.event.listen(sa.Engine, "before_cursor_execute", note)
            try:
                return await asyncio.gather(*(outcome(store, raw) for _ in range(200)))
            finally:
                sa.event.remove(sa.Engine, "before_cursor_execute", note)

    assert asyncio.run(scenario()) == ["agent"] * 200
    assert len(read) == 1


def test_who_leaves_while_a_key_is_read_takes_it_from_nobody(open_store: OpenStore) -> None:
    async def scenario() -> list[str | BaseException]:
        async with open_store() as store:
            raw, _ = await store.create(AGENT)
            asking = [asyncio.create_task(outcome(store, raw)) for _ in range(3)]
            await asyncio.sleep(0)
            asking[0].cancel()
            return await asyncio.gather(*asking, return_exceptions=True)

    left, *others = asyncio.run(scenario())
    assert (type(left), others) == (asyncio.CancelledError, ["agent", "agent"])
