"""An adapter whose tools write down what they did, with calls that wait for a yes."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from server.access.rate_limits import RateLimits
from server.audit.table import TableSink
from server.audit.writer import AuditWriter
from server.chat.adapter import Adapter
from server.chat.pipeline import run_confirmation, run_turn
from server.conversation import outbox
from server.conversation.confirmations import pending_calls
from server.conversation.confirmations.pending_calls import CallSignature
from server.conversation.confirmations.service import ConfirmationService, Limits
from server.conversation.outbox import Commits
from server.conversation.store import ConversationStore
from server.core.coverage import Coverage, CoveredWord
from server.core.decision import Answer, Call, Decision, Match, NoMatch, ProposedAction, Trace
from server.core.tools import Source
from server.core.turn import Caller, Turn
from server.library.model import Domain, Library, Parameter, Template
from server.settings.models import AccessSettings, CommitsSettings, ConversationSettings
from server.storage.database import Database
from server.tools.executor import ToolExecutor
from server.tools.policy.chain import Guardrails, build_chain
from server.tools.registry import ToolRegistry
from tests.tools.policy.chains import ADA, ERASE, NOTE, SEAL, TEXT, Desk, template

PAY = template(
    "pay",
    (
        Parameter("amount", "number", ge=1, le=1000),
        Parameter("currency", "string", enum=("EUR", "USD"), default="EUR", required=False),
    ),
    effect="write",
    confirm=True,
    rate_limit=("1/hour",),
)
WHISPER = template(
    "whisper",
    (Parameter("secret", "string"), Parameter("text", "string", required=False)),
    operation="echo",
    confirm=True,
    sensitive_params=("secret",),
)
FAIL = template("fail", (TEXT,), effect="write", confirm=True)
LIBRARY = Library(Domain("desk"), {t.id: t for t in (NOTE, ERASE, PAY, WHISPER, FAIL)})


class ByWords:
    """Decides for the template that is named first, with the rest as its first argument."""

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        name, _, rest = turn.text.partition(" ")
        wanted = name == "wanted"
        if wanted:
            name, _, rest = rest.partition(" ")
        found = LIBRARY.templates.get(name)
        if found is None:
            return NoMatch("nothing is near")
        first = found.parameters[0]
        value: Any = float(rest) if first.type == "number" else rest
        match = Match(found.id, 0.9, 0.8, f"by its name, with {rest}")
        at = len(turn.text) - len(rest)
        end = at + len(rest.partition(", ")[0])
        words: tuple[CoveredWord, ...] = (
            CoveredWord(0, at - 1, "frame", found.id),
            CoveredWord(at, end, "value", first.name),
        )
        if end < len(turn.text):  # a remark
            words += (CoveredWord(end + 2, len(turn.text), "filler", None, "remark"),)
        source = Source("recognizer", (len(name) + 1, len(turn.text)), rest)
        call = found.call({first.name: value}, {first.name: source})
        question = f'You want to "{name}" for "{rest}". Is this correct?'
        proposed = ProposedAction(f"{name}_order", rest, question) if wanted else None
        return Call(match, call, proposed, coverage=Coverage(turn.text, words))

    async def close(self) -> None:
        return None


@dataclass
class Clock:
    at: datetime = field(default_factory=lambda: datetime(2025, 1, 31, 12, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.at


@dataclass
class Floor:
    """One server's worth of it: the adapter, and what is behind it in reach."""

    adapter: Adapter
    tool: Desk
    desk: ConfirmationService
    database: Database
    trail: AuditWriter
    sink: TableSink
    clock: Clock
    caller: Caller = ADA

    async def say(self, text: str, session: str = "s", caller: Caller | None = None) -> Answer:
        turn = self._turn(text, session, caller or self.caller)
        return await run_turn(self.adapter, turn, timeout_s=5)

    async def confirm(
        self,
        proposal_id: str,
        *,
        accept: bool = True,
        session: str = "s",
        caller: Caller | None = None,
        seal: str | None = None,
    ) -> Answer:
        turn = self._turn("yes" if accept else "no", session, caller or self.caller)
        return await run_confirmation(
            self.adapter, turn, proposal_id, accept=accept, seal=seal, timeout_s=5
        )

    async def rows(self) -> list[dict[str, Any]]:
        """What the table of proposals holds, oldest first."""
        asked = pending_calls.PROPOSALS.select().order_by(pending_calls.PROPOSALS.c.created_at)
        found = await self.database.run(lambda c: c.execute(asked).mappings().all())
        return [dict(row) for row in found]

    async def events(self) -> list[dict[str, Any]]:
        """Every commit event, oldest first."""
        asked = outbox.EVENTS.select().order_by(outbox.EVENTS.c.at)
        found = await self.database.run(lambda c: c.execute(asked).mappings().all())
        return [dict(row) for row in found]

    async def audited(self) -> list[dict[str, Any]]:
        await self.trail.flush()
        return [dict(entry.event) for entry in self.sink.entries()]

    def with_library(self, changed: Mapping[str, Template]) -> None:
        """The same, after the library was changed."""
        library = replace(LIBRARY, templates={**LIBRARY.templates, **changed})
        chain = _chain(library, self.tool, self.trail)
        self.adapter = replace(self.adapter, library=library, chain=chain)

    def _turn(self, text: str, session: str, caller: Caller) -> Turn:
        now = datetime.now(UTC)
        return Turn(uuid4().hex, text, session, caller, now, continues=True)


def held_id(answer: Answer) -> str:
    """The id of what an answer says is held."""
    found: str = answer.metadata["proposal"]["proposal_id"]
    return found


def _chain(library: Library, tool: Desk, trail: AuditWriter) -> Any:
    registry = ToolRegistry([tool])
    guardrails = Guardrails(RateLimits(), trail, AccessSettings())
    return build_chain("desk", library, registry, ToolExecutor(registry), guardrails)


@asynccontextmanager
async def floor(
    folder: Path,
    *,
    clock: Clock | None = None,
    commits: CommitsSettings | None = None,
    url: str | None = None,
    alone: bool = True,
) -> AsyncIterator[Floor]:
    """Open one on the database in `folder`, or at `url`; another one there is a restart.

    Unless `alone`, others may be open there.
    """
    clock = clock or Clock()
    url = url or f"sqlite:///{folder / 'orbit.db'}"
    tool = Desk()
    sink = TableSink(url, SEAL)
    trail = AuditWriter(sink)
    database = Database.open(url)
    desk = ConfirmationService(
        database,
        CallSignature(b"s" * 32),
        Commits(commits or CommitsSettings()),
        Limits(expires_after_s=900, most_per_key=3, longest_run_s=90),
        now=clock,
        one_process=None if alone else False,
    )
    store = ConversationStore.open(url, ConversationSettings())
    adapter = Adapter(
        name="desk",
        library=LIBRARY,
        decider=ByWords(),
        chain=_chain(LIBRARY, tool, trail),
        tool_timeout_s=5,
        conversations=store,
        proposals=desk,
    )
    try:
        yield Floor(adapter, tool, desk, database, trail, sink, clock)
    finally:
        await desk.drain()
        await store.close()
        await database.close()
        await trail.close()
        await adapter.close()
