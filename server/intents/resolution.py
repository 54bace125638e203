"""Which intent wins when rules have fired, and how sure that is."""

from collections.abc import Iterator
from typing import NamedTuple

from server.core.turn import IntentMethod
from server.intents.pack import IntentKind, Pack
from server.intents.question_state import Fired, QuestionState
from server.intents.rules import Rule, weight


class ResolvedIntent(NamedTuple):
    """`rule` is None when the pack's fallback answers; `lacking` says what nearly fitted."""

    intent: IntentKind
    confidence: float
    method: IntentMethod
    rule: Rule | None = None
    evidence: str = ""
    lacking: str = ""


_Firing = tuple[Rule, Fired]
"""A rule, and what made it fire."""


def resolve_intent(pack: Pack, reading: QuestionState) -> ResolvedIntent:
    """Try the pack's rules on a reading.

    By layer, every keyword comes before every pattern, the longest keyword before shorter
    ones. By priority, the first rule that fires decides; of its equals a keyword counts
    before a pattern.
    """
    lacking: list[str] = []
    fired = _fired(pack, reading, lacking)
    best = min(fired, key=_layer_first, default=None) if pack.by_layer else _first(fired)
    if best is not None:
        rule, how = best
        intent = pack.intents[rule.intent]
        confidence = rule.confidence
        if confidence is None:
            confidence = intent.confidence.get(how.method, pack.fallback.confidence)
        if confidence >= pack.fallback.below or intent.name == pack.fallback.intent:
            return ResolvedIntent(intent, confidence, how.method, rule, how.text)
        lacking.append(f"{intent.name} is only {confidence:g} sure")
    fallback = pack.intents[pack.fallback.intent]
    return ResolvedIntent(fallback, pack.fallback.confidence, "default", lacking="; ".join(lacking))


def _fired(pack: Pack, reading: QuestionState, lacking: list[str]) -> Iterator[_Firing]:
    for rule in pack.rules:
        fired = rule.fire(reading)
        if fired is None:
            continue
        missing = pack.intents[rule.intent].lacks(reading.values)
        if missing:
            lacking.append(f"{rule.intent} needs {missing}")
        else:
            yield rule, fired


def _first(fired: Iterator[_Firing]) -> _Firing | None:
    """The first, or the first by a keyword among rules of its intent and priority."""
    first: _Firing | None = None
    for firing in fired:
        rule, how = firing
        if first is None:
            first = firing
        elif rule.intent != first[0].intent or rule.priority != first[0].priority:
            break
        if how.method == "keyword":
            return firing
    return first


_LAYERS = ("keyword", "regex", "semantic", "default")


def _layer_first(candidate: tuple[Rule, Fired]) -> tuple[int, int, int, int, int, int]:
    rule, fired = candidate
    words, letters, prefix = (0, 0, 0) if fired.hit is None else weight(fired.hit)
    return _LAYERS.index(fired.method), -words, -letters, -prefix, -rule.priority, rule.order
