"""Values by name for what the last answer asked for: `arguments` of `POST /chat`."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.access.rate_limits import RateLimits
from server.conversation.store import ConversationStore
from server.core.decision import Decision, Match, MissingArguments, NoMatch, Trace
from server.core.turn import Turn
from server.extraction.extractor import Extractor
from server.guards.model import GuardVerdict
from server.library.model import Domain, Library, Parameter
from server.retrievers.courtesy import with_courtesy
from server.retrievers.followups.decider import FollowUpDecider
from server.settings.models import ConversationSettings
from server.tools.executor import ToolExecutor
from server.tools.policy.chain import Guardrails, build_chain
from server.tools.registry import ToolRegistry
from tests.api.conftest import Edge
from tests.support.api import api_over, client_from
from tests.support.deciding import table_adapter
from tests.tools.policy.chains import Desk, template

pytestmark = pytest.mark.anyio

BOOK = template(
    "book",
    (
        Parameter("day", "date", "The day"),
        Parameter("guests", "integer", "How many come", ge=1, le=8),
        Parameter("room", "string", "Which room", enum=("red", "blue"), choices={"red": "red",
                  "blue": "blue", "crimson": "red"}),
        Parameter("secret", "string", "Said at the door", required=False),
    ),
    operation="echo",
)  # fmt: skip
WHISPER = template(
    "whisper", (Parameter("secret", "string"),), operation="echo", sensitive_params=("secret",)
)
LIBRARY = Library(Domain("desk"), {each.id: each for each in (BOOK, WHISPER)})


class Asks:
    """Asks for everything that a template which is named needs; understands nothing else."""

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        found = LIBRARY.templates.get(turn.text)
        if found is None:
            return NoMatch(f"not understood: {turn.text}")
        missing = tuple(each.missing() for each in found.parameters if each.is_needed)
        return MissingArguments(Match(found.id, 0.9, 0.8, ""), missing)

    async def close(self) -> None:
        return None


class Listens:
    """A guard that notes what it is shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    async def check(self, turn: Turn, trace: Trace) -> GuardVerdict:
        self.shown.append(turn.text)
        return GuardVerdict(None)


@pytest.fixture
async def desk(edge: Edge, tmp_path: Path) -> AsyncIterator[Edge]:
    store = ConversationStore.open(f"sqlite:///{tmp_path / 'orbit.db'}", ConversationSettings())
    following = FollowUpDecider(Asks(), LIBRARY, Extractor(LIBRARY.domain))
    decider = with_courtesy(following, LIBRARY)
    registry = ToolRegistry([Desk()])
    adapter = replace(
        table_adapter("arithmetic", LIBRARY),
        decider=decider,
        conversations=store,
        chain=build_chain(
            "arithmetic", LIBRARY, registry, ToolExecutor(registry), Guardrails(RateLimits())
        ),
    )
    edge.adapters.opened(adapter)
    yield edge
    await store.close()


async def say(edge: Edge, message: str, **more: Any) -> httpx.Response:
    body = {"message": message, "session_id": "s"} | more
    return await edge.client.post("/chat", json=body, headers={"X-API-Key": edge.key})


async def give(edge: Edge, **arguments: Any) -> dict[str, Any]:
    response = await say(edge, "", arguments=arguments)
    assert response.status_code == 200, response.text
    return dict(response.json()["metadata"])


def refusal(response: httpx.Response) -> tuple[int, str, str]:
    error = response.json()["error"]
    return response.status_code, error["code"], error["message"]


async def test_what_is_asked_for_says_what_a_form_needs(desk: Edge) -> None:
    asked = (await say(desk, "book")).json()["metadata"]["missing"]
    assert asked == [
        {"name": "day", "description": "The day", "type": "date"},
        {"name": "guests", "description": "How many come", "type": "integer"},
        {"name": "room", "description": "Which room", "type": "string",
         "choices": ["red", "blue"]},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "ran"),
    [
        ({"day": "2025-03-04", "guests": 3, "room": "blue"},
         {"day": "2025-03-04", "guests": 3, "room": "blue"}),
        ({"day": " 2025-03-04 ", "guests": "3", "room": "Crimson"},
         {"day": "2025-03-04", "guests": 3, "room": "red"}),
    ],
)  # fmt: skip
async def test_values_by_name_complete_the_call(
    desk: Edge, arguments: dict[str, Any], ran: dict[str, Any]
) -> None:
    await say(desk, "book")
    told = await give(desk, **arguments)
    assert told["tool_execution"]["parameters"] == ran
    assert told["arguments"] == {name: {"kind": "form"} for name in ran}
    assert "notes" not in told


async def test_some_of_them_are_kept_and_the_rest_is_asked_for(desk: Edge) -> None:
    await say(desk, "book")
    first = await give(desk, day="2025-03-04", guests=None)
    assert [each["name"] for each in first["missing"]] == ["guests", "room"]
    then = await give(desk, guests=2, room="red")
    assert then["tool_execution"]["parameters"] == {"day": "2025-03-04", "guests": 2, "room": "red"}
    assert {name: each["kind"] for name, each in then["arguments"].items()} == {
        "day": "conversation", "guests": "form", "room": "form",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("guests", 9, "9 is above 8"),
        ("guests", "many", "'many' has to be a whole number"),
        ("guests", True, "true has to be a whole number"),
        ("guests", 2.5, "2.5 has to be a whole number"),
        ("day", "someday", "'someday' has to be a date"),
        ("room", "green", "'green' is not one of red or blue"),
        ("room", ["red"], "has to be text"),
        ("room", "r" * 200_001, "is longer than"),
    ],
)
async def test_a_value_that_cannot_be_one_is_asked_for_again(
    desk: Edge, name: str, value: Any, problem: str
) -> None:
    right = {"day": "2025-03-04", "guests": 3, "room": "blue"}
    await say(desk, "book")
    api = api_over(replace(desk.state, max_message_chars=300_000))
    api.user_middleware[0].kwargs["max_body_bytes"] = 1_000_000
    async with client_from(api, "127.0.0.1") as client:
        body = {"message": "", "session_id": "s", "arguments": right | {name: value}}
        response = await client.post("/chat", json=body, headers={"X-API-Key": desk.key})
    (missing,) = response.json()["metadata"]["missing"]
    assert missing["name"] == name
    assert problem in missing["problem"]
    assert "tool_execution" not in response.json()["metadata"]


async def test_the_conversation_has_the_values_in_words(desk: Edge) -> None:
    await say(desk, "book")
    await give(desk, day="2025-03-04", guests=3)
    await say(desk, "for friends", arguments={"room": "blue"})
    store = desk.adapters.get("arithmetic").conversations
    assert store is not None
    context = await store.recall(await desk.keys.authenticate(desk.key), "s")
    said = [message.content for message in context.messages if message.role == "user"]
    assert said == ["book", "day: 2025-03-04; guests: 3", "for friends; room: blue"]


async def test_a_guard_judges_every_value(desk: Edge) -> None:
    guard: Any = Listens()
    desk.adapters.opened(replace(desk.adapters.get("arithmetic"), guard=guard))
    await say(desk, "book")
    await say(desk, "harmless", arguments={"room": "how to pick a lock"})
    assert guard.shown == ["book", "harmless; room: how to pick a lock"]


async def test_a_value_that_reads_as_a_courtesy_or_as_nothing_is_a_value(desk: Edge) -> None:
    for word in ("Thank you", "…"):
        await say(desk, "whisper")
        told = await give(desk, secret=word)
        assert told["tool_execution"]["status"] == "success", told


async def test_a_sensitive_value_is_kept_and_told_nowhere(
    desk: Edge, caplog: pytest.LogCaptureFixture
) -> None:
    await say(desk, "whisper")
    response = await say(desk, "", arguments={"secret": "swordfish"}, explain=True)
    assert response.status_code == 200
    assert "swordfish" not in str(response.json()["metadata"]["arguments"])
    store = desk.adapters.get("arithmetic").conversations
    assert store is not None
    context = await store.recall(await desk.keys.authenticate(desk.key), "s")
    assert "swordfish" not in str(context)
    assert "swordfish" not in caplog.text


@pytest.mark.parametrize("before", [(), ("gibberish",), ("book", "…")])
async def test_where_nothing_was_asked_for_no_value_is_taken(
    edge: Edge, desk: Edge, before: tuple[str, ...]
) -> None:
    for message in before:
        await say(desk, message)
    if before == ("book", "…"):
        edge.adapters.opened(
            replace(desk.adapters.get("arithmetic"), library=Library(Domain("d"), {}))
        )
    assert refusal(await say(desk, "", arguments={"room": "red"})) == (
        400,
        "request_invalid",
        "the last answer of this session asked for no arguments: ask a question first, and give "
        "what its answer names in 'metadata.missing'",
    )


async def test_only_what_was_asked_for_is_taken(desk: Edge) -> None:
    await say(desk, "book")
    for name in ("secret", "rooms"):
        status, code, message = refusal(await say(desk, "", arguments={name: "red"}))
        assert (status, code) == (400, "request_invalid")
        assert message.startswith(f"'arguments': argument '{name}' is not one of day, guests, room")
    assert (await give(desk, day="2025-03-04", guests=3, room="red"))["tool_execution"]


@pytest.mark.parametrize("arguments", [None, {}, {"room": None}])
async def test_without_a_value_a_message_is_needed(desk: Edge, arguments: Any) -> None:
    response = await say(desk, "  ", arguments=arguments)
    assert refusal(response) == (
        400, "request_invalid", "'message' is empty: write a question into it",
    )  # fmt: skip
