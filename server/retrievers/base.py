"""What retrievers are built from, and how most decide: match, extract, choose."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, ClassVar, Final

from server.core.coverage import NO_COVERAGE, Coverage
from server.core.decision import (
    Call,
    Clarify,
    Decision,
    Match,
    MissingArguments,
    NoMatch,
    ProposedAction,
    SeveralCalls,
    Trace,
)
from server.core.tools import Source
from server.core.turn import Turn
from server.extraction.values import Extraction, note_ambiguous_dates
from server.library.model import Template, TemplateKind
from server.library.rendering import render
from server.library.sql_model import SqlExecution
from server.matching.selection import Ranking, TemplateCandidate
from server.retrievers.choice import (
    Judged,
    alternatives,
    choose,
    describe_choice,
    is_settled,
    judge,
)
from server.retrievers.dependencies import DeciderDependencies
from server.retrievers.evidence import Candidate
from server.retrievers.several import (
    RequestPart,
    SeveralRequests,
    asks_for_something,
    is_clear,
)
from server.text.language import shipped_message
from server.text.parsed_text import ParsedText

__all__ = ["DeciderDependencies", "TemplateRetriever", "call_or_ask", "decide_for_template"]

_LEAST_LIKELY: Final = 0.01
"""Templates that are less likely are not looked at: nothing in a question makes up for that."""
_MOST_ASKED_BY_VALUE: Final = 200
"""Where more templates are asked for by a value, as a sum is, it does not tell which one."""
_ANY_DAY: Final = datetime(2025, 1, 1, tzinfo=UTC)
"""A time of day is read alike on every day."""
_NOTHING_KNOWN: Final[Mapping[str, Any]] = MappingProxyType({})


class TemplateRetriever:
    """Matches a question to a template and reads the call's arguments out of it."""

    template_kinds: ClassVar[frozenset[TemplateKind]] = frozenset(("function", "query"))
    """Templates that a library of this retriever may hold; `check` reports others."""

    def __init__(self, parts: DeciderDependencies) -> None:
        self._parts = parts
        templates = tuple(parts.library.matched.templates.values())
        parts.extractor.prepare(templates)
        asked = tuple(filter(parts.extractor.is_asked_by_value, templates))
        self._asked_by_value = asked if len(asked) <= _MOST_ASKED_BY_VALUE else ()

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        """Decide what a question asks for.

        Raises:
            ProviderError: the question could not be embedded.
            IndexUnavailable: the vector store is the search, and cannot be used.
        """
        parts = self._parts
        # What "tomorrow" means depends on the server's time zone.
        reading = parts.extractor.read(turn.text, turn.received_at.astimezone())
        with trace.stage("match") as details:
            asked = turn.text
            if not parts.matcher.is_example(asked):
                asked = parts.extractor.request_text(reading)
            ranking = await parts.matcher.rank(asked, limit=parts.max_templates)
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
            if parts.matcher.is_learning:
                details["by"] = "nearest examples, while the head is being learnt"
        with trace.stage("extract") as details:
            candidates = self.read_candidates(turn, reading, ranking)
            details["found"] = [
                {
                    "template_id": one.template.id,
                    "arguments": dict(one.found.arguments),
                    "missing": [missing.name for missing in one.found.missing],
                    "unread": list(one.coverage.phrases("unread")),
                }
                for one in candidates
            ]
        with trace.stage("verify") as details:
            judged = await judge(parts, asked, reading, ranking, candidates)
            details["judged"] = [
                {
                    "template_id": one.match.template_id,
                    "confidence": round(one.match.confidence, 4),
                    "against": one.against,
                }
                for one in judged
            ]
        with trace.stage("choose") as details:
            chosen = choose(parts, judged, ranking)
            decision: Decision
            if isinstance(chosen, Judged):
                one = chosen.candidate
                decision = call_or_ask(parts, chosen.match, one.found, one.coverage, turn.languages)
            else:
                decision = chosen
            if isinstance(decision, Call | Clarify):
                others = self._alternatives(judged, decision)
                decision = replace(decision, alternatives=others) if others else decision
            if isinstance(decision, Clarify | NoMatch) and judged and not decision.coverage.words:
                decision = replace(decision, coverage=judged[0].candidate.coverage)
            details |= describe_choice(decision)
            if judged:
                details["coverage"] = judged[0].candidate.coverage.to_list()
        if turn.intent is not None:
            return decision
        several = await self._several(turn, reading, judged, trace)
        if several is None or (isinstance(several, NoMatch) and not isinstance(decision, Call)):
            return decision
        return several

    def _alternatives(self, judged: Sequence[Judged], decision: Call | Clarify) -> tuple[Call, ...]:
        """The calls of other templates that ask the same data, which may tell what is meant."""
        parts, found = self._parts, list[Call]()
        for one in alternatives(parts, judged):
            template = one.candidate.template
            is_chosen = isinstance(decision, Call) and template.id == decision.match.template_id
            if is_chosen or not isinstance(template.execution, SqlExecution):
                continue
            call = call_or_ask(parts, one.match, one.candidate.found, one.candidate.coverage)
            if isinstance(call, Call) and call.proposed is None:
                found.append(call)
        return tuple(found)

    async def close(self) -> None:
        """Nothing to give back: store and embedder belong to who opened them."""

    async def _several(
        self, turn: Turn, reading: ParsedText, judged: Sequence[Judged], trace: Trace
    ) -> Call | SeveralCalls | NoMatch | None:
        """The calls of a message that holds several requests; None where it does not for sure."""

        async def read_part(text: str) -> RequestPart:
            return await self._read_part(turn, text)

        requests = SeveralRequests(self._parts, reading, judged, read_part)
        if not requests.joints:
            return None
        with trace.stage("split") as details:
            found = await requests.decide()
            details["parts"] = [
                {
                    "question": text,
                    "template_id": part.judged[0].match.template_id if part.judged else None,
                    "confidence": round(part.judged[0].match.confidence, 4) if part.judged else 0,
                    "clear": part.call is not None,
                }
                for text, part in requests.read_parts()
            ]
            if found is not None:
                details |= describe_choice(found)
        return found

    async def _read_part(self, turn: Turn, text: str) -> RequestPart:
        """A part of a message, read as a message of its own."""
        parts = self._parts
        reading = parts.extractor.read(text, turn.received_at.astimezone())
        asked = parts.extractor.request_text(reading)
        ranking = await parts.matcher.rank(asked, limit=parts.max_templates)
        candidates = self.read_candidates(turn, reading, ranking)
        judged = await judge(parts, asked, reading, ranking, candidates, compare=False)
        chosen = choose(parts, judged, ranking)
        asks = asks_for_something(parts.extractor.senses(reading))
        clear = isinstance(chosen, Judged) and is_clear(chosen, parts.confidence_threshold)
        if not isinstance(chosen, Judged) or not (asks and clear):
            return RequestPart(reading, judged)
        one = chosen.candidate
        call = call_or_ask(parts, chosen.match, one.found, one.coverage)
        return RequestPart(reading, judged, call if isinstance(call, Call) else None)

    def read_candidates(self, turn: Turn, reading: ParsedText, ranking: Ranking) -> list[Candidate]:
        """What the question gives to each template it may mean, the likeliest first."""
        parts, candidates = self._parts, list[Candidate]()
        for ranked in ranking.candidates:
            if candidates and ranked.probability < _LEAST_LIKELY and turn.intent is None:
                break
            template = parts.library.templates[ranked.template_id]
            found = parts.extractor.extract_from(reading, template, intent=turn.intent)
            coverage = parts.extractor.cover(reading, template, found)
            frame = parts.extractor.frame(template)
            candidates.append(Candidate(ranked, template, frame, found, coverage))
            if len(candidates) == 1 and is_settled(ranking, candidates[0]):
                return candidates
        return [*candidates, *self._self_explaining(turn, reading, candidates)]

    def _self_explaining(
        self, turn: Turn, reading: ParsedText, candidates: Sequence[Candidate]
    ) -> Iterator[Candidate]:
        """Templates whose value is there and says what is asked, however unlikely they seem."""
        parts, known = self._parts, {one.template.id for one in candidates}
        for template in self._asked_by_value:
            if template.id in known:
                continue
            found = parts.extractor.extract_from(reading, template, intent=turn.intent)
            if found.missing:
                continue
            coverage = parts.extractor.cover(reading, template, found)
            ranked = TemplateCandidate(template.id, 0.0, 0.0, "")
            yield Candidate(ranked, template, parts.extractor.frame(template), found, coverage)


def call_or_ask(
    parts: DeciderDependencies,
    match: Match,
    found: Extraction,
    coverage: Coverage = NO_COVERAGE,
    languages: Sequence[str] = (),
) -> Call | MissingArguments | NoMatch:
    """The call of the template that was matched, or the question for what it still needs.

    A value that the template has no use for may have to be asked about first, in one of the
    `languages`, or be in the way of any call: as the template says.
    """
    template = parts.library.templates[match.template_id]
    coverage = _without_lost_times(parts, coverage, template, found)
    policy = template.unused_values
    unused = coverage.unused_values() if coverage.words else found.grounding.unused
    if policy == "refuse" and unused:
        named = ", ".join(f"“{value}”" for value in unused)
        why = f"{template.id} has no use for {named}"
        return NoMatch(why, (match,), unused, coverage=coverage)
    sources = note_ambiguous_dates(found.arguments, found.sources, parts.library.domain.date_order)
    if found.missing:
        return MissingArguments(match, found.missing, found.arguments, sources, coverage)
    proposed = None
    if policy == "ask" and unused:
        language = parts.library.domain.response.choose_language(languages)
        text = shipped_message("unused_value", language) or ""
        question = render(text, {"values": unused})
        proposed = ProposedAction(template.id, None, question, "template")
    return Call(match, template.call(found.arguments, sources), proposed, coverage=coverage)


def _without_lost_times(
    parts: DeciderDependencies, coverage: Coverage, template: Template, found: Extraction
) -> Coverage:
    """The account of a question whose times of day a parameter has no room for: it takes a date."""
    dates = {parameter.name for parameter in template.parameters if parameter.type == "date"}
    places = {name: found.sources[name].span for name in dates & found.sources.keys()}
    beside = [
        word
        for word in coverage.words
        if word.role == "value"
        and (place := places.get(word.of or "")) is not None
        and not place[0] <= word.start < place[1]
    ]
    if not beside:
        return coverage
    reading = ParsedText(coverage.text, _ANY_DAY, parts.library.domain.date_order)
    for time in reading.of("time"):
        if any(time.start <= word.start < time.end for word in beside):
            coverage = coverage.without_use(time.start, time.end, "time")
    return coverage


def decide_for_template(
    parts: DeciderDependencies,
    template_id: str,
    turn: Turn,
    known: Mapping[str, Any] = _NOTHING_KNOWN,
    *,
    why: str = "a guard leads here",
    confidence: float = 1.0,
) -> Decision:
    """Call `template_id` with the arguments that the question holds, or ask for the rest.

    What is `known` of them stands in for those that it does not hold.

    Nothing is done where the template is left out of the library.
    """
    template = parts.library.templates.get(template_id)
    if template is None:
        return NoMatch(f"{why}, and the template {template_id!r} is left out")
    reading = parts.extractor.read(turn.text, turn.received_at.astimezone())
    found = parts.extractor.extract_from(reading, template, intent=turn.intent)
    coverage = replace(parts.extractor.cover(reading, template, found), ruled=True)
    found = _completed(found, known)
    match = Match(template_id, confidence, 0.0, why)
    return call_or_ask(parts, match, found, coverage, turn.languages)


def _completed(found: Extraction, known: Mapping[str, Any]) -> Extraction:
    """What was read of a question, and what is known for parameters that it does not name."""
    sources = dict(found.sources)
    named = {name for name, source in sources.items() if source.kind not in ("default", "system")}
    new = {name: value for name, value in known.items() if name not in named}
    return replace(
        found,
        arguments={**found.arguments, **new},
        sources={**sources, **dict.fromkeys(new, Source("conversation"))},
        missing=tuple(missing for missing in found.missing if missing.name not in new),
    )
