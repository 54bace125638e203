"""What a model says leaves while it is said, and is taken back when it is no answer."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.adapters.registry import Adapters
from server.core.chat_messages import Message, Reply
from server.core.tools import ToolDefinition
from server.errors import ProviderUnavailable
from tests.llm.adapters import speaking
from tests.support.api import api_over, api_state, served_on_loopback

pytestmark = pytest.mark.anyio

QUESTION = "What is 15% of 200?"
TRUE = "The answer is 30: 15% of 200."


@dataclass
class OnCue:
    """Says one piece of its lines each time it gets a cue; None in place of one is its death."""

    lines: list[list[str | None]]
    cues: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    name: str = "on cue"

    async def warm(self) -> None:
        return None

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolDefinition] = (),
        max_tokens: int | None = None,
    ) -> Reply:
        raise NotImplementedError

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        line = self.lines.pop(0)
        for piece in line:
            await self.cues.acquire()
            if piece is None:
                raise ProviderUnavailable("it broke off")
            yield piece
        yield Reply("".join(piece or "" for piece in line), self.name)

    async def close(self) -> None:
        return None


@dataclass(frozen=True)
class Served:
    url: str
    key: str
    model: OnCue

    async def events(self, client: httpx.AsyncClient) -> AsyncIterator[dict[str, Any]]:
        body = {"message": QUESTION, "stream": True}
        headers = {"X-API-Key": self.key}
        async with client.stream("POST", self.url, json=body, headers=headers) as response:
            assert response.status_code == 200
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    keys = await KeyStore.open(f"sqlite:///{tmp_path / 'orbit.db'}", tmp_path / "secret")
    key, _ = await keys.create(NewKey("arithmetic"))
    model = OnCue([])
    adapters = Adapters(("arithmetic",))
    adapters.opened(speaking(model))
    async with (
        api_state(adapters, keys, tmp_path) as state,
        served_on_loopback(api_over(state)) as url,
    ):
        yield Served(f"{url}/chat", key, model)
    await keys.close()


def words(events: Sequence[Mapping[str, Any]]) -> str:
    return "".join(event["chunk"] for event in events if event["status"] == "streaming")


async def test_words_leave_before_the_model_is_done(served: Served) -> None:
    served.model.lines.append(["The answer is ", "30: 15% of", " 200."])
    with anyio.fail_after(20):
        async with httpx.AsyncClient() as client:
            served.model.cues.release()
            events = served.events(client)
            first = [await anext(events) for _ in range(2)]
            assert [event["status"] for event in first] == ["sources", "streaming"]
            assert first[0]["sources"] == [{"template_id": "calculate_percentage"}]
            assert words(first) == "The answer is"
            for _ in range(2):
                served.model.cues.release()
            rest = [event async for event in events]
    assert words([*first, *rest]) == TRUE
    last = rest[-1]
    assert (last["status"], last["metadata"]["synthesized"]) == ("complete", True)


@pytest.mark.parametrize(
    ("line", "reason"),
    [(["The answer is ", "31 of "], "'31' is not in the result"),
     (["The answer is ", None], "it broke off")],
)  # fmt: skip
async def test_what_is_no_answer_is_taken_back(
    served: Served, line: list[str | None], reason: str
) -> None:
    served.model.lines += [line, [TRUE]]
    for _ in range(3):
        served.model.cues.release()
    with anyio.fail_after(20):
        async with httpx.AsyncClient() as client:
            events = [event async for event in served.events(client)]
            again = [event async for event in served.events(client)]
    at = [event["status"] for event in events].index("reset")
    assert (words(events[:at]), events[at]["reason"]) == ("The answer is", reason)
    assert words(events[at:]) == "15% of 200 is **30**"
    assert (events[-1]["status"], events[-1]["metadata"]["synthesized"]) == ("complete", False)
    assert words(again) == TRUE
