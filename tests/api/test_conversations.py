"""Sessions over HTTP: continued by their key alone, and cleared."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from server.access.models import NewKey
from server.conversation.store import ConversationStore
from server.core.decision import Decision, NoMatch, Trace
from server.core.turn import Turn
from server.settings.models import ConversationSettings
from tests.api.conftest import Edge
from tests.support.deciding import table_adapter

pytestmark = pytest.mark.anyio


class Parrot:
    """Says what it remembers."""

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        asked = [said.content for said in turn.context.messages if said.role == "user"]
        return NoMatch(" | ".join(asked))

    async def close(self) -> None:
        return None


@pytest.fixture
async def parrot(edge: Edge, tmp_path: Path) -> AsyncIterator[Edge]:
    settings = ConversationSettings(max_turns=2)
    conversations = ConversationStore.open(f"sqlite:///{tmp_path / 'orbit.db'}", settings)
    edge.adapters.opened(replace(table_adapter(), decider=Parrot(), conversations=conversations))
    yield edge
    await conversations.close()


async def said_before(
    edge: Edge, message: str, session: str | None = None, key: str = ""
) -> tuple[str, str]:
    """What the conversation remembered when `message` came, and its id."""
    response = await edge.client.post(
        "/chat",
        json={"message": message} | ({"session_id": session} if session else {}),
        headers={"Authorization": f"Bearer {key or edge.key}"},
    )
    answer = response.json()
    return answer["metadata"]["why"], answer["session_id"]


async def forget(edge: Edge, session: str, key: str = "") -> int:
    headers = {"Authorization": f"Bearer {key or edge.key}"}
    return (await edge.client.delete(f"/chat/sessions/{session}", headers=headers)).status_code


async def test_a_session_remembers_its_last_turns(parrot: Edge) -> None:
    before = [(await said_before(parrot, text, "s"))[0] for text in ("a", "b", "c", "d")]
    assert before == ["", "a", "a | b", "b | c"]


async def test_a_session_that_was_made_up_can_be_continued(parrot: Edge) -> None:
    _, session = await said_before(parrot, "first")
    _, other = await said_before(parrot, "elsewhere")
    assert await said_before(parrot, "second", session) == ("first", session)
    assert session != other


async def test_nobody_continues_the_session_of_another_key(parrot: Edge) -> None:
    stranger, _ = await parrot.keys.create(NewKey("arithmetic"))
    await said_before(parrot, "mine", "s")
    assert await said_before(parrot, "hello", "s", stranger) == ("", "s")
    assert await forget(parrot, "s", stranger) == 204
    assert await said_before(parrot, "more", "s") == ("mine", "s")


async def test_a_session_is_cleared_by_command(parrot: Edge) -> None:
    await said_before(parrot, "a", "s")
    assert [await forget(parrot, "s"), await forget(parrot, "never-begun")] == [204, 204]
    assert await said_before(parrot, "b", "s") == ("", "s")


@pytest.mark.parametrize(
    ("session", "headers", "expected"),
    [("s", {}, (401, "key_missing")), ("a%20b", None, (400, "request_invalid"))],
)
async def test_clearing_needs_a_key_and_an_id(
    parrot: Edge, session: str, headers: dict[str, str] | None, expected: tuple[int, str]
) -> None:
    known = {"Authorization": f"Bearer {parrot.key}"}
    found = await parrot.client.delete(
        f"/chat/sessions/{session}", headers=known if headers is None else headers
    )
    assert (found.status_code, found.json()["error"]["code"]) == expected
