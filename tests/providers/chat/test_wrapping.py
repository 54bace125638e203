"""What stands before every model: bounds, a breaker, another try, a schema."""

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import aclosing
from time import monotonic
from typing import Any

import pytest

from server.core.chat_messages import Reply, TokenUsage
from server.core.ports import ChatModel
from server.errors import (
    OrbitError,
    ProviderRejected,
    ProviderTimedOut,
    ProviderUnavailable,
)
from server.metrics.metrics import Metrics
from server.providers.chat.resilience import (
    CircuitOpen,
    QueueFull,
    ResilientChatModel,
)
from server.providers.chat.scripted import Line, ScriptedChat
from server.providers.chat.structured import StructuredChatModel
from server.providers.failures import ProviderBusy, ProviderUnreachable
from server.providers.metered import MeteredChatModel
from server.providers.spec import ChatLimits
from tests.providers.chat.speaking import broken_off, heard, said

pytestmark = pytest.mark.anyio

DOWN = ProviderUnreachable("it is down")
BUSY = ProviderBusy("it is busy")
NUMBER = {
    "type": "object",
    "properties": {"n": {"type": "integer", "maximum": 9}},
    "required": ["n"],
    "additionalProperties": False,
}


def retrying(script: ChatModel, *, max_retries: int = 3) -> ResilientChatModel:
    return ResilientChatModel(script, ChatLimits(max_retries=max_retries), first_pause_s=0.001)


def breaking(
    script: ChatModel, max_failures: int, now: Callable[[], float] = monotonic
) -> ResilientChatModel:
    limits = ChatLimits(max_retries=0, max_failures=max_failures, pause_s=30)
    return ResilientChatModel(script, limits, now=now)


def bounded(script: ChatModel, *, max_concurrent: int, timeout_s: float) -> ResilientChatModel:
    limits = ChatLimits(max_retries=0, max_concurrent=max_concurrent, timeout_s=timeout_s)
    return ResilientChatModel(script, limits)


async def test_what_may_pass_is_tried_again() -> None:
    script = ScriptedChat([DOWN, BUSY, ProviderTimedOut("late"), "at last"])
    assert (await retrying(script).complete(said("hi"))).text == "at last"
    assert len(script.asked) == 4


async def test_three_attempts_are_made_unless_the_settings_say_otherwise() -> None:
    script = ScriptedChat([DOWN, BUSY, DOWN, "too late"])
    model = ResilientChatModel(script, ChatLimits(), first_pause_s=0.001)
    with pytest.raises(ProviderUnavailable, match="it is down"):
        await model.complete(said("hi"))
    assert len(script.asked) == 3


@pytest.mark.parametrize(
    "failure",
    [
        ProviderRejected("no such model"),
        CircuitOpen("failed too often"),
        QueueFull("too many"),
        ProviderBusy("come back tomorrow", retry_after_s=86_400),
    ],
)
async def test_what_will_not_pass_is_not_tried_again(failure: OrbitError) -> None:
    script = ScriptedChat([failure, "never said"])
    with pytest.raises(type(failure)):
        await retrying(script).complete(said("hi"))
    assert len(script.asked) == 1


async def test_the_last_failure_is_the_one_that_is_told() -> None:
    script = ScriptedChat([DOWN, BUSY])
    with pytest.raises(ProviderBusy, match="it is busy"):
        await retrying(script, max_retries=1).complete(said("hi"))


async def test_pauses_double_and_heed_what_the_provider_asks_for() -> None:
    pauses: list[float] = []

    class Watched(ResilientChatModel):
        def _pause_s(self, state: Any) -> float:
            pauses.append(super()._pause_s(state))
            return 0.0

    script = ScriptedChat([DOWN, DOWN, ProviderBusy("busy", retry_after_s=9.0), "done"])
    await Watched(script, ChatLimits(max_retries=3)).complete(said("hi"))
    assert pauses == [1, 2, 9]


async def test_a_stream_is_tried_again_until_its_first_word() -> None:
    script = ScriptedChat([DOWN, "one two"])
    pieces, reply = await heard(retrying(script), "hi")
    assert (pieces, reply) == (["one", " two"], Reply("one two", "scripted"))


async def test_a_stream_that_was_heard_is_not_begun_again() -> None:
    script = ScriptedChat([Line(Reply("one two", "m"), failure=DOWN), "never said"])
    assert await broken_off(retrying(script), "hi") == (["one", " two"], ProviderUnreachable)
    assert len(script.asked) == 1


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


async def test_after_failures_in_a_row_it_is_left_alone_and_then_tried_once() -> None:
    clock = Clock()
    script = ScriptedChat([DOWN, DOWN, DOWN, "well again"])
    model = breaking(script, 2, clock)

    async def outcome() -> str:
        try:
            return (await model.complete(said("hi"))).text
        except OrbitError as failed:
            return type(failed).__name__

    outcomes = [await outcome() for _ in range(3)]
    clock.seconds = 31
    outcomes += [await outcome() for _ in range(2)]  # the trial fails, and the pause begins anew
    clock.seconds = 62
    outcomes += [await outcome() for _ in range(2)]
    assert outcomes == [
        "ProviderUnreachable", "ProviderUnreachable", "CircuitOpen",
        "ProviderUnreachable", "CircuitOpen",
        "well again", "well again",
    ]  # fmt: skip
    assert len(script.asked) == 5


async def test_only_one_tries_while_the_others_are_told_at_once() -> None:
    clock = Clock()
    script = ScriptedChat([DOWN, Line(Reply("back", "m"), delay_s=0.01)])
    model = breaking(script, 1, clock)
    with pytest.raises(ProviderUnreachable):
        await model.complete(said("hi"))
    clock.seconds = 31
    trial = asyncio.create_task(model.complete(said("hi")))
    await asyncio.sleep(0)
    with pytest.raises(CircuitOpen, match="tried again right now; last: it is down"):
        await model.complete(said("hi"))
    assert (await trial).text == "back"


async def test_a_trial_that_was_cancelled_leaves_room_for_another() -> None:
    clock = Clock()
    script = ScriptedChat([DOWN, Line(Reply("slow", "m"), delay_s=60), "back"])
    model = breaking(script, 1, clock)
    with pytest.raises(ProviderUnreachable):
        await model.complete(said("hi"))
    clock.seconds = 31
    trial = asyncio.create_task(model.complete(said("hi")))
    await asyncio.sleep(0)
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    assert (await model.complete(said("hi"))).text == "back"


async def test_who_was_refused_did_not_find_it_down() -> None:
    script = ScriptedChat([ProviderRejected("no"), ProviderRejected("no"), "yes"])
    model = breaking(script, 1)
    for _ in range(2):
        with pytest.raises(ProviderRejected):
            await model.complete(said("hi"))
    assert (await model.complete(said("hi"))).text == "yes"


class Crowded(ScriptedChat):
    """Counts how many it answers at once."""

    now = 0
    most = 0

    async def complete(self, *args: Any, **kwargs: Any) -> Reply:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            return await super().complete(*args, **kwargs)
        finally:
            self.now -= 1


async def test_no_more_are_asked_at_once_than_allowed() -> None:
    script = Crowded([Line(Reply("ok", "m"), delay_s=0.005)])
    model = bounded(script, max_concurrent=2, timeout_s=30)
    await asyncio.gather(*(model.complete(said("hi")) for _ in range(7)))
    assert (script.most, len(script.asked)) == (2, 7)


async def test_who_waits_too_long_for_a_place_is_told_so() -> None:
    model = bounded(ScriptedChat(["one two"]), max_concurrent=1, timeout_s=0.05)
    async with aclosing(model.stream(said("hi"))) as stream:
        await anext(stream)  # its reader takes its time, which counts as nobody's
        with pytest.raises(QueueFull, match="scripted already answers 1 at once"):
            await model.complete(said("hi"))
        assert await anext(stream) == " two"
    assert (await model.complete(said("hi"))).text == "one two"


async def test_who_takes_too_long_is_stopped() -> None:
    script = ScriptedChat([Line(Reply("slow", "m"), delay_s=60), "quick"])
    model = bounded(script, max_concurrent=1, timeout_s=0.05)
    with pytest.raises(ProviderTimedOut, match=r"scripted did not answer within 0.05 s"):
        await model.complete(said("hi"))
    assert (await model.complete(said("hi"))).text == "quick"


async def test_a_stream_left_early_gives_its_place_back() -> None:
    model = bounded(ScriptedChat(["one two three"]), max_concurrent=1, timeout_s=1)
    async with aclosing(model.stream(said("hi"))) as stream:
        assert await anext(stream) == "one"
    assert (await model.complete(said("hi"))).text == "one two three"


async def test_a_stream_that_falls_silent_times_out() -> None:
    script = ScriptedChat([Line(Reply("slow", "m"), delay_s=60)])
    with pytest.raises(ProviderTimedOut, match=r"scripted did not answer within 0.05 s"):
        await heard(bounded(script, max_concurrent=1, timeout_s=0.05), "hi")


LISTED = {
    "type": "object",
    "properties": {
        "verb": {"type": "string", "enum": ["cancel_order", "Refund", "unknown"]},
        "all": {"type": "array", "items": {"enum": ["a b", "a-b", 1]}},
        "note": {"type": "string"},
    },
}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"verb": " Cancel-Order "}, {"verb": "cancel_order"}),
        ({"verb": "refund\n", "note": " As It Is "}, {"verb": "Refund", "note": " As It Is "}),
        ({"all": ["A  B", 1]}, None),  # it may be either
        ({"all": ["a-b"]}, {"all": ["a-b"]}),
        ({"verb": "cancel_orders"}, None),
    ],
)
async def test_a_listed_value_counts_in_any_spelling(written: Any, read: Any) -> None:
    script = ScriptedChat([json.dumps(written)])
    model = StructuredChatModel(script)
    if read is None:
        with pytest.raises(ProviderRejected, match="did not keep to the schema"):
            await model.complete(said("hi"), schema=LISTED)
    else:
        reply = await model.complete(said("hi"), schema=LISTED)
        assert (reply.data, len(script.asked)) == (read, 1)


@pytest.mark.parametrize(
    "text", ['{"n": 3}', ' {"n":3}\n', '```json\n{"n": 3}\n```', '```\n{"n": 3}\n```']
)
async def test_json_is_read_as_models_write_it(text: str) -> None:
    script = ScriptedChat([text])
    reply = await StructuredChatModel(script).complete(said("hi"), schema=NUMBER)
    assert (reply.data, len(script.asked)) == ({"n": 3}, 1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("three", "it is no JSON"),
        ("", "it is no JSON"),
        ('{"n": NaN}', "it holds a number that cannot be used"),
        ('{"n": ' + "9" * 5000 + "}", "it holds a number that cannot be used"),
        ("[" * 100_000, "it is nested too deeply"),
        ("{}", "it breaks the schema's 'required'"),
        ('{"n": 12}', "n breaks the schema's 'maximum'"),
        ('{"n": "s3cret"}', "n breaks the schema's 'type'"),
        ('{"n": 3, "m": 4}', "it breaks the schema's 'additionalProperties'"),
    ],
)
async def test_what_does_not_fit_is_mended_once_or_refused(text: str, why: str) -> None:
    mended = ScriptedChat([text, '{"n": 4}'])
    reply = await StructuredChatModel(mended).complete(said("hi"), schema=NUMBER)
    assert (reply.data, len(mended.asked)) == ({"n": 4}, 2)
    assert why in mended.asked[1].messages[-1].content

    hopeless = ScriptedChat([text])
    with pytest.raises(ProviderRejected) as refused:
        await StructuredChatModel(hopeless).complete(said("hi"), schema=NUMBER)
    assert why in str(refused.value)
    assert "s3cret" not in str(refused.value)
    assert len(hopeless.asked) == 2


async def test_json_that_was_cut_is_not_asked_for_again() -> None:
    script = ScriptedChat([Reply('{"n": ', "m", cut=True), '{"n": 4}'])
    with pytest.raises(ProviderRejected, match="ran into its limit of tokens"):
        await StructuredChatModel(script).complete(said("hi"), schema=NUMBER)


async def test_a_mended_reply_counts_the_tokens_of_both() -> None:
    script = ScriptedChat(
        [
            Reply("?", "m", tokens=TokenUsage(10, 1)),
            Reply('{"n": 1}', "m", tokens=TokenUsage(20, 5)),
        ]
    )
    reply = await StructuredChatModel(script).complete(said("hi"), schema=NUMBER)
    assert reply.tokens == TokenUsage(30, 6)


async def test_calls_and_tokens_are_counted() -> None:
    metrics = Metrics()
    script = ScriptedChat([Reply("hi", "m", tokens=TokenUsage(7, 2)), DOWN, "streamed"])
    model = MeteredChatModel(script, metrics)
    await model.complete(said("hi"))
    with pytest.raises(ProviderUnavailable):
        await model.complete(said("hi"))
    await heard(model, "hi")
    async with aclosing(model.stream(said("hi"))) as stream:
        await anext(stream)
    lines = metrics.text().decode().splitlines()
    assert {line for line in lines if re.match("orbit_model.*_total{", line)} == {
        'orbit_model_calls_total{model="scripted",outcome="success"} 2.0',
        'orbit_model_calls_total{model="scripted",outcome="error"} 1.0',
        'orbit_model_calls_total{model="scripted",outcome="abandoned"} 1.0',
        'orbit_model_tokens_total{kind="prompt",model="scripted"} 7.0',
        'orbit_model_tokens_total{kind="completion",model="scripted"} 2.0',
    }  # fmt: skip
