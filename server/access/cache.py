"""Keys that were verified a moment ago, so that a busy client costs no SQL."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from server.access.records import KeyRecord

_MOST: Final = 10_000


@dataclass(frozen=True, slots=True)
class _Entry:
    record: KeyRecord
    stale_at_s: float


class VerifiedKeys:
    """Records by digest, each for `ttl_s` seconds, the least recently used dropped first.

    `generation` grows with every change to a key. Who reads a record from SQL notes
    it first and hands it back with the record: a record read before a revoke is then
    not remembered after it.
    """

    def __init__(self, ttl_s: float, clock_s: Callable[[], float]) -> None:
        self.generation = 0
        self._ttl_s = ttl_s
        self._clock_s = clock_s
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()

    def get(self, digest: bytes) -> KeyRecord | None:
        entry = self._entries.get(digest)
        if entry is None:
            return None
        if entry.stale_at_s <= self._clock_s():
            del self._entries[digest]
            return None
        self._entries.move_to_end(digest)
        return entry.record

    def put(self, digest: bytes, record: KeyRecord, generation: int) -> None:
        if generation != self.generation:
            return
        self._entries[digest] = _Entry(record, self._clock_s() + self._ttl_s)
        self._entries.move_to_end(digest)
        while len(self._entries) > _MOST:
            self._entries.popitem(last=False)

    def forget(self) -> None:
        """Forget everything: changes are rare, and one read each brings the rest back."""
        self.generation += 1
        self._entries.clear()
