"""Calls that wait for a confirmation, each of which runs once at most."""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any, Final, Literal, NamedTuple, TypeVar

import sqlalchemy as sa

from server.conversation.confirmations import pending_calls
from server.conversation.confirmations.pending_calls import (
    PROPOSALS,
    CallSignature,
    PendingCall,
    State,
)
from server.conversation.outbox import Commits
from server.conversation.store import ConversationKey, conversation_key
from server.core.turn import Caller
from server.errors import (
    ProposalAltered,
    ProposalExpired,
    ProposalSettled,
    ProposalUnknown,
    StoreUnavailable,
)
from server.storage.database import BATCH_TIMEOUT_S, Database, utc_now
from server.storage.write_behind import WriteBehind

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

FinalState = Literal["done", "refused", "held", "interrupted"]

_RAN: Final = ("done", "interrupted")
_WRITE_AGAIN_S: Final = 0.2

_KEPT_FOR: Final = timedelta(days=1)
"""How long the end of a proposal is remembered, without its arguments."""

_SETTLED: Final[dict[State, str]] = {
    "taken": "this is being carried out already",
    "running": "this is being carried out already",
    "done": "this was confirmed and carried out before; it runs once",
    "refused": "this was confirmed before, and was not allowed any more",
    "declined": "this was declined before",
    "replaced": "something else was proposed since in this conversation; ask for this again",
    "interrupted": (
        "the server was stopped while this was running, so it is unknown whether it was done; "
        "it is not run again"
    ),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How long calls wait, how many calls of one key wait, and how long one may run."""

    expires_after_s: float
    most_per_key: int
    longest_run_s: float


class _Claimed(NamedTuple):
    """A call as one request has it: what that one gives back, another may have claimed since."""

    proposal_id: str
    claim: str


class _End(NamedTuple):
    """How a claimed call ended, and the states that it may have had until then."""

    before: tuple[State, ...]
    how: FinalState
    outcome: str


class ConfirmationService:
    """Calls that wait for a confirmation, in the database of keys.

    held → taken → running → done. Every arrow is one update that finds its row in the state
    before it, so that of many who confirm at once one does. `running` begins in the same
    transaction as the commit event is written; before it nothing has run.
    """

    def __init__(
        self,
        database: Database,
        seal: CallSignature,
        commits: Commits,
        limits: Limits,
        *,
        now: Callable[[], datetime] = utc_now,
        one_process: bool | None = None,
    ) -> None:
        """`one_process` says that no other uses them; unsaid, that is so on SQLite."""
        self._database = database
        self._one_process = database.is_sqlite if one_process is None else one_process
        self._seal = seal
        self._commits = commits
        self._limits = limits
        self._now = now
        self.owner = token_hex(8)
        """What marks the calls of this server."""
        self._under_way: set[asyncio.Task[Any]] = set()
        self._ends = WriteBehind[_Claimed, _End](
            self._write_ends, what="ends of confirmed calls", every_s=_WRITE_AGAIN_S
        )

    async def hold(self, call: PendingCall) -> PendingCall:
        """Keep a call until it is confirmed, with its times and its seal.

        It replaces the one that waited in its conversation: one call at a time waits.

        Raises:
            StoreUnavailable: it could not be kept.
        """
        now = self._now()
        ends = now + timedelta(seconds=self._limits.expires_after_s)
        unsealed = replace(call, created_at=now, expires_at=ends)
        held = replace(unsealed, seal=self._seal.of(unsealed))

        def work(connection: sa.Connection) -> None:
            pending_calls.replace_waiting(connection, held.place, now)
            pending_calls.insert_proposal(connection, held)
            pending_calls.keep_latest(connection, held.place.key_id, self._limits.most_per_key, now)

        await self._database.run(work)
        return held

    async def get(self, caller: Caller, session_id: str, proposal_id: str) -> PendingCall:
        """Return a call that still waits.

        Raises:
            ProposalUnknown, ProposalSettled, ProposalExpired, ProposalAltered.
            StoreUnavailable: the database cannot be read.
        """
        place = conversation_key(caller, session_id)
        return await self._database.run(lambda c: self._waiting_call(c, place, proposal_id))

    async def is_under_way(self, caller: Caller, session_id: str, proposal_id: str) -> bool:
        """Whether a call was confirmed, and has not ended.

        Raises:
            StoreUnavailable: the database cannot be read.
        """
        place = conversation_key(caller, session_id)
        row = await self._database.run(lambda c: pending_calls.find(c, place, proposal_id))
        return row is not None and row["state"] in ("taken", "running")

    async def waiting(self, most: int) -> list[PendingCall]:
        """Return the calls of everybody that wait, newest first.

        Raises:
            StoreUnavailable: the database cannot be read.
        """
        now = self._now()
        return await self._database.run(lambda c: pending_calls.waiting(c, now, most))

    async def claim(
        self, caller: Caller, session_id: str, proposal_id: str, *, seal: str | None = None
    ) -> PendingCall:
        """Claim a call to run it; of several requests at once, one gets it.

        `seal` is that of what the person was shown, where the client sends it.

        Raises:
            ProposalUnknown: this conversation has none of that id.
            ProposalSettled: it was confirmed or declined before; the message says which.
            ProposalExpired: it was confirmed too late.
            ProposalAltered: its seal does not hold, or is not the one that was shown.
            StoreUnavailable: the database cannot be used.
        """
        place, now = conversation_key(caller, session_id), self._now()
        claim = token_hex(8)

        def work(connection: sa.Connection) -> PendingCall:
            # The update comes first: on every database it is what decides.
            taken = pending_calls.take(connection, place, proposal_id, self.owner, claim, now)
            held = self._waiting_call(connection, place, proposal_id, taken=taken)
            if seal is not None and seal != held.seal:
                raise ProposalAltered("this is not what was shown: the seal is another")
            return replace(held, claim=claim)

        try:
            return await self._database.run(work)
        except StoreUnavailable:
            # A transaction that was late may have been made: whoever says yes again shall be heard.
            mine = _Claimed(proposal_id, claim)
            self._ends.note(mine, _End(("taken",), "held", "failed"))
            raise

    async def decline(self, caller: Caller, session_id: str, proposal_id: str) -> None:
        """Decline a call that waits.

        Raises:
            ProposalUnknown, ProposalSettled, ProposalExpired, StoreUnavailable: as `claim`.
        """
        place, now = conversation_key(caller, session_id), self._now()

        def work(connection: sa.Connection) -> None:
            if not pending_calls.decline(connection, place, now, proposal_id):
                raise _not_waiting(pending_calls.find(connection, place, proposal_id), now)

        await self._database.run(work)

    async def forget(self, caller: Caller, session_id: str) -> None:
        place, now = conversation_key(caller, session_id), self._now()
        await self._database.run(lambda c: pending_calls.decline(c, place, now))

    async def commit(self, held: PendingCall) -> None:
        """Write in one transaction that a claimed call is about to run, and its commit event.

        Raises:
            ProposalSettled: another request has it, or has ended it.
            StoreUnavailable: it could not be written, or waits for a confirmation again, as this
                server was taken for gone; the call must not run.
        """
        now = self._now()
        event = self._commits.event(held.intent, held.target, held.place.session_id, now)

        def work(connection: sa.Connection) -> None:
            if not self._move(connection, _claimed(held), ("taken",), "running"):
                row = pending_calls.find(connection, held.place, held.proposal_id)
                if row is not None and row["state"] == "held":
                    raise StoreUnavailable("this was let go of before it ran; confirm it again")
                raise _not_waiting(row, now)
            self._commits.write(connection, event)

        await self._database.run(work)
        self._commits.written(event)

    async def finish(
        self,
        held: PendingCall,
        how: FinalState,
        outcome: str,
    ) -> None:
        """Write how a claimed call ended; `held` when nothing ran and it may be confirmed later.

        While the database is away it waits to be written: what was done is done.
        """
        # Of a commit that was late nobody knows whether it was written.
        before: tuple[State, ...] = ("running",) if how in _RAN else ("taken", "running")
        end = _End(before, how, outcome)
        try:
            await self._write_ends({_claimed(held): end})
        except StoreUnavailable as failure:
            _log.warning("how proposal %s ended is written later: %s", held.proposal_id, failure)
            self._ends.note(_claimed(held), end)

    async def _write_ends(self, ends: Mapping[_Claimed, _End]) -> None:
        def work(connection: sa.Connection) -> None:
            for mine, end in ends.items():
                self._move(connection, mine, *end)

        await self._database.run(work)

    async def to_its_end(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run `work` to its end, even if whoever waits for it is cancelled."""
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    async def recover(self, gone: Collection[str] = ()) -> None:
        """Recover the calls of servers that were ended.

        Where one process at a time uses them, everything is left that is not its own; elsewhere
        what the owners in `gone` had, and what has been under way for longer than anything may
        take.
        """
        now = self._now()
        left: sa.ColumnElement[bool] = PROPOSALS.c.owner != self.owner
        if not self._one_process:
            late = PROPOSALS.c.state_at < now - timedelta(seconds=self._limits.longest_run_s)
            left = sa.or_(late, PROPOSALS.c.owner.in_(gone))
        running = await self._database.run(
            lambda c: pending_calls.recover(c, left, now), timeout_s=BATCH_TIMEOUT_S
        )
        if running:
            _log.warning(
                "%d confirmed calls were under way when a server was ended: whether they were "
                "done is not known, and they are not run again",
                running,
            )

    async def tidy(self) -> None:
        """End what has expired, and delete what ended long ago."""
        if not self._one_process:
            await self.recover()
        now = self._now()

        def work(connection: sa.Connection) -> None:
            pending_calls.expire(connection, now)
            pending_calls.delete_proposals_before(connection, now - _KEPT_FOR)

        await self._database.run(work, timeout_s=BATCH_TIMEOUT_S)

    async def drain(self) -> None:
        """Wait for calls that run, and write how they ended."""
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self._ends.close()

    def _move(
        self,
        connection: sa.Connection,
        mine: _Claimed,
        before: tuple[State, ...],
        after: State,
        outcome: str = "",
    ) -> bool:
        return pending_calls.move(connection, *mine, before, after, self._now(), outcome)

    def _waiting_call(
        self,
        connection: sa.Connection,
        place: ConversationKey,
        proposal_id: str,
        *,
        taken: bool = False,
    ) -> PendingCall:
        row, now = pending_calls.find(connection, place, proposal_id), self._now()
        waits = row is not None and row["state"] == "held" and row["expires_at"] > now
        if row is None or not (taken or waits):
            raise _not_waiting(row, now)
        try:
            held = pending_calls.to_pending_call(row)
        except ValueError as broken:
            raise ProposalAltered("this was altered since it was shown") from broken
        if not self._seal.holds(held):
            _log.error("proposal %s: the seal does not hold", proposal_id)
            raise ProposalAltered("this was altered since it was shown")
        return held


def _claimed(held: PendingCall) -> _Claimed:
    return _Claimed(held.proposal_id, held.claim)


def _not_waiting(
    row: pending_calls.Row | None, now: datetime
) -> ProposalUnknown | ProposalExpired | ProposalSettled:
    if row is None:
        return ProposalUnknown("this conversation has no proposal of that id")
    state = row["state"]
    if state == "expired" or (state == "held" and row["expires_at"] <= now):
        return ProposalExpired("this confirmation has expired; ask for it again")
    return ProposalSettled(_SETTLED.get(state, "this was confirmed elsewhere"))
