"""From a question to a decision: match, extract for each candidate, choose."""

from collections.abc import Mapping
from typing import Any

from server.core.answer import Trace
from server.core.decision import Call, Clarify, Decision, Match, MissingArguments, NoMatch
from server.core.tools import Source, ToolCall
from server.core.turn import Turn
from server.extraction.types import Extraction
from server.extraction.values import note_ambiguous_dates
from server.library.model import Template
from server.matching.selection import (
    Ranking,
    TemplateCandidate,
    choose_template,
    in_reach,
    is_settled,
)
from server.retrievers.base import DeciderDependencies


async def decide(parts: DeciderDependencies, turn: Turn, trace: Trace) -> Decision:
    """Decide what a question asks for; every stage writes what it found into `trace`.

    Raises:
        ProviderError: the question could not be embedded.
        IndexUnavailable: the vector store is the search, and cannot be used.
    """
    with trace.stage("match") as details:
        ranking = await parts.matcher.rank(turn.text, limit=parts.max_templates)
        details |= {
            "candidates": [_candidate(candidate) for candidate in ranking.candidates],
            "outside": round(ranking.out_of_scope, 4),
            "compared_as": list(ranking.readings),
        }
    with trace.stage("extract") as details:
        extractions = _extractions(parts, turn, ranking)
        details["found"] = [_found(name, found) for name, found in extractions.items()]
    with trace.stage("choose") as details:
        chosen = choose_template(
            ranking,
            {name: found.grounding for name, found in extractions.items()},
            floor=parts.confidence_threshold,
            margin=parts.clarify_margin,
        )
        decision = _decision(chosen, parts, extractions)
        details |= _choice(decision)
    return decision


def _extractions(parts: DeciderDependencies, turn: Turn, ranking: Ranking) -> dict[str, Extraction]:
    """What the question gives to each candidate that could be chosen, the likeliest first."""
    # What "tomorrow" means is a matter of where the server stands.
    reading = parts.extractor.read(turn.text, turn.received_at.astimezone())
    rules = turn.intent is not None
    found: dict[str, Extraction] = {}
    for candidate in in_reach(ranking, rules=rules):
        name = candidate.template_id
        template = parts.library.templates[name]
        extraction = parts.extractor.extract_from(reading, template, intent=turn.intent)
        first = not found
        found[name] = extraction
        if first and is_settled(
            ranking,
            extraction.grounding,
            floor=parts.confidence_threshold,
            margin=parts.clarify_margin,
            rules=rules,
        ):
            break
    return found


def _decision(
    chosen: Match | Clarify | NoMatch,
    parts: DeciderDependencies,
    extractions: Mapping[str, Extraction],
) -> Decision:
    if not isinstance(chosen, Match):
        return chosen
    template = parts.library.templates[chosen.template_id]
    found = extractions[chosen.template_id]
    sources = note_ambiguous_dates(found.arguments, found.sources, parts.library.domain.date_order)
    if found.missing:
        return MissingArguments(chosen, found.missing, found.arguments, sources)
    return Call(chosen, _call(template, found.arguments, sources))


def _call(
    template: Template, arguments: Mapping[str, Any], sources: Mapping[str, Source]
) -> ToolCall:
    return ToolCall(
        template_id=template.id,
        tool=template.execution.tool,
        operation=template.execution.operation,
        arguments=arguments,
        sources=sources,
        effect=template.effect,
    )


def _found(template_id: str, found: Extraction) -> dict[str, Any]:
    return {
        "template_id": template_id,
        "arguments": dict(found.arguments),
        "missing": [missing.name for missing in found.missing],
        "unused": list(found.grounding.unused),
    }


def _choice(decision: Decision) -> dict[str, Any]:
    match decision:
        case Call(match) | MissingArguments(match):
            verb = "call" if isinstance(decision, Call) else "ask for what is missing"
            return {
                "decision": verb,
                "template_id": match.template_id,
                "confidence": round(match.confidence, 4),
                "why": match.why,
            }
        case Clarify(options):
            ids = [option.template_id for option in options]
            return {"decision": "ask which is meant", "options": ids, "why": options[0].why}
        case NoMatch(why):
            return {"decision": "nothing fits", "why": why}
    return {}


def _candidate(candidate: TemplateCandidate) -> dict[str, Any]:
    return {
        "template_id": candidate.template_id,
        "probability": round(candidate.probability, 4),
        "similarity": round(candidate.similarity, 4),
        "nearest_example": candidate.nearest_example,
    }
