"""The third layer: the intent whose examples mean most nearly the same."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from server.core.ports import Embedder
from server.intents.detector import Detector
from server.intents.pack import IntentKind, Pack
from server.intents.resolution import ResolvedIntent
from server.intents.result import Detection, describe

if TYPE_CHECKING:
    from server.core.ports import Vectors


@dataclass(frozen=True, slots=True)
class _Examples:
    """`vectors` are (n, d) unit rows, one for each of `texts`, which belong to `intents`."""

    intents: tuple[IntentKind, ...]
    texts: tuple[str, ...]
    vectors: "Vectors"


class SemanticDetector:
    """Asks the rules first, and the examples of the pack when no rule fires.

    An intent that is strict, or lacks an entity that it requires, is not chosen by
    meaning. `threshold` is the least similarity; the pack's own when it is not given.
    """

    def __init__(
        self, detector: Detector, embedder: "Embedder", threshold: float | None = None
    ) -> None:
        self._detector = detector
        self._embedder = embedder
        pack = detector.pack
        self._threshold = pack.semantic_threshold if threshold is None else threshold
        self._pairs = [
            (intent, example)
            for intent in pack.intents.values()
            if not intent.strict
            for example in intent.examples
        ]
        self._examples: _Examples | None = None
        self._embedding = asyncio.Lock()

    async def detect(self, text: str, now: datetime | None = None) -> Detection:
        """Return what `text` asks for.

        Raises:
            ProviderUnavailable, ProviderTimedOut, ProviderRejected: by the embedder.
        """
        detection = self._detector.detect(text, now)
        if not detection.fell_back or not self._pairs or not text.strip():
            return detection
        examples = await self._embedded()
        vector = (await self._embedder.embed([text]))[0]
        similarities = examples.vectors @ vector
        reading = self._detector.read(text, now)
        for place in similarities.argsort(kind="stable")[::-1]:
            similarity = float(similarities[place])
            if similarity < self._threshold:
                break
            intent = examples.intents[place]
            if not intent.lacks(reading.values):
                sure = round(min(similarity, 1.0), 4)
                example = examples.texts[place]
                chosen = ResolvedIntent(intent, sure, "semantic", evidence=example)
                return describe(self._detector.pack, reading, chosen)
        return detection

    async def _embedded(self) -> _Examples:
        async with self._embedding:
            if self._examples is None:
                intents, texts = zip(*self._pairs, strict=True)
                self._examples = _Examples(intents, texts, await self._embedder.embed(texts))
            return self._examples


Detect = Callable[[str, datetime], Awaitable[Detection]]
"""A question, and when it was asked, to what it asks for. Days are those of the pack's zone."""


def detection_by(pack: Pack, embedder: Embedder | None = None) -> Detect:
    """Detection by the rules of `pack`; by the meaning of its examples too with `embedder`."""
    detector = Detector(pack)
    if embedder is not None:
        return SemanticDetector(detector, embedder).detect

    async def by_rules(text: str, now: datetime) -> Detection:
        return detector.detect(text, now)

    return by_rules
