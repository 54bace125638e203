"""JSON over HTTP to a provider, whole or as server-sent events, within bounds."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx

MAX_ANSWER_BYTES: Final = 8 * 2**20
"""A reply is some thousand words; whatever is longer than this is none."""

_REASON_CHARS: Final = 4000


class ProviderRefusal(Exception):
    """A status that is no success. `reason` is the server's own words, not to be shown."""

    def __init__(self, status: int, reason: str, retry_after: str | None) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


class JsonHttp:
    """Posts JSON and reads JSON.

    Raises what httpx raises, `Refusal`, and `ValueError` for what is no JSON or too long.
    """

    def __init__(self, *, headers: Mapping[str, str], timeout_s: float) -> None:
        self._client = httpx.AsyncClient(headers=dict(headers), timeout=timeout_s)

    async def post(self, url: str, body: Mapping[str, Any]) -> Any:
        """The answer to one request."""
        async with self._answered(url, body) as response:
            return json.loads(await _whole(response))

    async def events(self, url: str, body: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
        """The `data` of each server-sent event as JSON, but for the closing `[DONE]`."""
        async with self._answered(url, body) as response:
            async for line in _lines(response):
                if line.startswith(b"data:"):
                    data = line[5:].strip()
                    if data == b"[DONE]":
                        return
                    yield json.loads(data)

    async def close(self) -> None:
        await self._client.aclose()

    @asynccontextmanager
    async def _answered(self, url: str, body: Mapping[str, Any]) -> AsyncIterator[httpx.Response]:
        async with self._client.stream("POST", url, json=body) as response:
            if not response.is_success:
                reason = (await _whole(response))[:_REASON_CHARS].decode(errors="replace")
                raise ProviderRefusal(
                    response.status_code, reason, response.headers.get("retry-after")
                )
            yield response


async def _whole(response: httpx.Response) -> bytes:
    parts = bytearray()
    async for part in response.aiter_bytes():
        parts += part
        if len(parts) > MAX_ANSWER_BYTES:
            raise ValueError("too long")
    return bytes(parts)


async def _lines(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """Lines as the protocol has them: text may hold what Python calls a line's end."""
    kept = b""
    heard = 0
    async for part in response.aiter_bytes():
        heard += len(part)
        if heard > MAX_ANSWER_BYTES:
            raise ValueError("too long")
        *lines, kept = (kept + part).split(b"\n")
        for line in lines:
            yield line.rstrip(b"\r")
    if kept:
        yield kept
