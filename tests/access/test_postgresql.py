"""Everything that lasts, in a real PostgreSQL: the same code as on SQLite, by URL."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.audit.entry import to_row, verify_chain
from server.audit.table import ENTRIES, TableSink
from server.conversation.store import ConversationStore
from server.core.chat_messages import Message
from server.core.decision import Call, ProposalNotExecuted
from server.core.turn import NO_CONTEXT, Caller, ConversationContext
from server.errors import KeyRevoked, KeyUnknown, StoreUnavailable
from server.settings.models import ConversationSettings
from tests.audit.test_audit import EVENT, SEAL
from tests.conversation.confirmations.shopfloor import floor, held_id
from tests.support.postgresql import PASSWORD, postgresql, why_not
from tests.tools.policy import chains

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgresql() as url:
        yield url


async def test_keys_live_and_end_there(url: str, tmp_path: Path) -> None:
    store = await KeyStore.open(url, tmp_path / "secret")
    raw, record = await store.create(NewKey("agent", user_id="ada", limits=("60/minute",)))
    caller = await store.authenticate(raw)
    assert caller == Caller(record.key_id, "agent", "ada", "user", ("60/minute",))
    newer, _ = await store.rotate(record.key_id)
    await store.close()

    again = await KeyStore.open(url, tmp_path / "secret")
    with pytest.raises(KeyRevoked):
        await again.authenticate(raw)
    assert (await again.authenticate(newer)).user_id == "ada"
    with pytest.raises(KeyUnknown):
        await again.authenticate(newer + "x")
    old = next(found for found in await again.list() if found.key_id == record.key_id)
    assert old.created_at == record.created_at
    assert old.last_used_at is not None
    assert old.last_used_at - old.created_at < timedelta(minutes=1)
    await again.close()


async def test_two_servers_write_one_whole_audit_and_a_lost_entry_is_found(url: str) -> None:
    servers = [TableSink(url, SEAL) for _ in range(2)]
    events = [to_row(replace(EVENT, request_id=f"r{n}")) for n in range(8)]
    await asyncio.gather(
        *(asyncio.to_thread(sink.append, events[n : n + 4]) for sink in servers for n in (0, 4)),
        *(asyncio.to_thread(sink.append, events[:1]) for sink in servers for _ in range(6)),
    )
    kept = list(servers[0].entries())
    assert [entry.number for entry in kept] == list(range(1, 29))
    assert sorted({entry.event["request_id"] for entry in kept}) == [f"r{n}" for n in range(8)]
    assert verify_chain(servers[1], SEAL).whole
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.execute(ENTRIES.delete().where(ENTRIES.c.number == 17))
    assert (
        verify_chain(servers[1], SEAL).problems
        == (
            "between entries 16 and 18 some are missing",
            "entry 18 does not follow entry 16",
        )[:1]
    )
    with engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM audit_entries"))
        connection.execute(sa.text("DELETE FROM audit_end"))
    engine.dispose()
    for sink in servers:
        sink.close()


async def test_a_conversation_is_remembered_and_forgotten_there(url: str) -> None:
    said = ConversationContext(
        (Message("user", "מה מזג האוויר?"), Message("assistant", "Which **place**?"))
    )
    ada = Caller("ada", "sums")
    store = ConversationStore.open(url, ConversationSettings())
    await store.remember(ada, "kitchen", NO_CONTEXT)
    await store.remember(ada, "kitchen", said, at_once=True)
    await store.close()
    again = ConversationStore.open(url, ConversationSettings())
    assert await again.recall(ada, "kitchen") == said
    assert await again.recall(Caller("bob", "sums"), "kitchen") == NO_CONTEXT
    await again.forget(ada, "kitchen")
    assert await again.recall(ada, "kitchen") == NO_CONTEXT
    await again.close()


async def test_of_20_confirmations_at_once_one_runs(url: str, tmp_path: Path) -> None:
    async with floor(tmp_path, url=url) as shop:
        held = held_id(await shop.say("pay 20"))
        ended = await asyncio.gather(
            *(shop.confirm(held) for _ in range(20)), return_exceptions=True
        )
        assert shop.tool.ran == [("pay", {"amount": 20.0, "currency": "EUR"})]
        ran = [one for one in ended if not isinstance(one, BaseException)]
        assert {type(answer.decision) for answer in ran} <= {Call, ProposalNotExecuted}
        assert [row["state"] for row in await shop.rows()] == ["done"]
        assert verify_chain(shop.sink, chains.SEAL).whole


async def test_a_wrong_password_is_told_and_not_shown(url: str, tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable) as refused:
        await KeyStore.open(url.replace(PASSWORD, "wrong-one"), tmp_path / "secret")
    assert "password authentication failed" in str(refused.value)
    assert "wrong-one" not in str(refused.value)
