"""Several calls of one message: each judged alone, answered in order, and one at most waits."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.core.decision import Call, Decision, NoMatch, SeveralCalls, SeveralEndings, Trace
from server.core.turn import ConversationContext, Turn
from server.errors import StoreUnavailable
from server.evaluation.outcomes import outcome_of
from tests.conversation.confirmations.shopfloor import LIBRARY, ByWords, Floor, floor, held_id
from tests.tools.policy.chains import ADA

pytestmark = pytest.mark.anyio

FAIL_NOW = replace(
    LIBRARY.templates["fail"], policy=replace(LIBRARY.templates["fail"].policy, confirm=False)
)


class ByAmpersands(ByWords):
    """Decides for each part of "note a & erase b"; what is for no tool is skipped."""

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        calls, skipped = list[Call](), list[str]()
        for text in turn.text.split(" & "):
            decision = await super().decide(replace(turn, text=text), trace)
            if isinstance(decision, Call):
                calls.append(decision)
            else:
                skipped.append(text)
        return SeveralCalls(tuple(calls), tuple(skipped)) if calls else NoMatch("nothing is near")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Floor]:
    async with floor(tmp_path) as opened:
        opened.with_library({"fail": FAIL_NOW})
        opened.adapter = replace(opened.adapter, decider=ByAmpersands())
        yield opened


async def remembered(desk: Floor) -> ConversationContext:
    assert desk.adapter.conversations is not None
    return await desk.adapter.conversations.recall(ADA, "s")


def statuses(metadata: Any) -> list[str]:
    return [call["tool_execution"]["status"] for call in metadata["calls"]]


async def test_both_run_in_order_and_both_are_answered(desk: Floor) -> None:
    answer = await desk.say("note milk & note bread")
    assert desk.tool.ran == [("note", {"text": "milk"}), ("note", {"text": "bread"})]
    assert answer.content == "**done**\n\n**done**"
    calls = answer.metadata["calls"]
    assert [call["template_id"] for call in calls] == ["note", "note"]
    assert [call["confidence"] for call in calls] == [0.9, 0.9]
    assert set(calls[0]) == {
        "template_id", "arguments", "match", "tool_execution", "coverage", "confidence",
    }  # fmt: skip
    first = {name: calls[0][name] for name in ("template_id", "arguments", "tool_execution")}
    assert {name: answer.metadata[name] for name in first} == first
    assert (answer.confidence, "proposal" in answer.metadata) == (0.9, False)


async def test_of_two_that_need_a_yes_the_first_waits_and_the_other_is_not_done(
    desk: Floor,
) -> None:
    answer = await desk.say("note milk & erase all & pay 5")
    assert desk.tool.ran == [("note", {"text": "milk"})]
    _, waits, not_done = answer.metadata["calls"]
    assert answer.metadata["proposal"]["template_id"] == "erase"
    assert waits["proposal_id"] == held_id(answer)
    assert waits["policy"] == not_done["policy"] == {"outcome": "confirmation_required"}
    assert "proposal_id" not in not_done
    assert answer.content.endswith(
        "I did not do this as well: **To pay**. Only one thing at a time can wait for your yes, "
        "so ask me again after that."
    )
    assert len(await desk.rows()) == 1
    await desk.say("yes")
    assert desk.tool.ran == [("note", {"text": "milk"}), ("erase", {"text": "all"})]


async def test_what_fails_leaves_the_others_as_they_are(desk: Floor) -> None:
    answer = await desk.say("note milk & fail it & note bread")
    assert statuses(answer.metadata) == ["success", "error", "success"]
    first, failed, last = answer.content.split("\n\n")
    assert (first, last) == ("**done**", "**done**")
    assert failed.startswith("I couldn't do that.")


async def test_each_is_judged_and_written_down_by_itself(desk: Floor) -> None:
    await desk.say("note milk & erase all & note bread")
    ended = [(e["template_id"], e["outcome"]) for e in await desk.audited()]
    assert [each for each in ended if each[1] != "started"] == [
        ("note", "success"), ("erase", "confirmation_required"), ("note", "success"),
    ]  # fmt: skip


async def test_what_was_not_understood_is_said(desk: Floor) -> None:
    answer = await desk.say("note milk & water the plants")
    assert answer.content == (
        "**done**\n\nI did not understand “water the plants”, so nothing was done about that."
    )
    assert answer.metadata["skipped"] == ["water the plants"]
    assert answer.decision == SeveralEndings(
        answer.decision.parts,  # type: ignore[union-attr]
        ("water the plants",),
    )


async def test_later_messages_refer_to_the_last_call(desk: Floor) -> None:
    await desk.say("note milk & note bread")
    context = await remembered(desk)
    assert [call.arguments for call in context.done] == [{"text": "milk"}, {"text": "bread"}]


async def test_the_call_that_waits_is_remembered_beside_those_that_ran(desk: Floor) -> None:
    answer = await desk.say("note milk & erase all")
    context = await remembered(desk)
    assert context.held == held_id(answer)
    assert context.waiting is not None
    assert (context.waiting.template_id, context.waiting.arguments) == ("erase", {"text": "all"})
    assert [call.template_id for call in context.done] == ["note"]


async def test_a_secret_of_one_call_is_in_no_other(desk: Floor) -> None:
    answer = await desk.say("whisper hunter2secret & note hunter2secret & hunter2secret again")
    shown = str((answer.kept_content, answer.metadata, answer.trace.to_list()))
    assert "hunter2secret" not in shown
    assert "hunter2secret" not in str(await remembered(desk))


async def test_a_store_that_fails_behind_the_first_call_is_a_failure_of_the_second(
    desk: Floor,
) -> None:
    class Broken:
        def __init__(self, proposals: Any) -> None:
            self._proposals = proposals

        def __getattr__(self, name: str) -> Any:
            return getattr(self._proposals, name)

        async def hold(self, held: Any) -> Any:
            raise StoreUnavailable("the disk is full")

    desk.adapter = replace(desk.adapter, proposals=Broken(desk.adapter.proposals))  # type: ignore[arg-type]
    answer = await desk.say("note milk & erase all")
    assert statuses(answer.metadata) == ["success", "error"]
    assert answer.content.splitlines()[0] == "**done**"
    with pytest.raises(StoreUnavailable):
        await desk.say("erase all & note milk")


async def test_of_several_calls_the_first_counts(desk: Floor) -> None:
    answer = await desk.say("note milk & pay 5")
    outcome = outcome_of(answer.decision, LIBRARY.templates, latency_ms=1.0)
    assert (outcome.template, outcome.called, outcome.arguments) == ("note", True, {"text": "milk"})


async def test_metrics_count_one_turn_and_every_call(desk: Floor) -> None:
    await desk.say("note milk & note bread")
    told = desk.adapter.metrics.text().decode()
    assert 'orbit_decisions_total{adapter="desk",decision="several"} 1.0' in told
    assert (
        'orbit_tool_calls_total{adapter="desk",operation="note",status="success",tool="desk"} 2.0'
        in told
    )
