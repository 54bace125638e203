"""The retrievers that ship, by what their libraries hold and who chooses the template."""

from dataclasses import replace
from typing import ClassVar

from server.core.decision import ClarifyingQuestion, Decision, Match, NoMatch, Trace
from server.core.ports import Decider
from server.core.turn import Turn
from server.library.model import TemplateKind
from server.retrievers.base import TemplateRetriever, call_or_ask
from server.retrievers.requests import write_objection


class IntentAgentRetriever(TemplateRetriever):
    """For libraries of tools, which may hold query templates as well."""


class IntentHTTPRetriever(TemplateRetriever):
    """For libraries of query templates."""

    template_kinds: ClassVar[frozenset[TemplateKind]] = frozenset(("query",))


class IntentPackRetriever(TemplateRetriever):
    """For adapters whose rule pack decides: its intent allows tools, its entities fill them.

    One tool is taken as it is; among several, the templates' examples decide.
    """

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        """Decide by the intent of the turn.

        Raises:
            ProviderError: examples have to be compared, and cannot be embedded.
        """
        parts, intent = self._parts, turn.intent
        if intent is None:
            return NoMatch("no intent")
        named = (parts.intent_tools or {}).get(intent.name, ())
        allowed = tuple(name for name in named if name in parts.library.templates)
        if not allowed:
            why = f"nothing is done for the intent {intent.name}"
            return NoMatch(why, objection="model" if intent.by_model else "")
        with trace.stage("choose") as details:
            template_id, similarity, nearest = await self._choose(turn.text, allowed)
            details |= {"template_id": template_id, "among": list(allowed)}
        with trace.stage("extract") as details:
            template = parts.library.templates[template_id]
            reading = parts.extractor.read(turn.text, turn.received_at.astimezone())
            found = parts.extractor.extract_from(reading, template, intent=intent)
            coverage = replace(parts.extractor.cover(reading, template, found), ruled=True)
            details |= {
                "template_id": template_id,
                "arguments": dict(found.arguments),
                "missing": [missing.name for missing in found.missing],
            }
        why = intent.explanation or f"the intent {intent.name}, by {intent.method}"
        match = Match(template_id, intent.confidence, similarity, why, nearest)
        against = write_objection(parts.extractor, template, turn, by_rule=True)
        if against is not None:
            spoken = f"“{against.words}” speaks against {template_id}"
            return NoMatch(spoken, (match,), (against.words,), against.kind, coverage)
        return call_or_ask(parts, match, found, coverage, turn.languages)

    async def _choose(self, text: str, allowed: tuple[str, ...]) -> tuple[str, float, str]:
        """The id of the template, how near its nearest example is, and that example."""
        if len(allowed) > 1:
            every = len(self._parts.library.templates)
            ranking = await self._parts.matcher.rank(text, limit=every)
            for candidate in ranking.candidates:
                if candidate.template_id in allowed:
                    return candidate.template_id, candidate.similarity, candidate.nearest_example
        return allowed[0], 0.0, ""


class PackQuestionDecider:
    """Asks back what the rule pack has to know first, and leaves the rest to the next decider."""

    def __init__(self, following: Decider) -> None:
        self._following = following

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        """Decide; raises what the next decider raises."""
        intent = turn.intent
        if intent is not None and intent.ask:
            return ClarifyingQuestion(intent.ask, intent.confidence, intent.explanation)
        return await self._following.decide(turn, trace)

    async def close(self) -> None:
        await self._following.close()
