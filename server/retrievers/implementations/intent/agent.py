"""The retriever for libraries of tools."""

from server.core.decision import Decision
from server.core.trace import Trace
from server.core.turn import Turn
from server.retrievers.base import RetrieverParts
from server.retrievers.implementations.intent.deciding import decide


class IntentAgentRetriever:
    """Matches a question to a template and reads the call's arguments out of it."""

    def __init__(self, parts: RetrieverParts) -> None:
        self._parts = parts
        parts.extractor.prepare(tuple(parts.library.templates.values()))

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        return await decide(self._parts, turn, trace)

    async def close(self) -> None:
        await self._parts.matcher.close()
