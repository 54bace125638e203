"""What every retriever is built from."""

from collections.abc import Mapping
from dataclasses import dataclass

from server.core.decision import Call, Decision, Match, MissingArguments, NoMatch
from server.core.turn import Turn
from server.extraction.extractor import Extractor
from server.extraction.values import note_ambiguous_dates
from server.library.model import Library
from server.matching.matcher import Matcher


@dataclass(frozen=True, slots=True)
class DeciderDependencies:
    """An open library and the two readers over it, with the adapter's own settings.

    `implementation:` names a class that is called with exactly one of these, and that
    has the methods of `server.core.ports.Retriever`.
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
    sources = note_ambiguous_dates(found.arguments, found.sources, parts.library.domain.date_order)
    match = Match(template_id, confidence, 0.0, why)
    if found.missing:
        return MissingArguments(match, found.missing, found.arguments, sources)
    return Call(match, template.call(found.arguments, sources))
