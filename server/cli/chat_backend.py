"""What answers a conversation at the terminal: an adapter in this process, or a server."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from server.adapters.local import ask_once, open_adapter
from server.chat.adapter import Adapter
from server.chat.history import forget_conversation
from server.cli.chat_screen import Screen
from server.client import AsyncClient
from server.conversation.outbox import COMMIT
from server.core.decision import Trace
from server.core.streaming import StreamEvent, StreamListener
from server.core.turn import Caller
from server.settings.models import AdapterSettings, Settings

_ANSWER_S: Final = 120.0
"""A server says something every few seconds, so this much silence means it is gone."""


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

    def __init__(
        self, settings: Settings, adapter: Adapter, caller: Caller, session_id: str
    ) -> None:
        self.name = adapter.name
        self._settings = settings
        self._caller = caller
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
                caller=self._caller,
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
        await forget_conversation(self._adapter, self._caller, self._session_id)


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
    settings: Settings,
    environ: Mapping[str, str],
    adapter: AdapterSettings,
    caller: Caller,
    session_id: str,
) -> AsyncIterator[LocalBackend]:
    """Open an adapter that remembers the session; raise as `open_adapter`."""
    async with open_adapter(settings, environ, adapter, remembers=True) as opened:
        yield LocalBackend(settings, opened, caller, session_id)


class RemoteBackend:
    """Answers the messages of one session by a server."""

    def __init__(self, client: AsyncClient, url: str, session_id: str) -> None:
        self.name = url
        self._client = client
        self._session_id = session_id

    async def answer(self, text: str, screen: Screen) -> ShownAnswer:
        """Answer one message, its words as they come. May raise ClientError."""
        async with self._client.stream(text, session_id=self._session_id) as pieces:
            async for piece in pieces:
                if piece.reset is None:
                    screen.say(piece.text)
                else:
                    screen.take_back()
        return ShownAnswer(pieces.answer.metadata, content=pieces.answer.content)

    async def clear(self) -> None:
        """Forget what was said in the session. Raises ClientError: it could not be forgotten."""
        await self._client.forget(self._session_id)


@asynccontextmanager
async def open_remote(url: str, key: str, session_id: str) -> AsyncIterator[RemoteBackend]:
    """Open a connection to the server at `url`, as the holder of `key`."""
    async with AsyncClient(url, key, timeout_s=_ANSWER_S) as client:
        yield RemoteBackend(client, url, session_id)


Backend = LocalBackend | RemoteBackend
