"""Changes to keys, guards and adapters: who made them, what they were, how they ended."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from server.audit.changes import Change, ChangeRecorder
from server.audit.entry import Settling, verify_chain
from server.audit.table import TableSink
from server.audit.writer import AuditWriter
from server.core.turn import Caller
from server.errors import KeyNotFound, StoreUnavailable
from tests.audit.test_audit import SEAL, table

ADMIN = Caller("k1", "desk", user_id="ada", role="admin")
REVOKE = Change(ADMIN, "keys", "revoke", arguments={"key_id": "k2"}, request_id="r")


class Away(TableSink):
    def append(
        self, events: Sequence[Mapping[str, Any]], *, settling: Settling | None = None
    ) -> None:
        raise StoreUnavailable("away")


async def revoked() -> str:
    return "desk"


async def unknown() -> str:
    raise KeyNotFound("there is no key with the id 'orb_secret'")


def make(recorder: ChangeRecorder, work: Any = revoked) -> str:
    async def run() -> str:
        try:
            return await recorder.make(REVOKE, work, lambda adapter: {"adapter": adapter})
        finally:
            if recorder.trail is not None:
                await recorder.trail.close()

    return asyncio.run(run())


def test_a_change_is_written_before_it_is_made_and_after(tmp_path: Path) -> None:
    assert make(ChangeRecorder(AuditWriter(table(tmp_path)))) == "desk"
    sink = table(tmp_path)
    started, ended = (entry.event for entry in sink.entries())
    assert {k: v for k, v in ended.items() if k not in ("at", "call_id")} == {
        "request_id": "r",
        "adapter": "desk",
        "key_id": "k1",
        "user_id": "ada",
        "role": "admin",
        "intent": None,
        "template_id": "",
        "tool": "keys",
        "operation": "revoke",
        "outcome": "success",
        "reason": "",
        "duration_ms": 0.0,
        "proposed_by": "",
        "arguments": {"key_id": "k2"},
        "proposal_id": None,
        "kind": "change",
    }
    assert (started["outcome"], started["call_id"]) == ("started", ended["call_id"])
    assert verify_chain(sink, SEAL).whole
    sink.close()


def test_a_change_that_fails_is_written_without_what_was_typed(tmp_path: Path) -> None:
    with pytest.raises(KeyNotFound):
        make(ChangeRecorder(AuditWriter(table(tmp_path))), unknown)
    sink = table(tmp_path)
    ended = [entry.event for entry in sink.entries()][-1]
    assert (ended["outcome"], ended["reason"]) == ("error", KeyNotFound.code)
    sink.close()


def test_what_cannot_be_written_down_is_not_changed_where_it_must_be(tmp_path: Path) -> None:
    url, ran = f"sqlite:///{tmp_path / 'audit.db'}", []

    async def work() -> str:
        ran.append(1)
        return "desk"

    with pytest.raises(StoreUnavailable, match="changes are written down when they are made"):
        make(ChangeRecorder(AuditWriter(Away(url, SEAL)), "deny"), work)
    assert ran == []
    assert make(ChangeRecorder(AuditWriter(Away(url, SEAL)), "allow"), work) == "desk"
    assert make(ChangeRecorder(None, "deny"), work) == "desk"
