"""Who answers a conversation at the terminal: an adapter in process, or a server."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Future, wait
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Protocol

import httpx
from anyio.from_thread import BlockingPortal

from server.adapters.local import ask_once, forget_session, open_adapter
from server.chat.adapter import Adapter
from server.chat.streaming import Listening, StreamEvent
from server.cli.output import Progress
from server.core.answer import Trace
from server.errors import OrbitError
from server.settings.models import AdapterSettings, Settings


class Hearer(Protocol):
    """Takes an answer as it comes, from the thread of the event loop."""

    def say(self, words: str) -> None:
        """The next words."""

    def take_back(self) -> None:
        """The words so far are no answer; those that are follow."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer whose words were said already.

    `trace` is None where whoever answered keeps it to themselves.
    """

    metadata: Mapping[str, Any] = field(default_factory=dict)
    trace: Trace | None = None

    @property
    def waits_for_yes(self) -> bool:
        """Whether something was proposed that a yes or a no settles."""
        proposal = self.metadata.get("proposal") or {}
        return bool(proposal.get("status") == "held")


class Partner(Protocol):
    """Answers the messages of one session, one at a time."""

    @property
    def name(self) -> str:
        """The adapter or the address, for people."""

    async def answer(self, text: str, hearer: Hearer) -> Answered:
        """Answer one message, its words as they come.

        Raises:
            OrbitError: there is no answer; the message says why.
        """

    async def clear(self) -> None:
        """Forget what was said in the session.

        Raises:
            OrbitError: it could not be forgotten.
        """


_QUICK_S: Final = 0.5
"""What is opened in this time needs no line that says so."""
_REDRAW_S: Final = 0.2


class Opened:
    """Opens a partner on entering, and closes it on leaving, in one task of the loop."""

    def __init__(
        self, portal: BlockingPortal, partner: AbstractAsyncContextManager[Partner]
    ) -> None:
        self._portal = portal
        self._partner = partner
        self._leaving = asyncio.Event()
        self._ready: Future[Partner] = Future()
        self._whole: Future[None] | None = None

    def __enter__(self) -> Partner:
        """Wait until it is open, saying so when that takes long.

        Raises:
            Whatever opening it raises.
        """
        self._whole = self._portal.start_task_soon(self._keep_open)
        if not wait([self._ready], _QUICK_S).done:
            with Progress("Opening") as progress:
                while not wait([self._ready], _REDRAW_S).done:
                    progress.show()
        return self._ready.result()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._portal.call(self._leaving.set)
        if self._whole is not None:
            self._whole.result()

    async def _keep_open(self) -> None:
        try:
            async with self._partner as partner:
                self._ready.set_result(partner)
                await self._leaving.wait()
        except BaseException as failed:
            if self._ready.done():
                raise
            self._ready.set_exception(failed)


class Here:
    def __init__(self, settings: Settings, adapter: Adapter, session_id: str) -> None:
        self._settings = settings
        self._adapter = adapter
        self._session_id = session_id

    @property
    def name(self) -> str:
        return self._adapter.name

    async def answer(self, text: str, hearer: Hearer) -> Answered:
        listening = Listening()
        telling = asyncio.create_task(_tell(listening, hearer))
        try:
            answer = await ask_once(
                self._settings,
                self._adapter,
                text,
                self._session_id,
                continues=True,
                listening=listening,
            )
        finally:
            telling.cancel()
        while not listening.events.empty():
            _pass_on(listening.events.get_nowait(), hearer)
        # The answer is what counts; mostly it was heard already.
        if not answer.content.startswith(listening.spoken):
            hearer.take_back()
            listening.spoken = ""
        hearer.say(answer.content[len(listening.spoken) :])
        return Answered(answer.metadata, answer.trace)

    async def clear(self) -> None:
        await forget_session(self._settings, self._adapter, self._session_id)


async def _tell(listening: Listening, hearer: Hearer) -> None:
    """Pass words on as they are spoken, until it is cancelled."""
    while True:
        _pass_on(await listening.events.get(), hearer)


def _pass_on(heard: StreamEvent, hearer: Hearer) -> None:
    if heard.kind == "said":
        hearer.say(heard.text)
    else:
        hearer.take_back()


@asynccontextmanager
async def here(
    settings: Settings, environ: Mapping[str, str], adapter: AdapterSettings, session_id: str
) -> AsyncIterator[Here]:
    """The adapter, open; it remembers the session.

    Raises:
        ConfigurationInvalid, ProviderError, PluginInvalid, StoreUnavailable.
    """
    async with open_adapter(settings, environ, adapter, remembers=True) as opened:
        yield Here(settings, opened, session_id)


_CONNECT_S: Final = 10.0
_ANSWER_S: Final = 120.0
"""A server says something every few seconds, so this much silence means it is gone."""


class ServerRefused(OrbitError):
    """The server did not answer; the message is its own."""

    code = "server_refused"


class Remote:
    def __init__(self, client: httpx.AsyncClient, url: str, session_id: str) -> None:
        self._client = client
        self._url = url
        self._session_id = session_id

    @property
    def name(self) -> str:
        return self._url

    async def answer(self, text: str, hearer: Hearer) -> Answered:
        body = {"message": text, "session_id": self._session_id, "stream": True}
        try:
            async with self._client.stream("POST", "/chat", json=body) as response:
                if response.is_error:
                    await response.aread()
                    raise ServerRefused(_why(response))
                return await _told(response, hearer)
        except httpx.HTTPError as broken:
            raise ServerRefused(f"{self._url} does not answer: {_kind(broken)}") from broken

    async def clear(self) -> None:
        try:
            response = await self._client.delete(f"/chat/sessions/{self._session_id}")
        except httpx.HTTPError as broken:
            raise ServerRefused(f"{self._url} does not answer: {_kind(broken)}") from broken
        if response.is_error:
            raise ServerRefused(_why(response))


@asynccontextmanager
async def remote(url: str, key: str, session_id: str) -> AsyncIterator[Remote]:
    """A connection to the server at `url`, as the holder of `key`."""
    timeout = httpx.Timeout(_ANSWER_S, connect=_CONNECT_S)
    headers = {"X-API-Key": key}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout) as client:
        yield Remote(client, url, session_id)


async def _told(response: httpx.Response, hearer: Hearer) -> Answered:
    """Say the words of a stream of events; its last event is the answer without them."""
    async for line in response.aiter_lines():
        if not line.startswith("data: "):
            continue
        event = json.loads(line.removeprefix("data: "))
        match event.get("status"):
            case "streaming":
                hearer.say(event["chunk"])
            case "reset":
                hearer.take_back()
            case "complete":
                return Answered(event.get("metadata", {}))
            case "error":
                raise ServerRefused(event["error"]["message"])
    raise ServerRefused("the answer broke off")


def _why(response: httpx.Response) -> str:
    """What the server says of its refusal; of what is no Orbit server, its status."""
    try:
        failure: Any = response.json()["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return f"the server answered with status {response.status_code}"
    return str(failure)


def _kind(broken: httpx.HTTPError) -> str:
    return str(broken) or type(broken).__name__
