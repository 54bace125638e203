"""Names that one at a time may have, such as a link that signs in once."""

from collections.abc import Callable
from time import monotonic
from typing import Final, Literal

Claim = Literal["taken", "held", "full"]
"""Whether a name was taken just now, is held already, or there are too many to tell."""

_MOST: Final = 100_000


class MemoryClaims:
    """Claims in the memory of one process. A name means something only together with its kind."""

    def __init__(self, clock_s: Callable[[], float] = monotonic, *, most: int = _MOST) -> None:
        self._clock_s = clock_s
        self._most = most
        self._held: dict[str, dict[str, float]] = {}
        """When each name is free again, by kind."""

    async def claim(self, kind: str, name: str, *, for_s: float | None = None) -> Claim:
        return self.claim_now(kind, name, for_s)

    async def release(self, kind: str, name: str) -> None:
        self.release_now(kind, name)

    async def is_claimed(self, kind: str, name: str) -> bool:
        return self.is_claimed_now(kind, name)

    def claim_now(self, kind: str, name: str, for_s: float | None) -> Claim:
        held, now = self._held.setdefault(kind, {}), self._clock_s()
        if held.get(name, now) > now:
            return "held"
        if len(held) >= self._most:
            self._held[kind] = held = {n: end for n, end in held.items() if end > now}
            if len(held) >= self._most:
                return "full"
        held[name] = now + (float("inf") if for_s is None else for_s)
        return "taken"

    def release_now(self, kind: str, name: str) -> None:
        self._held.get(kind, {}).pop(name, None)

    def is_claimed_now(self, kind: str, name: str) -> bool:
        return self._held.get(kind, {}).get(name, 0.0) > self._clock_s()
