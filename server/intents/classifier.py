"""Detection in three layers: keywords, patterns, and the meaning of a pack's examples."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from math import exp
from typing import TYPE_CHECKING, Final

from server.core.ports import Embedder
from server.errors import ProviderError
from server.intents.detector import Detection, IntentDetector, ResolvedIntent
from server.text.language import everyday_sentences

if TYPE_CHECKING:
    from server.core.ports import Vectors

Detect = Callable[[str, datetime], Awaitable[Detection]]
"""A question, and when it was asked, to what it asks for. Days are those of the pack's zone."""

_log = logging.getLogger(__name__)

_NEAREST: Final = 2
"""Examples of an intent that are compared: one alone may resemble by chance."""
_SHARPNESS: Final = 0.03
"""The difference of two similarities that makes one intent e times as likely as another."""
_LEAST_SIMILARITY: Final = 0.4
"""What is less like every example means none of the intents, however they compare."""

_SUREST: Final = 0.99
"""Only a keyword is sure."""


@dataclass(frozen=True, slots=True)
class _Examples:
    """Examples with their vectors; `intents` has the intent of each, None for everyday talk."""

    texts: tuple[str, ...]
    intents: tuple[str | None, ...]
    vectors: "Vectors"


class IntentClassifier:
    """Asks the rules first; with an embedder, the examples of the pack when no rule fires.

    An intent that is strict, or lacks an entity that it requires, is not chosen by meaning. The
    intents compete with each other, with the examples of the fallback, and with what people say
    to any assistant.
    """

    def __init__(self, detector: IntentDetector, embedder: Embedder | None = None) -> None:
        self._detector = detector
        self._embedder = embedder
        self._examples: _Examples | None = None
        self._embedding = asyncio.Lock()

    async def detect(self, text: str, now: datetime) -> Detection:
        """Return what `text` asks for; by rules alone while the embedder cannot be reached."""
        detection = self._detector.detect(text, now)
        if self._embedder is None or not detection.fell_back or not text.strip():
            return detection
        if detection.question is None or not self._texts_of(self._intents()):
            return detection
        try:
            return await self._by_meaning(self._embedder, text, detection)
        except ProviderError as failed:
            _log.warning("an intent is detected by rules alone: %s", failed)
            return detection

    async def _by_meaning(self, embedder: Embedder, text: str, detection: Detection) -> Detection:
        question, pack = detection.question, self._detector.pack
        assert question is not None  # noqa: S101  as `detect` has it
        examples = await self._embedded(embedder)
        similarities = (examples.vectors @ (await embedder.embed([text]))[0]).tolist()
        by_intent: dict[str | None, list[tuple[float, str]]] = {}
        for intent, example, similarity in zip(
            examples.intents, examples.texts, similarities, strict=True
        ):
            by_intent.setdefault(intent, []).append((similarity, example))
        scores = {name: _score(near) for name, near in by_intent.items()}
        best = max(scores, key=scores.__getitem__)
        chosen = None if best is None else pack.intents[best]
        if chosen is None or scores[best] < _LEAST_SIMILARITY:
            return detection
        confidence = _probability(scores[best], scores.values())
        if confidence < pack.spec.layers.semantic or chosen.missing_entities(question.values):
            return detection
        evidence = max(by_intent[best])[1]
        sure = round(min(confidence, _SUREST), 4)
        resolved = ResolvedIntent(chosen, sure, "semantic", evidence=evidence)
        return self._detector.describe(question, resolved)

    def _intents(self) -> list[str]:
        """The intents that may be chosen by meaning."""
        pack = self._detector.pack
        return [
            intent.name
            for intent in pack.intents.values()
            if not intent.spec.strict and intent.name != pack.spec.fallback.intent
        ]

    def _texts_of(self, names: Iterable[str]) -> list[tuple[str | None, str]]:
        intents = self._detector.pack.intents
        return [(name, text) for name in names for text in intents[name].spec.examples]

    async def _embedded(self, embedder: Embedder) -> _Examples:
        async with self._embedding:
            if self._examples is None:
                pack = self._detector.pack
                known = self._texts_of(self._intents())
                away = list(pack.intents[pack.spec.fallback.intent].spec.examples)
                # Small talk that a rule of the pack takes for an intent is none of the others.
                said = everyday_sentences(pack.spec.languages, [text for _, text in known])
                away += [text for text in said if self._detector.detect(text).fell_back]
                known += [(None, text) for text in away]
                names, texts = zip(*known, strict=True)
                self._examples = _Examples(texts, names, await embedder.embed(texts))
            return self._examples


def _score(near: Iterable[tuple[float, str]]) -> float:
    """The mean similarity of the nearest examples."""
    best = sorted((similarity for similarity, _ in near), reverse=True)[:_NEAREST]
    return sum(best) / len(best)


def _probability(score: float, scores: Iterable[float]) -> float:
    """How likely the intent of `score`, the highest, is among all."""
    return 1 / sum(exp((other - score) / _SHARPNESS) for other in scores)
