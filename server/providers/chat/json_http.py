"""Chat models behind JSON over HTTP, whole or as server-sent events, within bounds."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from server.errors import ProviderRejected
from server.providers.failures import ProviderUnreachable, refused, translated
from server.providers.spec import ChatOptions

MAX_ANSWER_BYTES: Final = 8 * 2**20
"""A reply is some thousand words; what is longer than this is not a reply."""

_REASON: Final = re.compile(r"[A-Z_]{2,40}")
_REASON_CHARS: Final = 4000

Body = dict[str, Any]


class ProviderRefusal(Exception):
    """A status that is not a success. `reason` is in the server's own words, not to be shown."""

    def __init__(self, status: int, reason: str, retry_after: str | None) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


class HttpChat(ABC):
    """Posts JSON and reads JSON.

    A request is made by `make_body`, and made again as long as `_learn` finds a reason to.
    """

    def __init__(
        self,
        provider: str,
        model: str,
        options: ChatOptions,
        *,
        base_url: str,
        headers: Mapping[str, str],
        missing_hint: str,
    ) -> None:
        self.name = f"{provider}:{model}"
        self._model = model
        self._described = (
            f"chat provider {provider!r} at {urlsplit(base_url).netloc.rpartition('@')[2]}"
        )
        self._missing_hint = missing_hint
        self._key_hint = f"set {provider.upper()}_API_KEY or models.{provider}.api_key"
        self._temperature = options.temperature
        self._max_tokens = options.max_tokens
        self._client = httpx.AsyncClient(headers=dict(headers), timeout=options.timeout_s)

    async def close(self) -> None:
        await self._client.aclose()

    @abstractmethod
    def _learn(self, refusal: ProviderRefusal, body: Body) -> bool:
        """Return whether to try again, without what was refused."""

    async def _post(self, url: str, make_body: Callable[[], Body]) -> Any:
        async with self._response(url, make_body) as response:
            return json.loads(await _read(response))

    async def _events(self, url: str, make_body: Callable[[], Body]) -> AsyncGenerator[Any, None]:
        """Yield the `data` of each server-sent event as JSON, but for the closing `[DONE]`."""
        async with self._response(url, make_body) as response:
            async for line in _read_lines(response):
                if line.startswith(b"data:"):
                    data = line[5:].strip()
                    if data == b"[DONE]":
                        return
                    yield json.loads(data)

    @asynccontextmanager
    async def _response(
        self, url: str, make_body: Callable[[], Body]
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
            if not self._learn(refusal, body):
                raise refusal

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn whatever goes wrong with a reply inside into a `ProviderError`."""
        with translated(self._described, expected="reply"):
            try:
                yield
            except ProviderRefusal as refusal:
                # A wrong key is a bad request to Gemini.
                status = 401 if "API_KEY_INVALID" in refusal.reason else refusal.status
                raise refused(
                    self._described,
                    status,
                    model=self._model,
                    missing_hint=self._missing_hint,
                    key_hint=self._key_hint,
                    retry_after=refusal.retry_after,
                ) from None
            except AttributeError:  # a list where an object should be
                raise TypeError from None

    def _declined(self, reason: object = None) -> ProviderRejected:
        named = isinstance(reason, str) and _REASON.fullmatch(reason)
        return ProviderRejected(
            f"{self._described} declined to answer{f' ({reason})' if named else ''}"
        )

    def _broken_off(self) -> ProviderUnreachable:
        return ProviderUnreachable(f"{self._described} broke off in the middle of an answer")


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
