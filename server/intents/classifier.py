"""Detection in three layers: keywords, patterns, and the meaning of a pack's examples."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING

from server.core.ports import Embedder
from server.intents.detector import Detection, IntentDetector, ResolvedIntent

if TYPE_CHECKING:
    from server.core.ports import Vectors

Detect = Callable[[str, datetime], Awaitable[Detection]]
"""A question, and when it was asked, to what it asks for. Days are those of the pack's zone."""


class IntentClassifier:
    """Asks the rules first; with an embedder, the examples of the pack when no rule fires.

    An intent that is strict, or lacks an entity that it requires, is not chosen by meaning.
    """

    def __init__(self, detector: IntentDetector, embedder: Embedder | None = None) -> None:
        self._detector = detector
        self._embedder = embedder
        self._examples = [
            (intent, example)
            for intent in detector.pack.intents.values()
            if not intent.spec.strict
            for example in intent.spec.examples
        ]
        self._vectors: Vectors | None = None
        self._embedding = asyncio.Lock()

    async def detect(self, text: str, now: datetime) -> Detection:
        """Return what `text` asks for.

        Raises:
            ProviderUnavailable, ProviderTimedOut, ProviderRejected: by the embedder.
        """
        detection = self._detector.detect(text, now)
        question, embedder = detection.question, self._embedder
        if embedder is None or question is None or not detection.fell_back:
            return detection
        if not self._examples or not text.strip():
            return detection
        examples = await self._example_vectors(embedder)
        similarities = examples @ (await embedder.embed([text]))[0]
        for place in similarities.argsort(kind="stable")[::-1]:
            similarity = float(similarities[place])
            if similarity < self._detector.pack.spec.layers.semantic:
                break
            intent, example = self._examples[place]
            if not intent.missing_entities(question.values):
                confidence = round(min(similarity, 1.0), 4)
                resolved = ResolvedIntent(intent, confidence, "semantic", evidence=example)
                return self._detector.describe(question, resolved)
        return detection

    async def _example_vectors(self, embedder: Embedder) -> "Vectors":
        async with self._embedding:
            if self._vectors is None:
                self._vectors = await embedder.embed([example for _, example in self._examples])
            return self._vectors
