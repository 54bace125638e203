"""How the matchers of several processes go together: what one learns, the others read."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from server.storage.artefacts import ArtefactStore
from server.storage.process_locks import ProcessLocks


@dataclass(frozen=True, slots=True)
class Coordination:
    """What keeps processes out of each other's way; `artefacts` reach other machines too."""

    locks: ProcessLocks | None = None
    artefacts: ArtefactStore | None = None

    @asynccontextmanager
    async def alone(self, what: str, *, here: bool = False) -> AsyncIterator[None]:
        """Do `what` while no other process does, or none `here`, on this machine."""
        if self.locks is None:
            yield
            return
        locks = self.locks.of_machine() if here else self.locks
        async with locks.held(what):
            yield


ALONE: Final = Coordination()
