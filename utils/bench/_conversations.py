"""Conversations with the adapters that ship, each between a person of its own and the server."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import uuid4

from server.chat.adapter import Adapter
from server.chat.pipeline import run_turn
from server.core.decision import (
    Answer,
    Call,
    PendingConfirmation,
    ProposalNotExecuted,
    SeveralEndings,
)
from server.core.turn import Caller, Turn
from server.library.model import Template
from utils.bench._turns import ROOT, open_with_services

SHIPPED: Final = ROOT / "config" / "config.yaml"
HELP_DESK: Final = ROOT / "examples" / "guards" / "litecoin" / "config.yaml"
_ROLE: Final = "premium"
_TIMEOUT_S: Final = 60.0


@asynccontextmanager
async def open_shipped(config: Path, name: str, data: Path) -> AsyncIterator[Adapter]:
    """Open an adapter, switched on or not, that keeps conversations; what it writes is in `data`.

    Its services are the stand-ins, which begin anew each time.
    """
    async with open_with_services(config, name, data, remembers=True) as (adapter, _):
        yield adapter


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one person says to an adapter: limits of a person or key concern nobody else."""

    adapter: Adapter
    id: str = field(default_factory=lambda: uuid4().hex)

    async def say(self, text: str) -> Answer:
        caller = Caller(f"key-{self.id}", self.adapter.name, f"user-{self.id}", _ROLE)
        now = datetime.now(UTC)
        turn = Turn(uuid4().hex, text, self.id, caller, now, continues=True)
        return await run_turn(self.adapter, turn, timeout_s=_TIMEOUT_S)


def has_run(answer: Answer) -> bool:
    """Return whether a call was made or refused; one that only lacks a yes was neither."""
    told = answer.metadata.get("calls") or [answer.metadata]
    return any(
        "tool_execution" in one and one.get("policy", {}).get("outcome") != "confirmation_required"
        for one in told
    )


def waiting_in(answer: Answer) -> PendingConfirmation | None:
    """What waits for a yes once this was answered."""
    match answer.decision:
        case PendingConfirmation() as held:
            return held
        case ProposalNotExecuted(held=held):
            return held
        case SeveralEndings() as several:
            return several.waits
    return None


def asked_of(adapter: Adapter, answer: Answer) -> Iterator[Template]:
    """The templates of all calls that were made, tried or proposed."""
    ending = answer.decision
    for part in ending.parts if isinstance(ending, SeveralEndings) else [ending]:
        if isinstance(part, Call | PendingConfirmation):
            yield adapter.library.templates[part.match.template_id]
