"""Answers kept for a while, so that the same GET need not travel twice."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from server.tools.http.body import Received
from server.tools.http.request import FilledRequest

_MAX_ENTRIES: Final = 512
_MAX_BYTES: Final = 32_000_000


class AnswerCache:
    """The latest answers of one adapter, the oldest dropped first.

    An answer is kept under its whole request, headers and key included, so that what
    one identity may see is never given to another.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._entries: OrderedDict[FilledRequest, tuple[float, Received]] = OrderedDict()
        self._bytes = 0

    def get(self, request: FilledRequest) -> Received | None:
        """The answer that is still fresh, or None."""
        entry = self._entries.get(request)
        if entry is None:
            return None
        until, received = entry
        if self._clock() >= until:
            self._drop(request)
            return None
        return received

    def put(self, request: FilledRequest, received: Received, ttl_s: float) -> None:
        """Keep an answer for `ttl_s` seconds."""
        self._drop(request)
        self._entries[request] = (self._clock() + ttl_s, received)
        self._bytes += len(received.body)
        while len(self._entries) > _MAX_ENTRIES or self._bytes > _MAX_BYTES:
            self._drop(next(iter(self._entries)))

    def _drop(self, request: FilledRequest) -> None:
        entry = self._entries.pop(request, None)
        if entry is not None:
            self._bytes -= len(entry[1].body)
