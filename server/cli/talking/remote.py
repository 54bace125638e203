"""A running server as the partner, over HTTP."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx

from server.cli.talking.partner import Answered, Hearer
from server.errors import OrbitError

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
