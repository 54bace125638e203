"""Counts of rate limits in memory, by a clock that nobody can set."""

from collections import deque
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final

from limits.storage import MovingWindowSupport, Storage

_SWEEP_EVERY_S: Final = 60.0


class SteadyMemoryStorage(Storage, MovingWindowSupport):
    """What `limits` counts in, without its dependence on the time of day.

    Moments that it returns are those of `clock_s`. What has run out is forgotten once a minute,
    while something is counted.
    """

    STORAGE_SCHEME = None

    def __init__(self, clock_s: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._clock_s = clock_s
        self._lock = Lock()
        self._fixed: dict[str, tuple[int, float]] = {}
        """Counts, and when each begins anew."""
        self._moving: dict[str, tuple[deque[float], float]] = {}
        """Moments of calls, oldest first, and when the last of them has run out."""
        self._sweep_at_s = clock_s() + _SWEEP_EVERY_S

    @property
    def base_exceptions(self) -> type[Exception]:
        return ValueError

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        with self._lock:
            now = self._swept()
            count, ends_s = self._fixed.get(key, (0, 0.0))
            if ends_s <= now:
                count, ends_s = 0, now + expiry
            self._fixed[key] = count + amount, ends_s
            return count + amount

    def get(self, key: str) -> int:
        count, ends_s = self._fixed.get(key, (0, 0.0))
        return count if ends_s > self._clock_s() else 0

    def get_expiry(self, key: str) -> float:
        return max(self._fixed.get(key, (0, 0.0))[1], self._clock_s())

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        with self._lock:
            now = self._swept()
            calls, _ = self._moving.get(key, (deque(), 0.0))
            while calls and calls[0] <= now - expiry:
                calls.popleft()
            if len(calls) + amount > limit:
                return False
            calls.extend([now] * amount)
            self._moving[key] = calls, now + expiry
            return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        with self._lock:
            now = self._clock_s()
            calls, _ = self._moving.get(key, (deque(), 0.0))
            while calls and calls[0] <= now - expiry:
                calls.popleft()
            return (calls[0], min(len(calls), limit)) if calls else (now, 0)

    def check(self) -> bool:
        return True

    def reset(self) -> int:
        with self._lock:
            count = len(self._fixed) + len(self._moving)
            self._fixed.clear()
            self._moving.clear()
            return count

    def clear(self, key: str) -> None:
        with self._lock:
            self._fixed.pop(key, None)
            self._moving.pop(key, None)

    def _swept(self) -> float:
        now = self._clock_s()
        if now >= self._sweep_at_s:
            self._sweep_at_s = now + _SWEEP_EVERY_S
            self._fixed = {key: kept for key, kept in self._fixed.items() if kept[1] > now}
            self._moving = {key: kept for key, kept in self._moving.items() if kept[1] > now}
        return now
