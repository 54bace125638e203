"""The retriever for adapters whose rule pack decides what a question asks for."""

from server.core.answer import Trace
from server.core.decision import Call, Decision, Match, MissingArguments, NoMatch
from server.core.turn import Turn
from server.library.model import Template
from server.retrievers.base import DeciderDependencies


class IntentPackRetriever:
    """Intent first: its tools are all that can be chosen from, its entities are arguments.

    One tool is taken as it is; among several, the templates' examples decide.
    """

    def __init__(self, parts: DeciderDependencies) -> None:
        self._parts = parts
        parts.extractor.prepare(tuple(parts.library.templates.values()))

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        """Raises `ProviderError` when it has to compare examples and cannot."""
        intent = turn.intent
        named = (self._parts.intent_tools or {}).get(intent.name, ()) if intent else ()
        allowed = tuple(name for name in named if name in self._parts.library.templates)
        if intent is None or not allowed:
            why = f"nothing is done for the intent {intent.name}" if intent else "no intent"
            return NoMatch(why)
        with trace.stage("choose") as details:
            template, similarity, nearest = await self._chosen(turn.text, allowed)
            match = Match(
                template.id,
                intent.confidence,
                similarity,
                intent.explanation or f"the intent {intent.name}, by {intent.method}",
                nearest,
            )
            details |= {"template_id": template.id, "among": list(allowed)}
        with trace.stage("extract") as details:
            now = turn.received_at.astimezone()
            found = self._parts.extractor.extract(turn.text, template, now=now, intent=intent)
            details |= {
                "template_id": template.id,
                "arguments": dict(found.arguments),
                "missing": [missing.name for missing in found.missing],
            }
        if found.missing:
            return MissingArguments(match, found.missing, found.arguments, found.sources)
        return Call(match, template.call(found.arguments, found.sources))

    async def close(self) -> None:
        await self._parts.matcher.close()

    async def _chosen(self, text: str, allowed: tuple[str, ...]) -> tuple[Template, float, str]:
        """The template, how near its nearest example is, and that example."""
        templates = self._parts.library.templates
        if len(allowed) > 1:
            ranking = await self._parts.matcher.rank(text, limit=len(templates))
            for candidate in ranking.candidates:
                if candidate.template_id in allowed:
                    template = templates[candidate.template_id]
                    return template, candidate.similarity, candidate.nearest_example
        return templates[allowed[0]], 0.0, ""
