"""Text in, intent and entities out."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime

from server.intents.numbers import GROUP as NUMBERS
from server.intents.numbers import View, as_digits, numerals
from server.intents.pack import Pack, PackOperations
from server.intents.phrases import MASK, PhraseHit, longest
from server.intents.question_state import QuestionState
from server.intents.resolution import resolve_intent
from server.intents.result import Detection, describe, failure
from server.intents.rules import KEYWORDS
from server.text.normalizer import NormalizedText

_log = logging.getLogger(__name__)


def utc_now() -> datetime:
    return datetime.now(UTC)


class Detector:
    """Understands questions by the rules of one pack. Safe to share: it keeps no state."""

    def __init__(self, pack: Pack, clock: Callable[[], datetime] = utc_now) -> None:
        self.pack = pack
        self._clock = clock

    def detect(self, text: str, now: datetime | None = None) -> Detection:
        """Return what `text` asks for at `now`. Never fails, whatever the text."""
        if not isinstance(text, str):
            return failure(self.pack, f"expected text, got {type(text).__name__}")
        try:
            reading = self.read(text, now)
            return describe(self.pack, reading, resolve_intent(self.pack, reading))
        except Exception:
            # A question always gets an answer; what went wrong is for the log alone.
            _log.exception("detecting an intent by the pack %r failed", self.pack.name)
            return failure(self.pack, "this question could not be read")

    def read(self, text: str, now: datetime | None = None) -> QuestionState:
        """Find everything a question names, without judging what it asks for."""
        pack = self.pack
        words = pack.reader.read(text)
        hits, numbers = self._phrases(words)
        data = (words.folded if numbers is None else numbers.text).encode()
        matching = pack.patterns.matching(data)
        reading = QuestionState(words, numbers, data, matching, hits, now, self._clock, pack.zone)
        if pack.operations is not None:
            reading.operation = pack.operations.default
            _set_operation(reading, pack.operations)
        for entity in pack.entities:
            if entity.operations is not None and reading.operation not in entity.operations:
                continue
            found = entity.kind.read(reading)
            if found is not None:
                reading.values[entity.name] = found.value
                for start, end in found.spans:
                    reading.take(entity.name, start, end, claim=entity.claims)
        return reading

    def _phrases(
        self, text: NormalizedText
    ) -> tuple[dict[int | str, list[PhraseHit]], View | None]:
        """Phrases by who looks for them, and number words in digits where there are any."""
        by_name: dict[int | str, list[PhraseHit]] = {}
        hits, apart = self.pack.phrases.find(text.words)
        masks = [hit for hit in apart if hit.entry.group == MASK] if apart else apart
        for hit in hits:
            if masks and _masked(hit, masks):
                continue
            entry = hit.entry
            name = entry.key if entry.group == KEYWORDS else entry.group
            if name in by_name:
                by_name[name].append(hit)
            else:
                by_name[name] = [hit]
        if len(apart) == len(masks):
            return by_name, None
        words = longest([hit for hit in apart if hit.entry.group == NUMBERS])
        return by_name, as_digits(text, numerals(words, text.words, self.pack.numbers))


def _masked(hit: PhraseHit, masks: list[PhraseHit]) -> bool:
    """Whether a phrase lies in a longer one in which its owner does not look for it."""
    entry = hit.entry
    owner = abs(entry.key) if entry.group == KEYWORDS else entry.group
    return any(
        mask.entry.key == owner and mask.first <= hit.first and hit.last <= mask.last
        for mask in masks
    )


def _set_operation(reading: QuestionState, operations: PackOperations) -> None:
    for option in operations.options:
        fired = option.trigger.fire(reading)
        if fired is None:
            continue
        if option.unless is None or not option.unless.any_holds(reading):
            reading.operation, reading.by_operation = option.name, fired
            return
