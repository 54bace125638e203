"""A yes in a conversation that its client tells, when the client does not wait for the answer."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from server.chat.pipeline import run_turn
from server.core.decision import Answer
from server.core.tools import ToolCall, ToolResult
from server.core.transcript import Exchange, Transcript, TranscriptKey
from server.core.turn import Turn
from server.tools.policy.chain import Runner
from tests.conversation.confirmations.shopfloor import Floor, floor

pytestmark = pytest.mark.anyio

KEY = TranscriptKey(b"s" * 32)
ASKED, START = "erase all", KEY.start()


class Slow:
    """Runs calls once it may, and tells that one has come."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.came, self.may = asyncio.Event(), asyncio.Event()

    async def execute(self, call: ToolCall, *, timeout_s: float) -> ToolResult:
        self.came.set()
        await self.may.wait()
        return await self.runner.execute(call, timeout_s=timeout_s)

    async def aclose(self) -> None:
        await self.runner.aclose()


async def say(desk: Floor, text: str, *told: Exchange, timeout_s: float = 5) -> Answer:
    moment = KEY.after(told[-1].moment if told else START, "user", text)
    turn = Turn(
        uuid4().hex,
        text,
        moment,
        desk.caller,
        datetime.now(UTC),
        transcript=Transcript(KEY, told, moment),
    )
    return await run_turn(desk.adapter, turn, timeout_s=timeout_s)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Floor]:
    async with floor(tmp_path) as opened:
        yield opened


async def proposed(desk: Floor) -> Exchange:
    answer = await say(desk, ASKED)
    moment = KEY.after(KEY.after(START, "user", ASKED), "assistant", answer.content)
    return Exchange(ASKED, moment)


async def test_who_left_and_asks_again_gets_the_answer_of_the_one_run(desk: Floor) -> None:
    slow = Slow(desk.adapter.chain.runner)
    desk.adapter = replace(desk.adapter, chain=replace(desk.adapter.chain, runner=slow))
    before = await proposed(desk)
    left = asyncio.create_task(say(desk, "yes", before))
    await slow.came.wait()
    left.cancel()
    again = asyncio.create_task(say(desk, "yes", before))
    await asyncio.sleep(0.3)
    slow.may.set()
    answer = await again
    assert (answer.content, desk.tool.ran) == ("**done**", [("erase", {"text": "all"})])
    assert answer.metadata["proposal"]["repeated"] is True
    assert (await say(desk, "yes", before)).content == "**done**"


async def test_who_asks_again_gets_the_answer_to_what_was_proposed_last(desk: Floor) -> None:
    before = await proposed(desk)
    assert (await say(desk, "yes", before)).content == "**done**"
    slow = Slow(desk.adapter.chain.runner)
    desk.adapter = replace(desk.adapter, chain=replace(desk.adapter.chain, runner=slow))
    assert await proposed(desk) == before
    first = asyncio.create_task(say(desk, "yes", before))
    await slow.came.wait()
    again = asyncio.create_task(say(desk, "yes", before))
    await asyncio.sleep(0.3)
    assert not again.done()
    slow.may.set()
    answers = await asyncio.gather(first, again)
    assert [answer.content for answer in answers] == ["**done**"] * 2
    assert desk.tool.ran == [("erase", {"text": "all"})] * 2


async def test_who_asks_again_while_it_runs_for_long_is_told_so(desk: Floor) -> None:
    slow = Slow(desk.adapter.chain.runner)
    desk.adapter = replace(desk.adapter, chain=replace(desk.adapter.chain, runner=slow))
    before = await proposed(desk)
    first = asyncio.create_task(say(desk, "yes", before))
    await slow.came.wait()
    answer = await say(desk, "yes", before, timeout_s=1)
    assert answer.content == "Nothing was done now: this is being carried out already."
    slow.may.set()
    assert (await first).content == "**done**"


async def test_what_ran_before_a_server_ended_is_not_run_again(desk: Floor) -> None:
    """Its answer was kept nowhere."""
    before = await proposed(desk)
    proposal_id = (await desk.rows())[0]["proposal_id"]
    session = KEY.after(START, "user", ASKED)
    held = await desk.desk.claim(desk.caller, session, proposal_id)
    await desk.desk.commit(held)
    await desk.desk.finish(held, "done", "success")
    answer = await say(desk, "yes", before)
    assert "it runs once" in answer.content
    assert desk.tool.ran == []
