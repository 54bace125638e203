"""One text that no database takes costs nobody else their conversation."""

import asyncio
import itertools
import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from server.access.queries import KEYS
from server.audit.entry import AuditSeal, Event, verify_chain
from server.audit.table import ENTRIES, TableSink
from server.audit.writer import AuditWriter
from server.conversation.confirmations.pending_calls import PROPOSALS
from server.conversation.outbox import EVENTS
from server.conversation.store import CONVERSATIONS, ConversationStore
from server.core.chat_messages import Message
from server.core.storable import storable_data
from server.core.turn import Caller, CompletedCall, ConversationContext
from server.errors import StoreUnavailable, ValueRefused
from server.guards.store import CHANGES, COUNTS, DECISIONS
from server.metrics.metrics import Metrics
from server.settings.models import ConversationSettings
from server.storage.database import UtcTime, open_database, open_engine
from server.storage.write_behind import WriteBehind
from tests.support.postgresql import postgresql, why_not

pytestmark = pytest.mark.slow

POISONS = {
    "half a character": "a\ud800b",
    "halves in the wrong order": "\udc00\ud800",
    "two halves": "\ud83d\ude00",
    "bytes of a terminal": "caf\udce9",
    "NUL": "a\x00b",
    "no character": "\ufffe\uffff",
    "marks of direction": "\u202e\u2066\u200f",
    "many accents": "e" + "\u0301" * 2000,
    "SQL": "'); DROP TABLE conversations; --",
    "control characters": "".join(map(chr, range(1, 32))),
}
TABLES = (CONVERSATIONS, PROPOSALS, EVENTS, CHANGES, COUNTS, DECISIONS, ENTRIES, KEYS)
COLUMNS = [
    (table, column.name)
    for table in TABLES
    for column in table.c
    if isinstance(column.type, sa.String | sa.JSON)
]
ADA = Caller("ada", "sums")
SAID = ConversationContext((Message("user", "hello"),))
EVENT = Event(
    datetime(2025, 1, 1, tzinfo=UTC),
    *("r", "sums", "k", "u", "user", None, "t", "calculator", "add", "success"),
)
TEXTS_OF_EVENT = ("user_id", "intent", "reason", "operation", "proposal_id", "request_id")
LONGEST_USER = 255  # what the table of the audit has room for, and PostgreSQL counts


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgresql() as started:
        yield started


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database: a file, or a schema of its own."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'orbit.db'}"
    if why_not() is not None:
        pytest.skip(str(why_not()))
    server: str = request.getfixturevalue("server")
    schema = f"s{next(_schemas)}"
    engine = open_engine(server)
    with engine.begin() as connection:
        connection.execute(sa.schema.CreateSchema(schema))
    engine.dispose()
    return f"{server}?options=-csearch_path%3D{schema}"


_schemas = itertools.count()


def row_of(table: sa.Table) -> dict[str, Any]:
    values: dict[type, Any] = {
        str: "x", int: 1, float: 1.0, bytes: b"x", dict: {}, object: {}, bool: True,
        datetime: datetime(2025, 1, 1, tzinfo=UTC),
    }  # fmt: skip
    kinds = {
        column.name: datetime if isinstance(column.type, UtcTime) else column.type.python_type
        for column in table.c
    }
    return {name: values[kind] for name, kind in kinds.items()}


@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=lambda each: getattr(each, "name", each))
def test_every_column_takes_every_text(table: sa.Table, column: str, url: str) -> None:
    """Every one that is not too long for it: PostgreSQL counts."""
    engine = open_database(url)
    for poison in POISONS.values():
        poison = poison[: getattr(table.c[column].type, "length", None)]
        value = {"said": poison} if isinstance(table.c[column].type, sa.JSON) else poison
        with engine.begin() as connection:
            connection.execute(table.delete())
            connection.execute(table.insert(), row_of(table) | {column: value})
            if isinstance(value, str):
                found = connection.execute(sa.select(table).where(table.c[column] == value))
                stored = found.mappings().one()[column]
                assert stored == storable_data(value)
                stored.encode()
    engine.dispose()


async def _remember(url: str, contexts: Mapping[str, ConversationContext]) -> Metrics:
    metrics = Metrics()
    kept = ConversationStore.open(url, ConversationSettings(), metrics=metrics)
    for session, context in contexts.items():
        await kept.remember(ADA, session, context)
    await kept.close()
    return metrics


async def _recalled(url: str, *sessions: str) -> list[ConversationContext]:
    kept = ConversationStore.open(url, ConversationSettings())
    found = [await kept.recall(ADA, session) for session in sessions]
    await kept.close()
    return found


@pytest.mark.parametrize("poison", POISONS.values(), ids=POISONS)
def test_a_conversation_with_any_text_is_remembered(poison: str, url: str) -> None:
    done = CompletedCall("t", {"a": poison}, ({"b": poison},), poison, poison)
    said = ConversationContext((Message("user", poison),), done=(done,))
    asyncio.run(_remember(url, {"a": SAID, "poisoned": said, "z": SAID}))
    first, poisoned, last = asyncio.run(_recalled(url, "a", "poisoned", "z"))
    assert (first, last) == (SAID, SAID)
    [message] = poisoned.messages
    assert storable_data(message.content) == storable_data(poison)
    message.content.encode()


def test_what_cannot_be_written_is_lost_alone_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"sqlite:///{tmp_path / 'orbit.db'}"  # others are written before the answer
    loop: dict[str, Any] = {}
    loop["in"] = loop
    broken = replace(SAID, done=(CompletedCall("t", loop),))
    metrics = asyncio.run(_remember(url, {"a": SAID, "broken": broken, "z": SAID}))
    first, lost, last = asyncio.run(_recalled(url, "a", "broken", "z"))
    assert (first, lost, last) == (SAID, ConversationContext(), SAID)
    assert "one of the conversations cannot be written, and is lost" in caplog.text
    assert b'orbit_values_lost_total{what="conversations"} 1.0' in metrics.text()


@pytest.mark.parametrize(
    ("failure", "kept"),
    [(StoreUnavailable("away"), [1, 2, 3]), (ValueRefused("no"), []), (TypeError("odd"), [])],
)
def test_a_database_that_is_away_loses_nothing(failure: Exception, kept: list[int]) -> None:
    """Of 1, 2 and 3 the second fails; `kept` is what is tried again."""
    written: list[int] = []

    async def write(batch: Mapping[int, str]) -> None:
        if 2 in batch:
            raise failure
        written.extend(batch)

    async def go() -> list[int]:
        behind = WriteBehind[int, str](write, what="values", every_s=60)
        for key in (1, 2, 3):
            behind.note(key, "x")
        await behind.flush()
        left = [key for key in (1, 2, 3) if behind.get(key) is not None]
        behind._waiting.clear()
        await behind.close()
        return left

    assert asyncio.run(go()) == kept
    assert written == ([] if kept else [1, 3])


@pytest.mark.parametrize("poison", POISONS.values(), ids=POISONS)
def test_the_audit_takes_every_text_and_stays_whole(poison: str, url: str) -> None:
    seal = AuditSeal(b"s" * 32)
    sink = TableSink(url, seal)

    async def go() -> None:
        writer = AuditWriter(sink)
        writer.note(EVENT)
        texts: dict[str, Any] = dict.fromkeys(TEXTS_OF_EVENT, poison[:LONGEST_USER])
        writer.note(replace(EVENT, arguments={poison: [poison]}, **texts))
        writer.note(EVENT)
        await writer.flush()

    asyncio.run(go())
    assert verify_chain(sink, seal).problems == ()
    assert len([*sink.entries()]) == 3
    sink.close()


def test_an_event_that_is_refused_is_lost_alone(url: str, caplog: pytest.LogCaptureFixture) -> None:
    sink = TableSink(url, AuditSeal(b"s" * 32))
    metrics = Metrics()

    async def go() -> None:
        writer = AuditWriter(sink, metrics)
        for event in (EVENT, replace(EVENT, template_id=object()), EVENT):  # type: ignore[arg-type]
            writer.note(event)
        await writer.flush()

    with caplog.at_level(logging.ERROR):
        asyncio.run(go())
    assert len([*sink.entries()]) == 2
    assert "one of the audit events cannot be written" in caplog.text
    assert b'orbit_values_lost_total{what="audit events"} 1.0' in metrics.text()
    sink.close()
