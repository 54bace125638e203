"""What a detection says, in the shape that its pack declares."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from server.core.turn import Intent
from server.intents.pack import IntentKind, Pack
from server.intents.question_state import QuestionState
from server.intents.resolution import ResolvedIntent

_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")


class Detection(NamedTuple):
    """What a question asks for.

    `result` has exactly the fields that the pack declares. `evidence` is the keyword or
    pattern that decided, and `fell_back` says that no rule did.
    """

    intent: Intent
    result: Mapping[str, Any]
    evidence: str = ""
    fell_back: bool = False
    reading: QuestionState | None = None

    @property
    def words(self) -> dict[str, str]:
        """What each entity was read from, as it stands in the question."""
        if self.reading is None:
            return {}
        clean = self.reading.text.clean
        return {
            entity: clean[start:end]
            for entity, (start, end) in self.reading.spans.items()
            if entity in self.intent.entities
        }

    def places(self, question: str) -> dict[str, tuple[tuple[int, int], ...]]:
        """Where in `question` each entity of the intent was read, in order.

        What is written there otherwise than it was compared (with vowel points, say) has
        no place that can be told.
        """
        if self.reading is None:
            return {}
        clean = self.reading.text.clean
        spans: dict[str, set[tuple[int, int]]] = {}
        for claim in self.reading.claims:
            spans.setdefault(claim.entity, set()).add((claim.start, claim.end))
        for entity, span in self.reading.spans.items():
            spans.setdefault(entity, set()).add(span)
        return {
            entity: found
            for entity, inside in spans.items()
            if entity in self.intent.entities
            and (found := tuple(_places(question, clean, sorted(inside))))
        }


def _places(
    question: str, clean: str, spans: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """`spans` of the clean text as places of the question it was made from."""
    for start, end in spans:
        words = clean[start:end]
        earlier = clean.count(words, 0, start + len(words) - 1)
        at = -1
        for _ in range(earlier + 1):
            at = question.find(words, at + 1)
            if at < 0:
                break
        else:
            yield at, at + len(words)


def describe(pack: Pack, reading: QuestionState, chosen: ResolvedIntent) -> Detection:
    """The detection that a choice amounts to."""
    kind = chosen.intent
    entities = _entities(reading, chosen)
    flags = {**kind.flags}
    operations = pack.operations
    if kind.operation and operations is not None:
        entities[operations.entity] = reading.operation
        flags.update(operations.flags.get(reading.operation, ()))
    route = _route(kind, reading) if kind.routes else None
    says = chosen.rule or kind
    explanation, ask = says.explanation, says.ask
    fell_back = chosen.rule is None and chosen.method == "default"
    if fell_back:
        explanation = pack.fallback.explanation
        if chosen.lacking:
            explanation += f" ({chosen.lacking})"
    elif "{" in explanation:
        explanation = _filled(explanation, chosen, entities)
    if "{" in ask:
        ask = _filled(ask, chosen, entities)
    confidence, method = chosen.confidence, chosen.method
    intent = Intent(kind.name, confidence, method, entities, flags, explanation, route, ask)
    return Detection(intent, pack.result.of(intent), chosen.evidence, fell_back, reading)


def _route(kind: IntentKind, reading: QuestionState) -> str | None:
    taken = (r.to for r in kind.routes if r.trigger.empty or r.trigger.fire(reading))
    return next(taken, None)


def failure(pack: Pack, why: str) -> Detection:
    """The detection when detecting failed: the fallback, hardly sure, saying `why`."""
    fallback = pack.fallback
    intent = Intent(
        name=fallback.intent,
        confidence=fallback.error_confidence,
        method="default",
        entities={},
        flags=dict.fromkeys(pack.flags, False),
        explanation=fallback.error_explanation.replace("{error}", why),
        ask=pack.intents[fallback.intent].ask,
    )
    return Detection(intent, pack.result.of(intent), fell_back=True)


def _entities(reading: QuestionState, chosen: ResolvedIntent) -> dict[str, Any]:
    """What was read and belongs to the intent, and the defaults of the rest."""
    entities: dict[str, Any] = {}
    for entity in chosen.intent.entities:
        value = reading.values.get(entity.name, entity.default)
        if value is not None:
            entities[entity.name] = value
    return entities


def _filled(text: str, chosen: ResolvedIntent, entities: Mapping[str, Any]) -> str:
    facts = {
        **entities,
        "intent": chosen.intent.name,
        "method": chosen.method,
        "trigger": chosen.evidence,
    }
    return _PLACEHOLDER.sub(lambda found: str(facts.get(found[1], "")), text)
