"""An adapter that is open: everything one turn needs, in one place."""

from dataclasses import dataclass, field
from typing import Any

from server.chat.compose import Composer
from server.core.ports import Retriever
from server.intents.opening import Detect
from server.library.model import Library
from server.tools.executor import ToolExecutor


@dataclass(frozen=True, slots=True)
class Adapter:
    """`details` is what readiness reports about it: counts, encoder, what was re-embedded.

    `detect` is how its rule pack reads a question, for an adapter that has one.
    """

    name: str
    library: Library
    retriever: Retriever
    executor: ToolExecutor
    composer: Composer
    tool_timeout_s: float
    verbose: bool = False
    detect: Detect | None = None
    details: dict[str, Any] = field(default_factory=dict)

    async def close(self) -> None:
        await self.retriever.close()
        await self.executor.aclose()
