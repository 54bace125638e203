"""What the adapter's rule pack makes of a question, before anything is matched."""

from dataclasses import dataclass, replace

from server.chat.adapter import Adapter
from server.core.answer import Answer, Trace
from server.core.decision import ClarifyingQuestion
from server.core.redaction import Redactor
from server.core.turn import Intent, Turn
from server.intents.detector import Detection
from server.library.model import Library


@dataclass(frozen=True, slots=True)
class IntentResult:
    """The turn with its intent, where the adapter has a rule pack."""

    turn: Turn
    detection: Detection | None = None
    library: Library | None = None

    @property
    def decision(self) -> ClarifyingQuestion | None:
        """The decision, when the pack says that there is nothing to act on yet."""
        intent = self.turn.intent
        if intent is None or not intent.ask:
            return None
        return ClarifyingQuestion(intent.ask, intent.confidence, intent.explanation)

    @property
    def named(self) -> Intent | None:
        """Everything that the pack read in the question, whatever the question is for."""
        found = self.detection
        if found is None or found.question is None:
            return None
        everything = found.intent._replace(entities=dict(found.question.values))
        places = found._replace(intent=everything).places(self.turn.text)
        return everything._replace(places=places)

    def told(self, answer: Answer) -> Answer:
        """The answer with the detection in its metadata, in the pack's own fields, less secrets."""
        if self.detection is None:
            return answer
        found = {"method": self.detection.intent.method, **self.detection.result}
        templates = self.library.templates.values() if self.library is not None else ()
        redactor = Redactor(tuple(name for t in templates for name in t.policy.sensitive_params))
        if redactor:
            found = redactor.secrets(self.detection.intent.entities).data(found)
        return replace(answer, metadata={**answer.metadata, "intent": found})


async def detect_intent(adapter: Adapter, turn: Turn, trace: Trace) -> IntentResult:
    """Detect the turn's intent.

    Raises:
        ProviderError: the pack's examples are compared by meaning, and cannot be.
    """
    if adapter.detect is None:
        return IntentResult(turn)
    with trace.stage("intent") as details:
        detection = await adapter.detect(turn.text, turn.received_at)
        intent = detection.intent._replace(places=detection.places(turn.text))
        details |= {
            "intent": intent.name,
            "confidence": round(intent.confidence, 4),
            "method": intent.method,
            "evidence": detection.evidence,
            "entities": dict(intent.entities),
            "read_from": detection.words,
            "flags": dict(intent.flags),
            "route": intent.route,
            "explanation": intent.explanation,
        }
    return IntentResult(replace(turn, intent=intent), detection, adapter.library)
