"""An adapter that is open: everything one turn needs, in one place."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from server.chat.compose import Composer
from server.core.intent import Intent
from server.core.ports import Retriever
from server.library.model import Library
from server.tools.policy.chain import PolicyChain


@dataclass(frozen=True, slots=True)
class Adapter:
    """`details` is what readiness reports about it: counts, encoder, what was re-embedded."""

    name: str
    library: Library
    retriever: Retriever
    chain: PolicyChain
    composer: Composer
    tool_timeout_s: float
    detect: Callable[[str, datetime], Intent] | None = None
    """What the adapter's rule pack makes of a question, for adapters that have one."""
    rate_limits: tuple[str, ...] = ()
    """How often all keys together may ask it."""
    verbose: bool = False
    details: dict[str, Any] = field(default_factory=dict)

    async def close(self) -> None:
        await self.retriever.close()
        await self.chain.aclose()
