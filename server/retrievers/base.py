"""What retrievers are built from, and how most decide: match, extract, choose."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from server.core.decision import Call, Clarify, Decision, Match, MissingArguments, NoMatch, Trace
from server.core.turn import Turn
from server.extraction.extractor import Extractor
from server.extraction.values import Extraction, note_ambiguous_dates
from server.library.model import Library, TemplateKind
from server.matching.matcher import Matcher
from server.matching.selection import Ranking, choose_template, in_reach, is_settled


@dataclass(frozen=True, slots=True)
class DeciderDependencies:
    """An open library and the two readers over it, with the adapter's own settings.

    `implementation:` names a class that is called with exactly one of these, and that
    has the methods of `server.core.ports.Decider`.
    """

    adapter: str
    library: Library
    matcher: Matcher
    extractor: Extractor
    confidence_threshold: float
    max_templates: int
    clarify_margin: float
    intent_tools: Mapping[str, tuple[str, ...]] | None = None
    """The templates that each intent allows, where the adapter says so."""


class TemplateRetriever:
    """Matches a question to a template and reads the call's arguments out of it."""

    template_kinds: ClassVar[frozenset[TemplateKind]] = frozenset(("function", "query"))
    """Templates that a library of this retriever may hold; `check` reports others."""

    def __init__(self, parts: DeciderDependencies) -> None:
        self._parts = parts
        parts.extractor.prepare(tuple(parts.library.templates.values()))

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        """Decide what a question asks for.

        Raises:
            ProviderError: the question could not be embedded.
            IndexUnavailable: the vector store is the search, and cannot be used.
        """
        parts = self._parts
        with trace.stage("match") as details:
            ranking = await parts.matcher.rank(turn.text, limit=parts.max_templates)
            details["candidates"] = [
                {
                    "template_id": each.template_id,
                    "probability": round(each.probability, 4),
                    "similarity": round(each.similarity, 4),
                    "nearest_example": each.nearest_example,
                }
                for each in ranking.candidates
            ]
            details["outside"] = round(ranking.out_of_scope, 4)
            details["compared_as"] = list(ranking.readings)
        with trace.stage("extract") as details:
            extractions = self._extract_candidates(turn, ranking)
            details["found"] = [
                {
                    "template_id": template_id,
                    "arguments": dict(found.arguments),
                    "missing": [missing.name for missing in found.missing],
                    "unused": list(found.grounding.unused),
                }
                for template_id, found in extractions.items()
            ]
        with trace.stage("choose") as details:
            chosen = choose_template(
                ranking,
                {name: found.grounding for name, found in extractions.items()},
                floor=parts.confidence_threshold,
                margin=parts.clarify_margin,
            )
            if isinstance(chosen, Clarify):
                ids = [option.template_id for option in chosen.options]
                why = chosen.options[0].why
                details |= {"decision": "ask which is meant", "options": ids, "why": why}
                return chosen
            if isinstance(chosen, NoMatch):
                details |= {"decision": "nothing fits", "why": chosen.why}
                return chosen
            decision = call_or_ask(parts, chosen, extractions[chosen.template_id])
            verb = "call" if isinstance(decision, Call) else "ask for what is missing"
            details |= {
                "decision": verb,
                "template_id": chosen.template_id,
                "confidence": round(chosen.confidence, 4),
                "why": chosen.why,
            }
        return decision

    async def close(self) -> None:
        """Nothing to give back: store and embedder belong to who opened them."""

    def _extract_candidates(self, turn: Turn, ranking: Ranking) -> dict[str, Extraction]:
        """What the question gives to each candidate that could be chosen, the likeliest first."""
        parts, rules = self._parts, turn.intent is not None
        # What "tomorrow" means depends on the server's time zone.
        reading = parts.extractor.read(turn.text, turn.received_at.astimezone())
        floor, margin = parts.confidence_threshold, parts.clarify_margin
        extractions: dict[str, Extraction] = {}
        for candidate in in_reach(ranking, rules=rules):
            template = parts.library.templates[candidate.template_id]
            found = parts.extractor.extract_from(reading, template, intent=turn.intent)
            extractions[template.id] = found
            if len(extractions) == 1 and is_settled(
                ranking, found.grounding, floor=floor, margin=margin, rules=rules
            ):
                break
        return extractions


def call_or_ask(
    parts: DeciderDependencies, match: Match, found: Extraction
) -> Call | MissingArguments:
    """The call of the template that was matched, or the question for what it still needs."""
    sources = note_ambiguous_dates(found.arguments, found.sources, parts.library.domain.date_order)
    if found.missing:
        return MissingArguments(match, found.missing, found.arguments, sources)
    template = parts.library.templates[match.template_id]
    return Call(match, template.call(found.arguments, sources))


def decide_for_template(
    parts: DeciderDependencies,
    template_id: str,
    turn: Turn,
    *,
    why: str = "a guard leads here",
    confidence: float = 1.0,
) -> Decision:
    """Call `template_id` with the arguments that the question holds, or ask for the rest.

    Nothing is done where the template is left out of the library.
    """
    template = parts.library.templates.get(template_id)
    if template is None:
        return NoMatch(f"{why}, and the template {template_id!r} is left out")
    found = parts.extractor.extract(
        turn.text, template, now=turn.received_at.astimezone(), intent=turn.intent
    )
    return call_or_ask(parts, Match(template_id, confidence, 0.0, why), found)
