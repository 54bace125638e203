"""A project in process: the answers of a server, under the same rules, and a clean end."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from server import errors
from server.client import Answer, Client, ClientError
from server.project import BlockingProject, Project, open_project, open_project_sync
from tests.support.configuring import DOMAIN, NOW, PERCENTAGE, adapter, write_library
from tests.support.sql_shop import open_shop

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PERCENT = "What is 15% of 200?"
STAFF = {**NOW, "id": "staff_time", "allowed_roles": ["admin"]}
ODD = {"id": "broken", "nl_examples": ["broken"]}


def write_project(folder: Path, **sections: Any) -> Path:
    """Two adapters that work, one that cannot be opened, and one that is switched off."""
    sums = write_library(folder / "sums", [PERCENTAGE, NOW])
    clock = write_library(folder / "clock", [STAFF])
    odd = write_library(folder / "odd", [ODD])
    adapters = [
        adapter("sums", sums, config=sections.pop("config", {})),
        adapter("clock", clock),
        adapter("odd", odd),
        adapter("off", clock, enabled=False),
    ]
    (folder / "config").mkdir()
    file = folder / "config" / "config.yaml"
    file.write_text(yaml.safe_dump({**sections, "adapters": adapters}))
    return folder


@asynccontextmanager
async def opened(folder: Path, **options: Any) -> AsyncIterator[Project]:
    async with open_project(write_project(folder), environ={}, **options) as project:
        yield project


def told(answer: Any) -> dict[str, Any]:
    """What an answer says but for times and names of its own."""
    metadata = dict(answer["metadata"] if isinstance(answer, dict) else answer.metadata)
    execution = dict(metadata.pop("tool_execution", {}))
    execution.pop("execution_time_ms", None)
    for name in ("proposal_id", "expires_at", "seal"):
        metadata["proposal"] = dict(metadata.get("proposal") or {})
        metadata["proposal"].pop(name, None)
    return metadata | {"tool_execution": execution}


async def test_it_answers_as_a_server_does(tmp_path: Path) -> None:
    questions = ("Show me the orders in Lisbon", "delete order 7", "Show the order", "sing a song")
    async with open_shop(tmp_path) as shop:
        over_http = [await shop.ask(question, "s") for question in questions]
    async with open_project(tmp_path, data_dir=tmp_path / "own", environ={}) as orbit:
        here = [await orbit.ask(question, session_id="s") for question in questions]
    assert [told(each) for each in here] == [told(each) for each in over_http]
    assert [each.content for each in here] == [each["content"] for each in over_http]
    assert [each.outcome for each in here] == ["done", "held", "missing", "nothing"]


async def test_what_needs_a_yes_runs_once_it_has_it(tmp_path: Path) -> None:
    async with open_shop(tmp_path):
        pass  # writes the shop and its configuration
    async with open_project(tmp_path, environ={}) as orbit:
        held = (await orbit.ask("delete order 7")).proposal
        assert held is not None
        with pytest.raises(errors.ProposalUnknown):
            await orbit.for_user("bob").confirm(held)
        assert (await orbit.confirm(held)).outcome == "done"
        with pytest.raises(errors.ProposalSettled):
            await orbit.confirm(held)
        named = await orbit.call("delete_order", {"id": 8})
        assert (named.outcome, named.arguments) == ("held", {"id": 8})
        assert named.proposal is not None
        assert (await orbit.confirm(named.proposal, accept=False)).outcome == "settled"
        assert (await orbit.call("order_by_id", {"id": 8})).result["row_count"] == 1


async def test_several_adapters_are_asked_by_name(tmp_path: Path) -> None:
    async with opened(tmp_path) as orbit:
        assert orbit.adapters == ("sums", "clock", "odd")
        assert (await orbit.ask(PERCENT)).answered
        answer = await orbit.ask("What time is it?", adapter="clock")
        assert (answer.template_id, answer.adapter) == ("staff_time", "clock")
        with pytest.raises(errors.AdapterUnavailable, match="odd"):
            await orbit.ask("x", adapter="odd")
        with pytest.raises(errors.AdapterUnknown, match="did you mean 'clock'"):
            await orbit.ask("x", adapter="clok")


async def test_a_user_may_do_what_the_role_may(tmp_path: Path) -> None:
    async with opened(tmp_path) as orbit:
        ana = orbit.for_user("ana")
        refused = await ana.ask("What time is it?", adapter="clock")
        assert refused.metadata["policy"] == {"outcome": "role_forbids"}
        with pytest.raises(errors.ToolUnknown):
            await ana.call("staff_time", {}, adapter="clock")
        assert (
            await orbit.for_user("eve", "admin").call("staff_time", {}, adapter="clock")
        ).answered
        assert await ana.tools("clock") == []
        assert len((await orbit.library("clock")).templates) == 1
        for user, role in (("ana", "king"), (" ", "user"), ("a\nb", "user")):
            with pytest.raises(errors.RequestInvalid):
                orbit.for_user(user, role)


async def test_conversations_are_their_users_own(tmp_path: Path) -> None:
    async with opened(tmp_path) as orbit:
        ana, bob = orbit.for_user("ana"), orbit.for_user("bob")
        await ana.ask(PERCENT, session_id="s")
        assert not (await bob.ask("and of 400?", session_id="s")).answered
        assert (await ana.ask("and of 400?", session_id="s")).result["result"] == 60
        await ana.forget("s")
        assert not (await ana.ask("and of 400?", session_id="s")).answered


async def test_limits_and_requests_are_as_over_http(tmp_path: Path) -> None:
    limited = {"policy": {"rate_limit": "2/hour"}}
    folder = write_project(tmp_path, config=limited, server={"max_message_chars": 50})
    async with open_project(folder, environ={}) as orbit:
        for message in (" ", "x" * 51):
            with pytest.raises(errors.RequestInvalid):
                await orbit.ask(message)
        with pytest.raises(errors.RequestInvalid, match="session id"):
            await orbit.ask(PERCENT, session_id="a b")
        asked = await orbit.ask("What is 15%?", session_id="s")
        assert [each["name"] for each in asked.missing] == ["value"]
        done = await orbit.ask("", session_id="s", arguments={"value": 200})
        assert done.result["result"] == 30
        with pytest.raises(errors.RateLimited) as refused:
            await orbit.ask(PERCENT)
        assert refused.value.retry_after_s > 0


async def test_an_answer_comes_in_pieces(tmp_path: Path) -> None:
    async with opened(tmp_path) as orbit:
        async with orbit.stream(PERCENT) as pieces:
            with pytest.raises(ClientError):
                _ = pieces.answer
            said = "".join([piece.text async for piece in pieces])
        assert said == pieces.answer.content == "15% of 200 is **30**"
        async with orbit.stream(PERCENT):
            pass  # nobody listens, so the turn is stopped
        async with orbit.stream(PERCENT) as pieces:
            async for _ in pieces:
                break
        with pytest.raises(ClientError):
            _ = pieces.answer
        explained = await orbit.ask(PERCENT, explain=True)
        assert explained.trace is not None


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"adapters": ["nobody"]}, errors.AdapterUnknown),
        ({"adapters": ["off"]}, errors.AdapterUnknown),
        ({"adapters": ["sums", "odd"]}, errors.AdapterUnavailable),
    ],
)
async def test_what_is_named_has_to_open(
    tmp_path: Path, options: dict[str, Any], kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        async with opened(tmp_path, **options):
            pass


async def test_a_broken_configuration_lists_its_problems(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("adaptrs: []\nserver: {port: x}\n")
    for place in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(errors.ConfigurationInvalid) as broken:
            async with open_project(place, environ={}):
                pass
        assert broken.value.problems


async def test_a_library_needs_no_configuration(tmp_path: Path) -> None:
    library = write_library(tmp_path / "lib", [PERCENTAGE], DOMAIN)
    async with open_project(library, environ={}) as orbit:
        assert (orbit.adapters, (await orbit.ask(PERCENT)).answered) == (("lib",), True)


async def test_nothing_is_left_behind(tmp_path: Path) -> None:
    before = asyncio.all_tasks()
    async with opened(tmp_path) as orbit:
        await orbit.ask(PERCENT)
    assert asyncio.all_tasks() == before
    with pytest.raises(errors.AdapterUnavailable):
        await orbit.ask(PERCENT)


def test_a_program_without_a_loop_waits_for_answers(tmp_path: Path) -> None:
    def work(orbit: BlockingProject) -> tuple[Answer, str, Answer]:
        with orbit.stream(PERCENT, adapter="sums") as pieces:
            said = "".join(piece.text for piece in pieces)
        assert pieces.answer.answered
        return orbit.ask(PERCENT), said, orbit.call("staff_time", {}, adapter="clock")

    with open_project_sync(write_project(tmp_path), environ={}) as orbit:
        answer, said, called = work(orbit)
        assert (answer.content, called.answered) == (said, True)
        assert work(orbit.for_user("eve", "admin"))[0].answered
        assert {each["function"]["name"] for each in orbit.tools()} == {
            "calculate_percentage",
            "current_time",
        }
        assert orbit.library().adapter == "sums"
        orbit.forget("s")
    assert not [t for t in threading.enumerate() if "portal" in t.name.lower()]


def test_it_is_spelled_as_the_client_is() -> None:
    shared = {"ask", "stream", "confirm", "library", "tools", "forget", "for_user"}
    for kind in (Client, Project, BlockingProject):
        assert shared <= set(vars(kind))
    own = {name for name in vars(Project) if not name.startswith("_")}
    assert own - {"check"} == {name for name in vars(BlockingProject) if not name.startswith("_")}
