"""What the adapter's rule pack makes of a question, before anything is matched."""

from dataclasses import dataclass, replace

from server.chat.adapter import Adapter
from server.core.decision import Trace
from server.core.turn import NO_CONTEXT, Turn
from server.intents.detector import Detection


@dataclass(frozen=True, slots=True)
class IntentResult:
    """The turn with its intent, and the detection in the pack's own fields, if it has a pack."""

    turn: Turn
    detection: Detection | None = None


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
    mentions = None
    if detection.question is not None and turn.context is not NO_CONTEXT:
        mentions = detection.intent._replace(entities=dict(detection.question.values))
        places = detection._replace(intent=mentions).places(turn.text)
        mentions = mentions._replace(places=places)
    return IntentResult(replace(turn, intent=intent, mentions=mentions), detection)
