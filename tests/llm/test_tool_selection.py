"""LLM-first: what a model proposes passes through the very same chain."""

import asyncio
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from server.access.rate_limits import RateLimits
from server.audit.table import TableSink
from server.audit.writer import AuditWriter
from server.chat.adapter import Adapter
from server.chat.pipeline import run_turn
from server.core.chat_messages import FunctionCall, Reply
from server.core.decision import Answer, Call, Decision, NoMatch, Trace
from server.core.turn import Intent
from server.errors import ProviderUnavailable
from server.intents.detector import Detection
from server.library.model import CallPolicy, Library
from server.llm.models import build_llm_decider
from server.llm.prompts import load_prompts
from server.providers.chat.scripted import ScriptedChat
from server.retrievers.followups.context import FollowUpDecision
from server.settings.adapters import AdapterSettings
from server.tools.executor import ToolExecutor
from server.tools.policy.chain import Guardrails, build_chain
from server.tools.registry import ToolRegistry
from tests.llm.adapters import CONFIG, Script, ask, stage, turn_of
from tests.support.deciding import DIVIDE, LIBRARY, PERCENTAGE, ByTable, table_adapter
from tests.tools.policy.chains import SEAL

RESTRICTED = replace(DIVIDE, policy=CallPolicy(allowed_roles=("admin",)))
BOTH = Library(LIBRARY.domain, {t.id: t for t in (PERCENTAGE, RESTRICTED)})
QUESTION = "15% from a total of 200, if you please"
GOOD = Reply(
    "", "m", calls=(FunctionCall("calculate_percentage", {"value": 200, "percentage": 15}),)
)


def proposing(
    script: Script | ScriptedChat,
    library: Library = BOTH,
    trail: AuditWriter | None = None,
    **more: Any,
) -> Adapter:
    """An adapter whose model says what the script has, before the table is asked."""
    registry = ToolRegistry.build()
    guardrails = Guardrails(RateLimits(), trail)
    chain = build_chain("a", library, registry, ToolExecutor(registry), guardrails, **more)
    adapter = replace(table_adapter(library=library), chain=chain)
    written = {"name": "a", "inference_model": "m", "config": CONFIG}
    prompts, _ = load_prompts(None, {})
    assert prompts is not None
    model = script if isinstance(script, ScriptedChat) else ScriptedChat(script)
    decider = build_llm_decider(
        AdapterSettings.model_validate(written),
        library,
        chain.open_to,
        prompts,
        lambda provider, name: model,
        ByTable(),
        lambda template, turn: None,
    )
    return replace(adapter, decider=decider)


def proposed(function: str, text: str = QUESTION, **arguments: Any) -> Answer:
    reply = Reply("", "m", calls=(FunctionCall(function, arguments),))
    return ask(proposing([reply]), text)


def test_a_good_proposal_runs() -> None:
    answer = ask(proposing([GOOD]), QUESTION)
    assert answer.content == "15% of 200 is **30**"
    assert answer.metadata["arguments"]["value"] == {"kind": "model"}
    assert answer.metadata["match"]["why"] == "proposed by a model"


def test_only_what_the_role_may_run_is_offered() -> None:
    model = ScriptedChat([GOOD])
    ask(proposing(model), QUESTION)
    assert [tool.name for tool in model.asked[0].tools] == ["calculate_percentage"]


def test_what_is_not_offered_is_refused_and_not_run() -> None:
    answer = proposed("divide", "divide 1 by 2", a=1, b=2)
    assert answer.metadata["template_id"] is None
    assert "tool_execution" not in answer.metadata


def test_what_forbids_it_is_written_down(tmp_path: Path) -> None:
    sink = TableSink(f"sqlite:///{tmp_path / 'audit.db'}", SEAL)

    async def both() -> None:
        trail = AuditWriter(sink)
        for name in ("divide", "os.system"):
            reply = Reply("", "m", calls=(FunctionCall(name, {"a": 1, "b": 2}),))
            turn = turn_of("divide 1 by 2")
            await run_turn(proposing([reply], trail=trail), turn, timeout_s=20)
        await trail.flush()

    asyncio.run(both())
    outcomes = [(entry.event["template_id"], entry.event["outcome"]) for entry in sink.entries()]
    sink.close()
    assert outcomes == [("divide", "role_forbids"), ("os.system", "tool_unknown")]


def test_deciding_writes_nothing_down(tmp_path: Path) -> None:
    sink = TableSink(f"sqlite:///{tmp_path / 'audit.db'}", SEAL)

    async def decide() -> Decision:
        trail = AuditWriter(sink)
        reply = Reply("", "m", calls=(FunctionCall("divide", {"a": 1, "b": 2}),))
        decider = proposing([reply], trail=trail).decider
        decision = await decider.decide(turn_of("divide 1 by 2"), Trace())
        await trail.flush()
        assert not isinstance(decision, FollowUpDecision)
        return decision

    decision = asyncio.run(decide())
    assert isinstance(decision, Call)
    assert (decision.call.template_id, decision.call.by_model) == ("divide", True)
    assert isinstance(decision.otherwise, NoMatch)
    assert list(sink.entries()) == []
    sink.close()


def test_what_no_parameter_names_is_refused() -> None:
    answer = proposed("calculate_percentage", value=200, percentage=15, role="admin")
    assert answer.metadata["policy"] == {"outcome": "arguments_invalid"}


@pytest.mark.parametrize("value", [None, 300, "a lot", [200]])
def test_what_nobody_said_is_asked_for(value: Any) -> None:
    answer = proposed("calculate_percentage", value=value, percentage=15)
    assert [one["name"] for one in answer.metadata["missing"]] == ["value"]


def test_a_value_that_was_said_and_cannot_be_is_not_replaced_by_the_default() -> None:
    bounded = tuple(
        replace(each, le=100, default=5, required=False) if each.name == "value" else each
        for each in PERCENTAGE.parameters
    )
    library = Library(LIBRARY.domain, {PERCENTAGE.id: replace(PERCENTAGE, parameters=bounded)})
    call = FunctionCall("calculate_percentage", {"value": 200, "percentage": 15})
    unsaid = replace(call, arguments={"value": 500, "percentage": 15})
    said, invented = (
        ask(proposing([Reply("", "m", calls=(each,))], library), QUESTION)
        for each in (call, unsaid)
    )
    assert [one["problem"] for one in said.metadata["missing"]] == ["200 is above 100"]
    assert invented.content == "15% of 5 is **0.75**"


async def chatting(text: str, now: datetime) -> Detection:
    return Detection(Intent("CHAT", 1, "default"), {})


def test_the_intent_is_the_servers_and_not_the_models() -> None:
    tools = {"SUM": ("calculate_percentage",), "CHAT": ()}
    model = ScriptedChat([GOOD])
    on = replace(proposing(model, intent_tools=tools), detect=chatting)
    answer = ask(on, "What is 15% of 200?")
    assert model.asked == []
    assert answer.metadata["policy"] == {"outcome": "intent_forbids"}


def test_a_model_that_proposes_nothing_is_told_what_comes_nearest() -> None:
    answer = ask(proposing(["I would rather talk."]), "What is 15% of 200?")
    assert answer.metadata["why"] == "no tool was proposed"
    assert [near["template_id"] for near in answer.metadata["nearest"]] == ["calculate_percentage"]


def test_what_is_not_there_is_not_called() -> None:
    answer = proposed("os.system", command="ls")
    assert answer.metadata["template_id"] is None


def test_without_its_model_the_server_decides() -> None:
    answer = ask(proposing([ProviderUnavailable("away")]), "What is 15% of 200?")
    assert answer.content == "15% of 200 is **30**"
    assert stage(answer, "propose")["why"] == "away"


def test_no_model_is_told_of_sensitive_parameters() -> None:
    hidden = replace(PERCENTAGE, policy=CallPolicy(sensitive_params=("value",)))
    library = Library(LIBRARY.domain, {t.id: t for t in (hidden, DIVIDE)})
    model = ScriptedChat([GOOD])
    answer = ask(proposing(model, library), "What is 15% of 200?")
    assert (model.asked, answer.metadata["template_id"]) == ([], "calculate_percentage")
