"""JSON over HTTP to a provider, whole or as server-sent events, within bounds."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import httpx

from server.providers.failures import refused, translated

MAX_ANSWER_BYTES: Final = 8 * 2**20
"""A reply is some thousand words; what is longer than this is not a reply."""

_REASON_CHARS: Final = 4000


class ProviderRefusal(Exception):
    """A status that is not a success. `reason` is in the server's own words, not to be shown."""

    def __init__(self, status: int, reason: str, retry_after: str | None) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


Body = dict[str, Any]
MakeBody = Callable[[], Body]
Learn = Callable[[ProviderRefusal, Body], bool]
"""Whether another try, without what was refused, is worth it."""


class JsonHttp:
    """Posts JSON and reads JSON.

    A request is made by `make_body`, and made again as long as `learn` finds a reason to.
    Raises what httpx raises, `ProviderRefusal`, and `ValueError` for what is too long or
    not JSON.
    """

    def __init__(self, *, headers: Mapping[str, str], timeout_s: float) -> None:
        self._client = httpx.AsyncClient(headers=dict(headers), timeout=timeout_s)

    async def post(self, url: str, make_body: MakeBody, learn: Learn) -> Any:
        """Return the answer to one request."""
        async with self._response(url, make_body, learn) as response:
            return json.loads(await _read(response))

    async def events(
        self, url: str, make_body: MakeBody, learn: Learn
    ) -> AsyncGenerator[Any, None]:
        """Yield the `data` of each server-sent event as JSON, but for the closing `[DONE]`."""
        async with self._response(url, make_body, learn) as response:
            async for line in _read_lines(response):
                if line.startswith(b"data:"):
                    data = line[5:].strip()
                    if data == b"[DONE]":
                        return
                    yield json.loads(data)

    async def close(self) -> None:
        await self._client.aclose()

    @asynccontextmanager
    async def _response(
        self, url: str, make_body: MakeBody, learn: Learn
    ) -> AsyncIterator[httpx.Response]:
        while True:
            body = make_body()
            async with self._client.stream("POST", url, json=body) as response:
                if response.is_success:
                    yield response
                    return
                reason = (await _read(response))[:_REASON_CHARS].decode(errors="replace")
            retry_after = response.headers.get("retry-after")
            refusal = ProviderRefusal(response.status_code, reason, retry_after)
            if not learn(refusal, body):
                raise refusal


@contextmanager
def provider_errors(
    provider: str, *, model: str, missing_hint: str, key_hint: str
) -> Iterator[None]:
    """Turn whatever goes wrong with a reply inside into a `ProviderError`."""
    with translated(provider, expected="reply"):
        try:
            yield
        except ProviderRefusal as refusal:
            # A wrong key is a bad request to Gemini.
            status = 401 if "API_KEY_INVALID" in refusal.reason else refusal.status
            raise refused(
                provider,
                status,
                model=model,
                missing_hint=missing_hint,
                key_hint=key_hint,
                retry_after=refusal.retry_after,
            ) from None
        except AttributeError:  # a list where an object should be
            raise TypeError from None


async def _read(response: httpx.Response) -> bytes:
    parts = bytearray()
    async for part in response.aiter_bytes():
        parts += part
        if len(parts) > MAX_ANSWER_BYTES:
            raise ValueError("too long")
    return bytes(parts)


async def _read_lines(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """Yield lines as the protocol ends them; Python knows more ends of a line."""
    kept = b""
    read = 0
    async for part in response.aiter_bytes():
        read += len(part)
        if read > MAX_ANSWER_BYTES:
            raise ValueError("too long")
        *lines, kept = (kept + part).split(b"\n")
        for line in lines:
            yield line.rstrip(b"\r")
    if kept:
        yield kept
