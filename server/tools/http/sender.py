"""One call over the wire: bounded in time, size, redirects and retries."""

import asyncio
from typing import Final

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_exponential, wait_random

from server.errors import ToolFailed, ToolTimedOut
from server.library.http_model import IDEMPOTENT, HttpService
from server.tools.http.failures import (
    TryAgain,
    from_status,
    from_transport,
    is_refused,
    retry_after_s,
)
from server.tools.http.request import FilledRequest
from server.tools.http.response import BodyUnusable, Received, read_limited

_TOO_MANY_REQUESTS: Final = 429
_PASSING_FAULTS: Final = frozenset((502, 503, 504))
_MAX_BACKOFF_S: Final = 5.0
_ERROR_BODY_BYTES: Final = 16_384


class Sender:
    """Sends the calls of one adapter over its pool, so many at a time."""

    def __init__(self, client: httpx.AsyncClient, *, max_concurrency: int) -> None:
        self._client = client
        self._slots = asyncio.Semaphore(max_concurrency)

    async def send(
        self,
        request: FilledRequest,
        service: HttpService,
        *,
        deadline: float,
        secrets: tuple[str, ...] = (),
    ) -> Received:
        """Return the answer once its status is 2xx and its body is in.

        `deadline` is a time of the running loop's clock. It bounds everything: waiting
        for a free slot, connecting, every try, the pauses between, and a body that
        drips in byte by byte.

        Raises:
            ToolTimedOut: the deadline passed.
            ToolFailed: any other reason, in words.
        """
        exchange = _Exchange(self._client, self._slots, request, service, secrets)
        try:
            async with asyncio.timeout_at(deadline):
                return await _retrying(service, deadline)(exchange.run)
        except TryAgain as last:
            raise last.failure from last.__cause__
        except TimeoutError:
            raise ToolTimedOut(f"{request.host} did not answer in time") from None


class _Exchange:
    """One request and its redirects, to be run once for each try."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        slots: asyncio.Semaphore,
        request: FilledRequest,
        service: HttpService,
        secrets: tuple[str, ...],
    ) -> None:
        self._client = client
        self._slots = slots
        self._request = request
        self._service = service
        self._secrets = secrets

    async def run(self) -> Received:
        """Raises `TryAgain` where sending the same once more may help."""
        try:
            async with self._slots:
                received = await self._follow(self._build())
        except httpx.TransportError as error:
            failure = from_transport(self._request.host, error)
            if self._may_repeat(error):
                raise TryAgain(failure) from error
            raise failure from error
        except BodyUnusable as unusable:
            raise ToolFailed(f"{self._request.host} {unusable}") from unusable
        if 200 <= received.status < 300:
            return received
        failure = from_status(received, self._secrets)
        if received.status == _TOO_MANY_REQUESTS or (
            received.status in _PASSING_FAULTS and self._request.method in IDEMPOTENT
        ):
            raise TryAgain(failure, retry_after_s(received.headers))
        raise failure

    def _build(self) -> httpx.Request:
        request = self._request
        try:
            return self._client.build_request(
                request.method, request.url, headers=request.headers, content=request.content
            )
        except (httpx.InvalidURL, UnicodeEncodeError) as error:
            # Addresses and headers are checked when they are filled, so this is rare: an
            # address that is too long, or a secret that no header can hold.
            raise ToolFailed(f"the call to {request.host} cannot be written down") from error

    async def _follow(self, request: httpx.Request) -> Received:
        for _ in range(self._service.max_redirects + 1):
            response = await self._client.send(request, stream=True)
            try:
                following = response.next_request
                if following is None:
                    return await self._receive(response)
            finally:
                await response.aclose()
            self._check_redirect(request.url, following.url)
            request = following
        raise ToolFailed(f"{self._request.host} redirected too often")

    async def _receive(self, response: httpx.Response) -> Received:
        limit = self._service.max_response_bytes
        if response.is_success:
            body = await read_limited(response, limit)
        else:
            try:
                body = await read_limited(response, min(limit, _ERROR_BODY_BYTES))
            except BodyUnusable:
                body = b""  # the status alone says enough
        return Received(self._request.host, response.status_code, response.headers, body)

    def _check_redirect(self, here: httpx.URL, there: httpx.URL) -> None:
        same_port = here.port == there.port or (here.port, there.port) == (None, None)
        upgraded = (here.scheme, there.scheme) == ("http", "https")
        if there.host == here.host and (
            (there.scheme == here.scheme and same_port) or (upgraded and there.port is None)
        ):
            return
        raise ToolFailed(f"{self._request.host} redirected to another host, which is not followed")

    def _may_repeat(self, error: httpx.TransportError) -> bool:
        # A connection that never stood has carried nothing, whatever the method.
        never_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError) or is_refused(
            error
        ):
            return False
        return never_sent or self._request.method in IDEMPOTENT


def _retrying(service: HttpService, deadline: float) -> AsyncRetrying:
    backoff = wait_exponential(multiplier=service.backoff_s, max=_MAX_BACKOFF_S)
    jitter = wait_random(0, service.backoff_s)

    def pause_s(state: RetryCallState) -> float:
        return max(_asked_s(state), backoff(state)) + jitter(state)

    def too_late(state: RetryCallState) -> bool:
        # Waiting past the deadline would only turn a clear refusal into a timeout.
        return asyncio.get_running_loop().time() + state.upcoming_sleep >= deadline

    tries = stop_after_attempt(service.retries + 1)
    return AsyncRetrying(
        retry=retry_if_exception_type(TryAgain),
        wait=pause_s,
        stop=lambda state: tries(state) or too_late(state),
        reraise=True,
    )


def _asked_s(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return error.after_s if isinstance(error, TryAgain) else 0.0
