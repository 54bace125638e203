"""Text in, intent and entities out, by the rules of one pack."""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from server.core.turn import Intent, IntentMethod
from server.intents.numbers import GROUP as NUMBERS
from server.intents.numbers import View, as_digits, numerals
from server.intents.pack import Pack, PackIntent, Rule
from server.intents.phrases import KEYWORDS, MASK, PhraseHit, longest
from server.intents.question_state import Claim, Fired, QuestionState
from server.intents.spec import OperationSpec
from server.text.normalizer import NormalizedText

_log = logging.getLogger(__name__)

_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")
_LAYERS: Final = ("keyword", "regex", "semantic", "default")


class ResolvedIntent(NamedTuple):
    """The intent that won; `rule` is None when none fired, and `lacking` says what nearly did."""

    intent: PackIntent
    confidence: float
    method: IntentMethod
    rule: Rule | None = None
    evidence: str = ""
    lacking: str = ""


class Detection(NamedTuple):
    """What a question asks for.

    `result` has exactly the fields that the pack declares. `evidence` is the keyword or
    pattern that decided, and `fell_back` says that no rule did.
    """

    intent: Intent
    result: Mapping[str, Any]
    evidence: str = ""
    fell_back: bool = False
    question: QuestionState | None = None

    @property
    def words(self) -> dict[str, str]:
        """What each entity was read from, as it stands in the question."""
        if self.question is None:
            return {}
        return {
            entity: self.question.words_at(start, end)
            for entity, (start, end) in self.question.spans.items()
            if entity in self.intent.entities
        }

    def places(self, text: str) -> dict[str, tuple[tuple[int, int], ...]]:
        """Return where in `text`, the question as written, each entity was read, in order.

        Words that are written otherwise than they were compared (with vowel points, say)
        have no place.
        """
        if self.question is None:
            return {}
        spans = {entity: {span} for entity, span in self.question.spans.items()}
        for entity, start, end in self.question.claims:
            spans.setdefault(entity, set()).add((start, end))
        clean, places = self.question.written.clean, dict[str, tuple[tuple[int, int], ...]]()
        for entity in spans.keys() & self.intent.entities.keys():
            written = sorted({self.question.as_written(*span) for span in spans[entity]})
            if found := tuple(_original_spans(text, clean, written)):
                places[entity] = found
        return places


class IntentDetector:
    """Understands questions by the rules of one pack. Safe to share: it keeps no state."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack

    def detect(self, text: str, now: datetime | None = None) -> Detection:
        """Return what `text` asks for at `now`. Never raises, whatever the text."""
        if not isinstance(text, str):
            return self._failure(f"expected text, got {type(text).__name__}")
        try:
            question = self.read(text, now)
            return self.describe(question, self._resolve(question))
        except Exception:
            # A question always gets an answer; what went wrong is for the log alone.
            _log.exception("detecting an intent by the pack %r failed", self.pack.spec.name)
            return self._failure("this question could not be read")

    def read(self, text: str, now: datetime | None = None) -> QuestionState:
        """Find everything that a question names, without judging what it asks for."""
        pack, moment = self.pack, datetime.now(UTC) if now is None else now
        written = pack.normalizer.read(text)
        question = self._read(written, written, None, moment)
        unread = pack.vocabulary.unread_places(question)
        if unread:
            words, respelt = pack.spelling.correct(written, pack.normalizer, unread)
            if respelt is not None:
                return self._read(written, words, respelt, moment)
        return question

    def _read(
        self, written: NormalizedText, words: NormalizedText, respelt: View | None, moment: datetime
    ) -> QuestionState:
        pack = self.pack
        hits, numbers = self._find_phrases(words)
        data = (words.folded if numbers is None else numbers.text).encode()
        matching = pack.patterns.matching(data)
        question = QuestionState(
            written, respelt, words, numbers, data, matching, hits, moment, pack.zone
        )
        self._set_aside(question)
        operation: OperationSpec | None = None
        if pack.operations is not None:
            question.operation = pack.operations.default
            for option in pack.operations.options:
                fired = option.trigger.fire(question)
                if fired is not None and not option.unless.any_holds(question):
                    question.operation, question.operation_fired = option.spec.name, fired
                    operation = option.spec
                    break
        for entity in pack.entities:
            spec = entity.spec
            possible = spec.operations is None or question.operation in spec.operations
            if possible and (extracted := entity.extract(question)):
                question.add_entity(spec.name, *extracted, claim=spec.claims)
        fired = question.operation_fired
        if operation is not None and operation.objects and fired and fired.hit:
            objects, behind = operation.objects, fired.hit.last
            question.other_object = pack.vocabulary.object_after(question, behind, objects)
        return question

    def _set_aside(self, question: QuestionState) -> None:
        """Keep everything from clauses that ask for nothing, beside one that does."""
        asked_at = [
            question.hit_span(hit)
            for key, hits in question.hits.items()
            for hit in hits
            if isinstance(key, int)
        ]
        question.idle = self.pack.clauses.idle(question.text, asked_at)
        if not question.idle:
            return
        question.claims += [Claim("", *span) for span in question.idle]
        question.hits = {
            key: [hit for hit in hits if question.is_free(*question.hit_span(hit))]
            for key, hits in question.hits.items()
        }

    def _find_phrases(
        self, text: NormalizedText
    ) -> tuple[dict[int | str, list[PhraseHit]], View | None]:
        """Return phrases by who looks for them, and number words in digits if there are any."""
        groups: dict[int | str, list[PhraseHit]] = {}
        hits, apart = self.pack.phrases.find(text.words)
        masks = [hit for hit in apart if hit.entry.group == MASK]
        for hit in hits:
            entry = hit.entry
            if not (masks and any(_hides(mask, hit) for mask in masks)):
                name = entry.key if entry.group == KEYWORDS else entry.group
                groups.setdefault(name, []).append(hit)
        words = longest([hit for hit in apart if hit.entry.group == NUMBERS])
        if not words:
            return groups, None
        return groups, as_digits(text, numerals(words, text.words, self.pack.numbers))

    def _resolve(self, question: QuestionState) -> ResolvedIntent:
        """Try the pack's rules on a question.

        By layer, every keyword comes before every pattern, the longest keyword before shorter
        ones. By priority, the first rule that fires decides; of its equals a keyword counts
        before a pattern.
        """
        fallback = self.pack.spec.fallback
        lacking: list[str] = []
        candidates = self._fired_rules(question, lacking)
        if self.pack.spec.choose == "layer":
            best = min(candidates, key=_layer_first, default=None)
        else:
            best = _first_by_priority(candidates)
        if best is not None:
            rule, fired = best
            intent, confidence = rule.intent, rule.spec.confidence
            if confidence is None:
                confidence = intent.confidence.get(fired.method, fallback.confidence)
            if confidence >= fallback.below or intent.name == fallback.intent:
                return ResolvedIntent(intent, confidence, fired.method, rule, fired.text)
            lacking.append(f"{intent.name} is only {confidence:g} sure")
        intent = self.pack.intents[fallback.intent]
        return ResolvedIntent(intent, fallback.confidence, "default", lacking="; ".join(lacking))

    def _fired_rules(
        self, question: QuestionState, lacking: list[str]
    ) -> Iterator[tuple[Rule, Fired]]:
        for rule in self.pack.rules:
            fired = rule.fire(question)
            if fired is None:
                continue
            if missing := rule.intent.missing_entities(question.values):
                lacking.append(f"{rule.intent.name} needs {missing}")
            else:
                yield rule, fired

    def describe(self, question: QuestionState, resolved: ResolvedIntent) -> Detection:
        """Return the detection of a resolved intent."""
        intent, method, rule = resolved.intent, resolved.method, resolved.rule
        carried = [e for e in intent.entities if e.belongs_to(intent.name, question)]
        named = {e.name: question.values.get(e.name, e.spec.default) for e in carried}
        entities = {name: value for name, value in named.items() if value is not None}
        flags = {**intent.flags}
        operations = self.pack.operations
        if intent.spec.operation and operations is not None:
            entities[operations.entity] = question.operation
            flags.update(operations.flags.get(question.operation, ()))
        routes = (r.to for r in intent.routes if r.trigger.empty or r.trigger.fire(question))
        facts = {**entities, "intent": intent.name, "method": method, "trigger": resolved.evidence}
        explanation = _fill_in(rule.explanation if rule else intent.spec.explanation, facts)
        fell_back = rule is None and method == "default"
        if fell_back:
            explanation = self.pack.spec.fallback.explanation
            if resolved.lacking:
                explanation += f" ({resolved.lacking})"
        facts |= _told(question)
        route, ask = next(routes, None), _fill_in(rule.ask if rule else intent.spec.ask, facts)
        made = Intent(
            *(intent.name, resolved.confidence, method, entities, flags, explanation, route, ask),
            unread=self.pack.vocabulary.unread(question) if intent.spec.tells_unread else None,
            reads=frozenset(e.name for e in intent.entities),
            by_model=intent.spec.by_model,
        )
        return Detection(made, self._result(made), resolved.evidence, fell_back, question)

    def _failure(self, why: str) -> Detection:
        """Return the fallback with the confidence of an error, saying `why`."""
        spec = self.pack.spec
        fallback = self.pack.intents[spec.fallback.intent]
        intent = Intent(
            name=fallback.name,
            confidence=spec.error.confidence,
            method="default",
            entities={},
            flags=dict.fromkeys(spec.flags, False),
            explanation=spec.error.explanation.replace("{error}", why),
            ask=fallback.spec.ask,
        )
        return Detection(intent, self._result(intent), fell_back=True)

    def _result(self, intent: Intent) -> dict[str, Any]:
        return {
            name: intent.name if part == "intent" else getattr(intent, part)
            for name, part in self.pack.spec.result.items()
        }


def _told(question: QuestionState) -> dict[str, str]:
    """What an author may tell of a value that cannot be: its words, and what they may mean."""
    places = [*question.unlisted.values(), *question.out_of_range.values()]
    places += [place for place, _ in question.ambiguous.values()]
    places += [] if question.other_object is None else [question.other_object]
    choices = (str(one) for _, many in question.ambiguous.values() for one in many)
    return {
        "words": question.words_at(*places[0]) if places else "",
        "choices": ", ".join(choices),
    }


def _hides(mask: PhraseHit, hit: PhraseHit) -> bool:
    """Whether a phrase lies in a longer one in which its owner does not look for it."""
    entry = hit.entry
    owner = abs(entry.key) if entry.group == KEYWORDS else entry.group
    return mask.entry.key == owner and mask.first <= hit.first and hit.last <= mask.last


def _first_by_priority(candidates: Iterator[tuple[Rule, Fired]]) -> tuple[Rule, Fired] | None:
    """Return the first, or the first by a keyword among rules of its intent and priority."""
    first: tuple[Rule, Fired] | None = None
    for rule, fired in candidates:
        if first is None:
            first = rule, fired
        elif rule.intent is not first[0].intent or rule.priority != first[0].priority:
            break
        if fired.method == "keyword":
            return rule, fired
    return first


def _layer_first(candidate: tuple[Rule, Fired]) -> tuple[int, int, int, int, int, int]:
    rule, fired = candidate
    words, letters, prefix = (0, 0, 0) if fired.hit is None else fired.hit.weight
    return _LAYERS.index(fired.method), -words, -letters, -prefix, -rule.priority, rule.order


def _fill_in(text: str, facts: Mapping[str, Any]) -> str:
    if "{" not in text:
        return text
    return _PLACEHOLDER.sub(lambda found: str(facts.get(found[1], "")), text)


def _original_spans(
    text: str, clean: str, spans: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    for start, end in spans:
        words = clean[start:end]
        earlier = clean.count(words, 0, start + len(words) - 1)
        at = -1
        for _ in range(earlier + 1):
            at = text.find(words, at + 1)
            if at < 0:
                break
        else:
            yield at, at + len(words)
