"""A model that proposes passes through the very same chain."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from server.access.limits import RateLimits
from server.chat.adapter import Adapter
from server.chat.proposals import ModelProposal, answer_proposed
from server.core.answer import Answer
from server.core.intent import Intent
from server.core.tools import ToolDefinition
from server.core.trace import Trace
from server.core.turn import Caller, Turn
from server.intents.result import Detection
from server.library.model import CallPolicy, Library
from server.tools.executor import ToolExecutor
from server.tools.policy.assembly import Guardrails, build_chain
from server.tools.registry import ToolRegistry
from tests.support.deciding import DIVIDE, LIBRARY, PERCENTAGE, table_adapter

RESTRICTED = replace(DIVIDE, policy=CallPolicy(allowed_roles=("admin",)))
BOTH = Library(LIBRARY.domain, {t.id: t for t in (PERCENTAGE, RESTRICTED)})


@dataclass
class Scripted:
    """Proposes what the script says, whatever is asked."""

    proposal: ModelProposal | None

    async def propose(
        self, text: str, functions: tuple[ToolDefinition, ...]
    ) -> ModelProposal | None:
        return self.proposal


def adapter(**more: Any) -> Adapter:
    registry = ToolRegistry.build()
    guardrails = Guardrails(RateLimits())
    chain = build_chain("a", BOTH, registry, ToolExecutor(registry), guardrails, **more)
    return replace(table_adapter(library=BOTH), chain=chain)


def ask(on: Adapter, function: str | None, arguments: Mapping[str, Any]) -> Answer:
    turn = Turn("r", "whatever", "s", Caller("k", "a", "ana"), datetime.now(UTC))
    proposal = None if function is None else ModelProposal(function, arguments)
    return asyncio.run(answer_proposed(on, turn, Scripted(proposal), Trace()))


def test_a_good_proposal_runs() -> None:
    answer = ask(adapter(), "calculate_percentage", {"value": 200, "percentage": 15})
    assert answer.content == "15% of 200 is **30**"
    assert answer.metadata["arguments"]["value"] == {"kind": "model"}


@pytest.mark.parametrize(
    ("function", "arguments", "outcome"),
    [
        ("divide", {"a": 1, "b": 2}, "role_forbids"),
        ("calculate_percentage", {"value": "200", "percentage": 15}, "arguments_invalid"),
        ("calculate_percentage", {"value": 200}, "arguments_invalid"),
        ("calculate_percentage", {"value": 1, "percentage": 1, "role": "admin"},
         "arguments_invalid"),
    ],
)  # fmt: skip
def test_a_proposal_is_refused_as_any_call(
    function: str, arguments: dict[str, Any], outcome: str
) -> None:
    assert ask(adapter(), function, arguments).metadata["policy"] == {"outcome": outcome}


async def chatting(text: str, now: datetime) -> Detection:
    return Detection(Intent("CHAT", 1, "default"), {})


def test_the_intent_is_the_servers_and_not_the_models() -> None:
    tools = {"SUM": ("calculate_percentage",), "CHAT": ()}
    on = replace(adapter(intent_tools=tools), detect=chatting)
    answer = ask(on, "calculate_percentage", {"value": 200, "percentage": 15})
    assert answer.metadata["policy"] == {"outcome": "intent_forbids"}


@pytest.mark.parametrize("function", ["os.system", None])
def test_what_is_not_there_is_not_called(function: str | None) -> None:
    answer = ask(adapter(), function, {})
    assert answer.metadata["template_id"] is None
