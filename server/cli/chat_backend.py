"""What answers a conversation at the terminal: an adapter in this process, or a server."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from server.adapters.local import ask_once, forget_session, open_adapter
from server.chat.adapter import Adapter
from server.cli.chat_screen import Screen
from server.conversation.outbox import COMMIT
from server.core.decision import Trace
from server.core.streaming import StreamEvent, StreamListener
from server.errors import OrbitError
from server.settings.models import AdapterSettings, Settings

_CONNECT_S: Final = 10.0
_ANSWER_S: Final = 120.0
"""A server says something every few seconds, so this much silence means it is gone."""


class ServerRefused(OrbitError):
    """The server did not answer; the message is its own."""

    code = "server_refused"


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """What there is to know of an answer besides its words, which the screen has shown.

    `trace` is None where the server keeps it to itself. `content` are the words.
    """

    metadata: Mapping[str, Any] = field(default_factory=dict)
    trace: Trace | None = None
    content: str = ""

    @property
    def notes(self) -> list[str]:
        """What was left out of the question, where the words of the answer do not say it."""
        return [note for note in self.metadata.get("notes", ()) if note not in self.content]

    @property
    def commit(self) -> str | None:
        """The commit event of a yes, as people read it; None where nothing was committed."""
        proposal = self.metadata.get("proposal") or {}
        if proposal.get("status") != "done":
            return None
        return (
            f"[CONFIRMED] {COMMIT} Commit Boundary Event:\n"
            f"  Intent : {proposal.get('intent')}\n"
            f"  Target : {proposal.get('target') or 'none'}\n"
            "  Status : COMMITTED"
        )

    @property
    def waits_for_yes(self) -> bool:
        """Whether something was proposed that a yes or a no settles."""
        proposal = self.metadata.get("proposal") or {}
        return bool(proposal.get("status") == "held")


class LocalBackend:
    """Answers the messages of one session by an adapter in this process."""

    def __init__(self, settings: Settings, adapter: Adapter, session_id: str) -> None:
        self.name = adapter.name
        self._settings = settings
        self._adapter = adapter
        self._session_id = session_id

    async def answer(self, text: str, screen: Screen) -> ShownAnswer:
        """Answer one message, its words as they come."""
        listener = StreamListener()
        showing = asyncio.create_task(_show_events(listener, screen))
        try:
            answer = await ask_once(
                self._settings,
                self._adapter,
                text,
                self._session_id,
                continues=True,
                listener=listener,
            )
        finally:
            showing.cancel()
        while not listener.events.empty():
            _show_event(listener.events.get_nowait(), screen)
        # The answer is what counts; mostly it was shown already.
        spoken = listener.text
        if not answer.content.startswith(spoken):
            screen.take_back()
            spoken = ""
        screen.say(answer.content[len(spoken) :])
        return ShownAnswer(answer.metadata, answer.trace, answer.content)

    async def clear(self) -> None:
        await forget_session(self._settings, self._adapter, self._session_id)


async def _show_events(listener: StreamListener, screen: Screen) -> None:
    while True:
        _show_event(await listener.events.get(), screen)


def _show_event(event: StreamEvent, screen: Screen) -> None:
    if event.kind == "text":
        screen.say(event.text)
    else:
        screen.take_back()


@asynccontextmanager
async def open_local(
    settings: Settings, environ: Mapping[str, str], adapter: AdapterSettings, session_id: str
) -> AsyncIterator[LocalBackend]:
    """Open an adapter that remembers the session; raise as `open_adapter`."""
    async with open_adapter(settings, environ, adapter, remembers=True) as opened:
        yield LocalBackend(settings, opened, session_id)


class RemoteBackend:
    """Answers the messages of one session by a server."""

    def __init__(self, client: httpx.AsyncClient, url: str, session_id: str) -> None:
        self.name = url
        self._client = client
        self._session_id = session_id

    async def answer(self, text: str, screen: Screen) -> ShownAnswer:
        """Answer one message, its words as they come. May raise ServerRefused."""
        body = {"message": text, "session_id": self._session_id, "stream": True}
        try:
            async with self._client.stream("POST", "/chat", json=body) as response:
                if response.is_error:
                    await response.aread()
                    raise ServerRefused(_refusal_message(response))
                return await _show_stream(response, screen)
        except httpx.HTTPError as broken:
            raise self._silent(broken) from broken

    async def clear(self) -> None:
        """Forget what was said in the session. Raises ServerRefused: it could not be forgotten."""
        try:
            response = await self._client.delete(f"/chat/sessions/{self._session_id}")
        except httpx.HTTPError as broken:
            raise self._silent(broken) from broken
        if response.is_error:
            raise ServerRefused(_refusal_message(response))

    def _silent(self, broken: httpx.HTTPError) -> ServerRefused:
        why = str(broken) or type(broken).__name__
        return ServerRefused(f"{self.name} does not answer: {why}")


@asynccontextmanager
async def open_remote(url: str, key: str, session_id: str) -> AsyncIterator[RemoteBackend]:
    """Open a connection to the server at `url`, as the holder of `key`."""
    timeout = httpx.Timeout(_ANSWER_S, connect=_CONNECT_S)
    headers = {"X-API-Key": key}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout) as client:
        yield RemoteBackend(client, url, session_id)


async def _show_stream(response: httpx.Response, screen: Screen) -> ShownAnswer:
    """Show the words of a stream of events; its last event has the rest of the answer."""
    content = ""
    async for line in response.aiter_lines():
        if not line.startswith("data: "):
            continue
        event = json.loads(line.removeprefix("data: "))
        match event.get("status"):
            case "streaming":
                content += event["chunk"]
                screen.say(event["chunk"])
            case "reset":
                content = ""
                screen.take_back()
            case "complete":
                return ShownAnswer(event.get("metadata", {}), content=content)
            case "error":
                raise ServerRefused(event["error"]["message"])
    raise ServerRefused("the answer broke off")


def _refusal_message(response: httpx.Response) -> str:
    """Return what an Orbit server says of its refusal, or the status of another server."""
    try:
        message: Any = response.json()["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return f"the server answered with status {response.status_code}"
    return str(message)


Backend = LocalBackend | RemoteBackend
