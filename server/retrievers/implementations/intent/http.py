"""The retriever for libraries of query templates."""

from typing import ClassVar

from server.core.answer import Trace
from server.core.decision import Decision
from server.core.turn import Turn
from server.library.model import TemplateKind
from server.retrievers.base import DeciderDependencies
from server.retrievers.decide import decide


class IntentHTTPRetriever:
    """Matches a question to a template and reads the call's arguments out of it."""

    template_kinds: ClassVar[frozenset[TemplateKind]] = frozenset(("query",))
    """Templates that a library of this retriever may hold; `check` reports others."""

    def __init__(self, parts: DeciderDependencies) -> None:
        self._parts = parts
        parts.extractor.prepare(tuple(parts.library.templates.values()))

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        return await decide(self._parts, turn, trace)

    async def close(self) -> None:
        await self._parts.matcher.close()
