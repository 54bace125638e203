"""A call that needs a yes: held, shown, and run once, or not at all."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from server.conversation.confirmations.pending_calls import PROPOSALS
from server.core.chat_messages import Message
from server.core.decision import PendingConfirmation, ProposalNotExecuted
from server.core.turn import Caller
from server.errors import (
    ProposalAltered,
    ProposalExpired,
    ProposalSettled,
    ProposalUnknown,
    StoreUnavailable,
)
from tests.conversation.confirmations.shopfloor import floor, held_id
from tests.tools.policy.chains import ANA, ERASE

pytestmark = pytest.mark.anyio


def metadata(held: PendingConfirmation) -> dict[str, Any]:
    return {
        "proposal_id": held.proposal_id,
        "status": "held",
        "expires_at": "2025-01-31T12:15:00+00:00",
        "seal": held.seal,
        "intent": "pay",
        "target": "20.0",
        "origin": "template",
        "template_id": "pay",
        "tool": "desk",
        "operation": "pay",
        "effect": "write",
        "arguments": {"amount": 20.0, "currency": "EUR"},
    }


async def test_what_needs_a_yes_is_shown_exactly_and_does_not_run(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        answer = await shop.say("pay 20")
        held = answer.decision
        assert isinstance(held, PendingConfirmation)
        assert answer.content == (
            "Please confirm: **To pay**\n"
            "- amount: `20`\n- currency: `EUR`\nShall I go ahead? (yes / no)"
        )
        assert answer.metadata["proposal"] == metadata(held)
        assert answer.metadata["policy"] == {"outcome": "confirmation_required"}
        assert "tool_execution" not in answer.metadata
        assert len(held.seal) == 64
        assert shop.tool.ran == []


async def test_a_yes_in_the_conversation_runs_it(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("pay 20")
        answer = await shop.say("Yes, please.")
        assert shop.tool.ran == [("pay", {"amount": 20.0, "currency": "EUR"})]
        assert answer.metadata["tool_execution"]["status"] == "success"
        assert answer.metadata["proposal"] == {
            "proposal_id": held_id(held),
            "status": "done",
            "intent": "pay",
            "target": "20.0",
            "origin": "template",
        }
        again = await shop.say("yes")
        assert (again.metadata["template_id"], len(shop.tool.ran)) == (None, 1)


async def test_a_yes_by_its_id_runs_it(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        assert isinstance(held.decision, PendingConfirmation)
        await shop.confirm(held_id(held), seal=held.decision.seal)
        assert shop.tool.ran == [("erase", {"text": "all"})]


@pytest.mark.parametrize("reply", ["no", "לא, תודה", "never mind"])
async def test_a_no_lets_go_of_it(tmp_path: Path, reply: str) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        answer = await shop.say(reply)
        assert answer.content == "All right, nothing was done."
        assert answer.decision == ProposalNotExecuted("declined", held_id(held), origin="template")
        with pytest.raises(ProposalSettled, match="declined before"):
            await shop.confirm(held_id(held))
        assert shop.tool.ran == []


@pytest.mark.parametrize("reply", ["yes but not today", "ok maybe", "yes?", "כן אבל"])
async def test_an_unclear_reply_asks_again_and_runs_nothing(tmp_path: Path, reply: str) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        answer = await shop.say(reply)
        assert shop.tool.ran == []
        assert answer.content == (
            f"I need a plain yes or no, so nothing was done yet.\n\n{held.content}"
        )
        assert answer.metadata["proposal"] == held.metadata["proposal"]
        await shop.say("yes")
        assert shop.tool.ran == [("erase", {"text": "all"})]


async def test_a_change_of_subject_leaves_a_later_yes_without_meaning(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        await shop.say("note hello")
        answer = await shop.say("yes")
        assert answer.metadata["template_id"] is None
        assert shop.tool.ran == [("note", {"text": "hello"})]
        await shop.confirm(held_id(held))
        assert shop.tool.ran[1:] == [("erase", {"text": "all"})]


async def test_a_yes_belongs_to_the_latest_proposal(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        await shop.say("erase one")
        await shop.say("erase two")
        await shop.say("yes")
        assert shop.tool.ran == [("erase", {"text": "two"})]


async def test_a_later_proposal_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        first = await shop.say("erase one")
        await shop.say("erase two")
        with pytest.raises(ProposalSettled, match="something else was proposed since"):
            await shop.confirm(held_id(first))
        assert [row["state"] for row in await shop.rows()] == ["replaced", "held"]
        assert shop.tool.ran == []


async def test_it_expires(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        shop.clock.at += timedelta(seconds=900)
        answer = await shop.say("yes")
        assert answer.content == (
            "This confirmation has expired, so nothing was done. Ask me again."
        )
        with pytest.raises(ProposalExpired):
            await shop.confirm(held_id(held))
        assert shop.tool.ran == []


async def test_of_many_who_confirm_at_once_one_runs_it(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        by_id = [shop.confirm(held_id(held)) for _ in range(10)]
        in_words = [shop.say("yes") for _ in range(10)]
        ended = await asyncio.gather(*by_id, *in_words, return_exceptions=True)
        assert shop.tool.ran == [("erase", {"text": "all"})]
        assert len(await shop.events()) == 1
        ran = [
            answer
            for answer in ended
            if not isinstance(answer, BaseException) and "tool_execution" in answer.metadata
        ]
        assert len(ran) == 1
        refused = [failed for failed in ended if isinstance(failed, BaseException)]
        assert all(isinstance(failed, ProposalSettled) for failed in refused)


async def test_a_restart_loses_none(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
    async with floor(tmp_path) as shop:
        answer = await shop.say("yes")
        assert answer.metadata["proposal"]["proposal_id"] == held_id(held)
        assert shop.tool.ran == [("erase", {"text": "all"})]


@pytest.mark.parametrize(
    "stranger",
    [Caller("k9", "desk", "ada", "admin"), replace(ANA, key_id="k3", role="admin")],
    ids=["key", "user"],
)
async def test_nobody_else_finds_it(tmp_path: Path, stranger: Caller) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        for accept in (True, False):
            with pytest.raises(ProposalUnknown):
                await shop.confirm(held_id(held), accept=accept, caller=stranger)
        with pytest.raises(ProposalUnknown):
            await shop.confirm(held_id(held), session="other")
        assert (await shop.say("yes", caller=stranger)).metadata["template_id"] is None
        await shop.confirm(held_id(held))
        assert len(shop.tool.ran) == 1


@pytest.mark.parametrize(
    "altered",
    [
        {"arguments": '{"text":"everything"}'},
        {"arguments": "broken"},
        {"template_id": "note"},
        {"target": "nothing much"},
        {"detected": "CLEAN"},
        {"seal": "0" * 64},
    ],
    ids=lambda altered: next(iter(altered)),
)
async def test_what_was_altered_in_the_database_never_runs(
    tmp_path: Path, altered: dict[str, str]
) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        change = PROPOSALS.update().values(**altered)
        await shop.database.run(lambda c: c.execute(change))
        with pytest.raises(ProposalAltered):
            await shop.confirm(held_id(held))
        answer = await shop.say("yes")
        assert answer.content.startswith("That is not what I had shown")
        assert (shop.tool.ran, await shop.events()) == ([], [])


async def test_a_longer_life_cannot_be_written_into_it(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        later = shop.clock.at + timedelta(days=1)
        await shop.database.run(lambda c: c.execute(PROPOSALS.update().values(expires_at=later)))
        with pytest.raises(ProposalAltered):
            await shop.confirm(held_id(held))


async def test_the_seal_of_something_else_confirms_nothing(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        with pytest.raises(ProposalAltered):
            await shop.confirm(held_id(held), seal="0" * 64)
        await shop.confirm(held_id(held))
        assert len(shop.tool.ran) == 1


async def test_a_template_that_was_changed_since_does_not_run(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        shop.with_library({"erase": replace(ERASE, description="To erase the whole disk")})
        answer = await shop.confirm(held_id(held))
        assert answer.decision == ProposalNotExecuted("changed", held_id(held), origin="template")
        assert (shop.tool.ran, await shop.events()) == ([], [])


async def test_examples_and_answers_of_a_template_may_change(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        changed = replace(
            ERASE, nl_examples=("wipe",), response_template={"en": "Gone."}, tags=("x",)
        )
        shop.with_library({"erase": changed})
        assert (await shop.confirm(held_id(held))).content == "Gone."


async def test_the_role_is_judged_again(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        demoted = replace(shop.caller, role="user")
        answer = await shop.confirm(held_id(held), caller=demoted)
        assert answer.metadata["policy"] == {"outcome": "role_forbids"}
        assert answer.metadata["proposal"]["status"] == "refused"
        with pytest.raises(ProposalSettled, match="not allowed any more"):
            await shop.confirm(held_id(held))
        assert (shop.tool.ran, await shop.events()) == ([], [])


async def test_what_would_be_refused_anyway_is_not_held(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        answer = await shop.say("erase all", caller=ANA)
        assert answer.metadata["policy"] == {"outcome": "role_forbids"}
        assert await shop.rows() == []


async def test_a_limit_is_judged_when_it_runs_and_the_yes_may_come_again(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        first, second = [held_id(await shop.say(f"pay {n}", f"s{n}")) for n in (10, 20)]
        await shop.confirm(first, session="s10")
        answer = await shop.confirm(second, session="s20")
        assert answer.metadata["policy"]["outcome"] == "rate_limited"
        assert answer.metadata["proposal"]["status"] == "held"
        assert [name for name, _ in shop.tool.ran] == ["pay"]
        assert [row["state"] for row in await shop.rows()] == ["done", "held"]
        assert len(await shop.events()) == 1


async def test_what_a_call_leaves_out_is_said_whenever_it_is_shown(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all, my kids are asleep")
        note = "I left out “my kids are asleep”."
        assert held.metadata["notes"] == [note]
        again = await shop.say("yes?")
        assert held.content in again.content
        assert f"\n{note}\nShall I go ahead?" in again.content
        assert ("coverage" in held.metadata, "coverage" in again.metadata) == (True, False)


async def test_who_must_confirm_sees_what_would_run_also_when_asked_again(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        for text in ("whisper swordfish", "yes?"):
            asked = await shop.say(text)
            assert "- secret: `swordfish`" in asked.content
            assert "swordfish" not in f"{asked.metadata} {asked.trace.to_list()} {asked!r}".replace(
                repr(asked.content), ""
            )
        assert shop.adapter.conversations is not None
        kept = await shop.adapter.conversations.recall(shop.caller, "s")
        assert ["- secret: `[REDACTED]`" in m.content for m in kept.messages[1::2]] == [True, True]


async def test_a_secret_is_kept_to_run_and_shown_nowhere_but_to_who_confirms(
    tmp_path: Path,
) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("whisper swordfish")
        said = f"{held.kept} {held.metadata} {held.trace.to_list()}"
        said += f"{[row['shown'] for row in await shop.rows()]}"
        answer = await shop.say("yes")
        assert shop.tool.ran == [("echo", {"secret": "swordfish"})]
        said += f"{answer.content} {answer.metadata} {answer.trace.to_list()}"
        said += f"{await shop.rows()} {await shop.events()} {await shop.audited()}"
        assert shop.adapter.conversations is not None
        said += f"{await shop.adapter.conversations.recall(shop.caller, 's')}"
        assert "swordfish" not in said
        assert "- secret: `[REDACTED]`" in held.kept_content
        assert [each["text"] for each in held.metadata["coverage"]] == ["whisper", "[REDACTED]"]


async def test_nothing_of_the_arguments_stays_when_it_is_over(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        for text, reply in (("erase one", "yes"), ("erase two", "no"), ("erase three", "huh?")):
            await shop.say(text)
            await shop.say(reply)
        shop.clock.at += timedelta(seconds=900)
        await shop.desk.tidy()
        assert [(row["state"], row["arguments"], row["shown"]) for row in await shop.rows()] == [
            ("done", "", ""), ("declined", "", ""), ("expired", "", ""),
        ]  # fmt: skip
        shop.clock.at += timedelta(days=2)
        await shop.desk.tidy()
        assert await shop.rows() == []


async def test_a_key_holds_so_many_at_once(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        for number in range(5):
            shop.clock.at += timedelta(seconds=1)
            await shop.say(f"erase {number}", f"s{number}")
        states = [row["state"] for row in await shop.rows()]
        assert states == ["expired", "expired", "held", "held", "held"]


async def test_the_audit_names_the_proposal_of_both_halves(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        await shop.say("yes")
        found = [(event["outcome"], event["proposal_id"]) for event in await shop.audited()]
        assert found == [
            ("confirmation_required", held_id(held)),
            ("started", held_id(held)),
            ("success", held_id(held)),
        ]


async def test_what_was_understood_is_asked_in_its_own_words(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        answer = await shop.say("wanted note #001")
        assert answer.content == 'You want to "note" for "#001". Is this correct?'
        proposal = answer.metadata["proposal"]
        assert (proposal["intent"], proposal["target"], proposal["origin"]) == (
            "note_order", "#001", "conversation",
        )  # fmt: skip
        await shop.say("yes")
        assert shop.tool.ran == [("note", {"text": "#001"})]
        (event,) = await shop.events()
        assert (event["intent"], event["target"], event["session_id"]) == (
            "note_order", "#001", "s",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("wish", "reply", "left"),
    [
        ("wanted erase #001", "yes", ()),
        ("wanted erase #001", "no", ()),
        ("wanted note #001", "no", ()),
        # What only looked at something leaves what it saw: that is what “it” means next.
        ("wanted note #001", "yes", (Message("assistant", "**done**"),)),
    ],
)
async def test_what_was_understood_ends_its_conversation(
    tmp_path: Path, wish: str, reply: str, left: tuple[Message, ...]
) -> None:
    async with floor(tmp_path) as shop:
        await shop.say("note before")
        await shop.say(wish)
        await shop.say(reply)
        store = shop.adapter.conversations
        assert store is not None
        assert (await store.recall(shop.caller, "s")).messages == left


async def test_a_tool_that_fails_was_committed_and_is_not_run_again(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("fail badly")
        answer = await shop.say("yes")
        assert answer.metadata["tool_execution"]["status"] == "error"
        assert [row["outcome"] for row in await shop.rows()] == ["error"]
        with pytest.raises(ProposalSettled):
            await shop.confirm(held_id(held))
        assert len(shop.tool.ran) == 1


async def test_clearing_a_conversation_lets_go_of_what_waits(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        await shop.desk.forget(shop.caller, "s")
        with pytest.raises(ProposalSettled):
            await shop.confirm(held_id(held))


async def test_what_was_running_when_the_server_ended_is_not_run_again(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        one, two = [await shop.say(f"erase {name}", name) for name in ("one", "two")]
        taken = await shop.desk.claim(shop.caller, "one", held_id(one))
        await shop.desk.commit(taken)
        await shop.desk.claim(shop.caller, "two", held_id(two))
    async with floor(tmp_path) as shop:
        await shop.desk.recover()
        assert [row["state"] for row in await shop.rows()] == ["interrupted", "held"]
        with pytest.raises(ProposalSettled, match="it is unknown whether it was done"):
            await shop.confirm(held_id(one), session="one")
        await shop.confirm(held_id(two), session="two")
        assert shop.tool.ran == [("erase", {"text": "two"})]


async def test_what_was_done_while_the_database_went_away_is_told_and_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        run, away = shop.database.run, True

        async def fail_after_the_tool(job: Any, **how: Any) -> Any:
            if away and shop.tool.ran:
                raise StoreUnavailable("the database is away")
            return await run(job, **how)

        monkeypatch.setattr(shop.database, "run", fail_after_the_tool)
        answer = await shop.confirm(held_id(held))
        assert answer.metadata["proposal"]["status"] == "done"
        away = False
        await shop.desk.drain()
        assert [row["state"] for row in await shop.rows()] == ["done"]


async def test_a_claim_whose_answer_was_lost_is_let_go_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")
        run = shop.database.run

        async def lose_the_answer(job: Any, **how: Any) -> Any:
            await run(job, **how)
            raise StoreUnavailable("the database went away")

        with monkeypatch.context() as broken:
            broken.setattr(shop.database, "run", lose_the_answer)
            with pytest.raises(StoreUnavailable):
                await shop.confirm(held_id(held))
        assert [row["state"] for row in await shop.rows()] == ["taken"]
        await shop.desk.drain()
        await shop.confirm(held_id(held))
        assert shop.tool.ran == [("erase", {"text": "all"})]


async def test_what_one_request_lets_go_of_late_is_not_taken_from_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("erase all")

        async def away(job: Any, **how: Any) -> Any:
            raise StoreUnavailable("the database is away")

        with monkeypatch.context() as broken:
            broken.setattr(shop.database, "run", away)
            with pytest.raises(StoreUnavailable):
                await shop.confirm(held_id(held))
        again = await shop.desk.claim(shop.caller, "s", held_id(held))
        await shop.desk.drain()  # what the first one noted is written now
        await shop.desk.commit(again)
        assert [row["state"] for row in await shop.rows()] == ["running"]


async def test_a_call_that_another_request_runs_is_not_let_go_of(tmp_path: Path) -> None:
    async with floor(tmp_path, alone=False) as shop:
        held = await shop.say("erase all")
        late = await shop.desk.claim(shop.caller, "s", held_id(held))
        await shop.desk.recover({shop.desk.owner})  # as a server does that takes this for gone
        with pytest.raises(StoreUnavailable, match="confirm it again"):
            await shop.desk.commit(late)
        await shop.desk.commit(await shop.desk.claim(shop.caller, "s", held_id(held)))
        with pytest.raises(ProposalSettled, match="being carried out already"):
            await shop.desk.commit(late)
        await shop.desk.finish(late, "held", "failed")
        assert [row["state"] for row in await shop.rows()] == ["running"]


async def test_what_a_server_that_is_gone_had_taken_is_ended_by_others(tmp_path: Path) -> None:
    async with floor(tmp_path, alone=False) as gone, floor(tmp_path, alone=False) as shop:
        one, two, three = [
            await gone.say(f"erase {name}", name) for name in ("one", "two", "three")
        ]
        await gone.desk.commit(await gone.desk.claim(gone.caller, "one", held_id(one)))
        await gone.desk.claim(gone.caller, "two", held_id(two))
        await shop.desk.claim(shop.caller, "three", held_id(three))
        await shop.desk.recover()
        assert [row["state"] for row in await shop.rows()] == ["running", "taken", "taken"]
        await shop.desk.recover({gone.desk.owner})
        assert [row["state"] for row in await shop.rows()] == ["interrupted", "held", "taken"]


async def test_who_leaves_after_the_yes_does_not_stop_it(tmp_path: Path) -> None:
    async with floor(tmp_path) as shop:
        held = await shop.say("pay 20")
        asked = asyncio.create_task(shop.confirm(held_id(held)))
        for _ in range(10_000):
            if (await shop.rows())[0]["state"] != "held":
                break
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        await shop.desk.drain()
        assert shop.tool.ran == [("pay", {"amount": 20.0, "currency": "EUR"})]
        assert [row["state"] for row in await shop.rows()] == ["done"]
