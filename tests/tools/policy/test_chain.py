"""Each step of the chain alone, in order, and what none of them lets by."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.access.rate_limits import RateLimits
from server.audit.entry import Settling
from server.core.tools import ToolCall
from server.core.turn import Caller
from server.errors import StoreUnavailable
from server.settings.models import AccessSettings, AuditSettings, RolesSettings
from server.tools.policy.checks import Proposal
from tests.tools.policy.chains import ADA, ANA, NOBODY, PIA, Bench, bench

pytestmark = pytest.mark.anyio


async def outcome(bench: Bench, *ask: Any, **more: Any) -> str:
    return (await bench.ask(*ask, **more)).outcome


async def test_a_call_that_nothing_refuses_runs_once_with_its_defaults(tmp_path: Path) -> None:
    desk = bench(tmp_path)
    carried = await desk.ask("pay", {"amount": 5}, caller=PIA)
    assert carried.outcome == "success"
    assert desk.desk.ran == [("pay", {"amount": 5, "currency": "EUR"})]


async def test_a_template_that_is_not_there_is_unknown(tmp_path: Path) -> None:
    desk = bench(tmp_path)
    assert await outcome(desk, "nothing") == "tool_unknown"
    assert desk.desk.ran == []


@pytest.mark.parametrize("call", [{"tool": "calculator"}, {"operation": "erase"}])
async def test_a_call_cannot_borrow_a_template_for_another_tool(
    tmp_path: Path, call: dict[str, str]
) -> None:
    desk = bench(tmp_path)
    assert await outcome(desk, "note", {"text": "x"}, **call) == "tool_unknown"
    assert desk.desk.ran == []


@pytest.mark.parametrize(
    ("name", "intent", "expected"),
    [
        ("note", "WRITE", "success"),
        ("note", "PAY", "intent_forbids"),
        ("note", "CHAT", "intent_forbids"),
        ("note", "write", "intent_forbids"),
        ("note", "MADE_UP", "intent_forbids"),
        ("note", None, "intent_forbids"),
    ],
)
async def test_an_intent_reaches_only_its_own_tools(
    tmp_path: Path, name: str, intent: str | None, expected: str
) -> None:
    desk = bench(tmp_path, intents=True)
    assert await outcome(desk, name, {"text": "x"}, intent=intent) == expected


async def test_without_an_allow_list_every_template_is_allowed(tmp_path: Path) -> None:
    assert await outcome(bench(tmp_path), "note", {"text": "x"}) == "success"


@pytest.mark.parametrize(
    ("caller", "expected"),
    [
        (ANA, "role_forbids"),
        (PIA, "success"),
        (ADA, "success"),
        (NOBODY, "auth_required"),
        (Caller("k", "desk", role="admin"), "auth_required"),
        (Caller("k", "desk", user_id="x", role="guest"), "auth_required"),
        (Caller("k", "desk", user_id="x", role="Admin"), "auth_required"),
        (Caller("k", "desk", user_id="x", role="admin "), "auth_required"),
    ],
)
async def test_roles_are_listed(tmp_path: Path, caller: Caller, expected: str) -> None:
    assert await outcome(bench(tmp_path), "pay", {"amount": 5}, caller=caller) == expected


@pytest.mark.parametrize("user_id", [None, ""])
async def test_what_takes_who_asks_needs_somebody(tmp_path: Path, user_id: str | None) -> None:
    desk = bench(tmp_path)
    checks = replace(desk.chain.checks["note"], system=frozenset({"caller_user_id"}))
    desk.chain = replace(desk.chain, checks={**desk.chain.checks, "note": checks})
    nobody = Caller("k", "desk", user_id=user_id)
    assert await outcome(desk, "note", {"text": "x"}, caller=nobody) == "auth_required"
    named = {"text": "x", "caller_user_id": "bob"}
    assert await outcome(desk, "note", named, caller=ANA) == "arguments_invalid"
    carried = await desk.ask("note", {"text": "x"}, caller=ANA)
    assert desk.desk.ran == [("note", {"text": "x", "caller_user_id": "ana"})]
    assert carried.result.parameters == carried.call.arguments == {"text": "x"}


async def test_ordered_roles_admit_every_role_above(tmp_path: Path) -> None:
    roles = RolesSettings(names=("guest", "user", "premium", "staff", "admin"), order="ordered")
    desk = bench(tmp_path, access=AccessSettings(roles=roles))
    staff = Caller("k", "desk", user_id="x", role="staff")
    assert await outcome(desk, "pay", {"amount": 5}, caller=staff) == "success"
    assert await outcome(desk, "pay", {"amount": 5}, caller=ANA) == "role_forbids"


async def test_a_limit_says_when_to_come_back(tmp_path: Path) -> None:
    desk = bench(tmp_path)
    for _ in range(3):
        assert await outcome(desk, "pay", {"amount": 5}) == "success"
    carried = await desk.ask("pay", {"amount": 5})
    assert carried.outcome == "rate_limited"
    assert carried.refusal is not None
    assert carried.refusal.retry_after_s is not None
    assert 3500 <= carried.refusal.retry_after_s <= 3600
    assert carried.result.status == "error"
    assert carried.result.error_message == (
        "the limit of 3 an hour is reached; try again in 1 hour"
    )


async def test_limits_are_each_users_own(tmp_path: Path) -> None:
    desk = bench(tmp_path)
    for _ in range(3):
        await desk.ask("pay", {"amount": 5}, caller=PIA)
    assert await outcome(desk, "pay", {"amount": 5}, caller=PIA) == "rate_limited"
    assert await outcome(desk, "pay", {"amount": 5}, caller=ADA) == "success"


async def test_a_refused_call_costs_no_quota(tmp_path: Path) -> None:
    desk = bench(tmp_path)
    for _ in range(10):
        assert await outcome(desk, "pay", {"amount": 0}) == "arguments_invalid"
        assert await outcome(desk, "pay", {"amount": 5}, caller=NOBODY) == "auth_required"
    for _ in range(3):
        assert await outcome(desk, "pay", {"amount": 5}) == "success"


@pytest.mark.parametrize("window", ["moving", "fixed"])
async def test_of_200_at_once_exactly_20_run(tmp_path: Path, window: Any) -> None:
    desk = bench(tmp_path, limits=RateLimits(window=window))
    carried = await asyncio.gather(*(desk.ask("report") for _ in range(200)))
    ended = [each.outcome for each in carried]
    assert (ended.count("success"), ended.count("rate_limited")) == (20, 180)
    assert len(desk.desk.ran) == 20


async def test_what_has_to_be_confirmed_waits(tmp_path: Path) -> None:
    desk = bench(tmp_path)
    assert await outcome(desk, "erase", {"text": "all"}) == "confirmation_required"
    assert desk.desk.ran == []
    assert await outcome(desk, "erase", {"text": "all"}, confirmed=True) == "success"


async def test_the_first_step_that_refuses_is_the_one_that_is_told(tmp_path: Path) -> None:
    """One call that is wrong in every way, put right one step at a time."""
    desk = bench(tmp_path, intents=True)
    bad: dict[str, Any] = {"text": ""}
    told = [
        await outcome(desk, "erase", bad, caller=ANA, intent="CHAT", operation="note"),
        await outcome(desk, "erase", bad, caller=ANA, intent="CHAT"),
        await outcome(desk, "erase", bad, caller=ANA, intent="CLEAN"),
        await outcome(desk, "erase", bad, caller=ADA, intent="CLEAN"),
        await outcome(desk, "erase", {"text": "x"}, caller=ADA, intent="CLEAN"),
        await outcome(desk, "erase", {"text": "x"}, caller=ADA, intent="CLEAN", confirmed=True),
    ]
    assert told == [
        "tool_unknown", "intent_forbids", "role_forbids", "arguments_invalid",
        "confirmation_required", "success",
    ]  # fmt: skip


async def test_what_a_caller_names_needs_no_intent_but_some_intent_must_allow_it(
    tmp_path: Path,
) -> None:
    desk = bench(tmp_path, intents=True)
    named = {"proposed_by": "caller"}
    told = [
        await outcome(desk, "note", {"text": "x"}, of_proposal=named),
        await outcome(desk, "erase", {"text": "x"}, caller=ANA, of_proposal=named),
        await outcome(desk, "erase", {"text": "x"}, of_proposal=named),
    ]
    assert told == ["success", "role_forbids", "confirmation_required"]
    assert [event["proposed_by"] for event in await desk.events()] == ["caller"] * 3
    nowhere = replace(desk.chain.checks["note"], intents=frozenset())
    desk.chain = replace(desk.chain, checks={**desk.chain.checks, "note": nowhere})
    assert await outcome(desk, "note", {"text": "x"}, of_proposal=named) == "intent_forbids"
    assert "note" not in {each.id for each in desk.chain.open_to(ADA, any_intent=True)}


async def test_the_limit_comes_before_the_arguments(tmp_path: Path) -> None:
    desk = bench(tmp_path)
    for _ in range(3):
        await desk.ask("pay", {"amount": 5})
    assert await outcome(desk, "pay", {"amount": 0}) == "rate_limited"


async def test_every_call_and_refusal_is_written_down(tmp_path: Path) -> None:
    desk = bench(tmp_path, intents=True)
    await desk.ask("note", {"text": "x"}, caller=ANA, intent="WRITE")
    await desk.ask("pay", {"amount": 5}, caller=ANA, intent="PAY")
    await desk.ask("pay", {"amount": 5}, caller=PIA, intent="PAY")
    events = await desk.events()
    assert [(e["template_id"], e["outcome"], e["user_id"]) for e in events] == [
        ("note", "success", "ana"),
        ("pay", "role_forbids", "ana"),
        ("pay", "started", "pia"),
        ("pay", "success", "pia"),
    ]
    first = {name: value for name, value in events[0].items() if name not in ("at", "duration_ms")}
    assert first == {
        "request_id": "r1",
        "adapter": "desk",
        "key_id": "k1",
        "user_id": "ana",
        "role": "user",
        "intent": "WRITE",
        "template_id": "note",
        "tool": "desk",
        "operation": "note",
        "outcome": "success",
        "reason": "",
        "proposed_by": "system",
        "arguments": {"text": "x"},
        "proposal_id": None,
        "kind": "call",
        "call_id": None,
    }


class FullDisk:
    """A sink that cannot write."""

    one_server = True

    def append(
        self, events: Sequence[Mapping[str, Any]], *, settling: Settling | None = None
    ) -> None:
        raise StoreUnavailable("no space left")

    def entries(self, *, after: int = 0) -> Any:
        return iter(())

    def newest(self, *, before: int | None = None) -> Any:
        return iter(())

    def head(self) -> None:
        return None

    def holds_first(self) -> bool:
        return True

    def end(self) -> None:
        return None

    def close(self) -> None:
        return None


@pytest.mark.parametrize(
    ("reads", "writes", "expected"),
    [
        ("allow", "deny", ("success", "audit_unavailable")),
        ("deny", "deny", ("audit_unavailable", "audit_unavailable")),
        ("allow", "allow", ("success", "success")),
    ],
)
async def test_what_cannot_be_written_down_is_not_done_where_it_must_be(
    tmp_path: Path, reads: Any, writes: Any, expected: tuple[str, str]
) -> None:
    audit = AuditSettings(failing_reads=reads, failing_writes=writes)
    desk = bench(tmp_path, access=AccessSettings(audit=audit), sink=FullDisk())
    told = (await outcome(desk, "report"), await outcome(desk, "pay", {"amount": 5}))
    assert told == expected
    assert len(desk.desk.ran) == expected.count("success")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("pay", {"amount": 0}, "amount: 0 is below 1"),
        ("pay", {"amount": 1001}, "amount: 1001 is above 1000"),
        ("pay", {"amount": "5"}, "amount: '5' has to be a number"),
        ("pay", {"amount": True}, "amount: true has to be a number"),
        ("pay", {}, "amount is missing"),
        ("pay", {"amount": 5, "currency": "XXX"}, "currency: 'XXX' is not one of EUR or USD"),
        ("pay", {"amount": 5, "code": 7}, "code: 7 has to be text"),
        ("pay", {"amount": 5, "code": "07"}, "code: '07' does not match ^[0-9]{3}$"),
        ("pay", {"amount": 5, "who": "x"},
             "there is no parameter 'who'; known are amount, currency and code"),
        ("note", {"text": ""}, "text: '' has fewer than 1 characters"),
        ("filter", {"rows": [{"id": 0}]},
         "rows: a list has a member (number 1) that has a 'id' that is below 1"),
        ("filter", {"rows": [{"id": 1, "x": 2}]},
         "rows: a list has a member (number 1) that has a field that is not declared"),
        ("filter", {"rows": [{}]}, "rows: a list has a member (number 1) that lacks 'id'"),
        ("filter", {"rows": [], "day": "tomorrow"},
         "day: 'tomorrow' has to be a date as 2025-03-04"),
        ("filter", {"rows": [], "mail": "a b@c"},
         "mail: 'a b@c' has to be an e-mail address as ada@example.org"),
        ("filter", {"rows": [], "level": 1.5}, "level: 1.5 has to be a whole number"),
        ("filter", {"rows": [], "exact": 1}, "exact: 1 has to be true or false"),
        ("echo", {"secret": 5}, "secret: [REDACTED] has to be text"),
    ],
)  # fmt: skip
async def test_what_is_wrong_is_named_with_value_and_rule(
    tmp_path: Path, name: str, arguments: dict[str, Any], message: str
) -> None:
    carried = await bench(tmp_path).ask(name, arguments)
    assert (carried.outcome, carried.result.error_message) == ("arguments_invalid", message)


async def test_digits_stay_text_where_text_is_asked_for(tmp_path: Path) -> None:
    desk = bench(tmp_path)
    await desk.ask("pay", {"amount": 5, "code": "007"})
    assert desk.desk.ran == [("pay", {"amount": 5, "code": "007", "currency": "EUR"})]


async def test_a_rehearsal_judges_arguments_alone_and_leaves_no_trace(tmp_path: Path) -> None:
    desk = bench(tmp_path, intents=True)
    rehearsed = replace(desk, chain=desk.chain.rehearsed(lambda runner: runner))
    for _ in range(5):
        assert await outcome(rehearsed, "pay", {"amount": 5}, caller=NOBODY) == "success"
    assert await outcome(rehearsed, "pay", {"amount": 0}) == "arguments_invalid"
    assert await desk.events() == []


async def test_a_call_that_is_only_judged_runs_nothing_and_costs_nothing(tmp_path: Path) -> None:
    desk = bench(tmp_path)

    async def judged(arguments: Mapping[str, Any], caller: Caller = ADA) -> Any:
        call = ToolCall("pay", "desk", "pay", arguments)
        return await desk.chain.judge(Proposal(call, caller, request_id="r1"))

    for _ in range(5):
        call = await judged({"amount": 5})
        assert isinstance(call, ToolCall)
        assert call.arguments == {"amount": 5, "currency": "EUR"}
    assert (await judged({"amount": 0})).outcome == "arguments_invalid"
    assert (await judged({"amount": 5}, NOBODY)).outcome == "auth_required"
    assert desk.desk.ran == []
    assert await outcome(desk, "pay", {"amount": 5}) == "success"


async def test_a_result_that_a_client_tells_shows_no_secrets(tmp_path: Path) -> None:
    desk = bench(tmp_path)
    secret = {"secret": "hunter2", "profile": {"card": "4111"}}
    known = desk.chain.checks["echo"].template.execution
    call = ToolCall("echo", known.tool, known.operation, secret)
    proposal = Proposal(call, ADA, request_id="r1")
    told = await desk.chain.take_result(proposal, {"result": "hunter2 has 4111"})
    assert told.result.result == {"result": "[REDACTED] has [REDACTED]"}
    assert "hunter2" not in str(told.call.arguments)
    assert desk.desk.ran == []
