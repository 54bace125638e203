"""The event of a commit: somebody said yes, and what they said yes to is about to run."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from server.core.jsonable import to_json

COMMIT: Final = "J01"


@dataclass(frozen=True, slots=True)
class CommitEvent:
    """`id` is the same for every delivery of one event, and for no other event."""

    id: str
    at: datetime
    intent: str
    target: str | None
    session_id: str

    def to_dict(self) -> dict[str, Any]:
        """The event as it is sent, logged and kept."""
        return {
            "event": COMMIT,
            "id": self.id,
            "time": self.at.astimezone(UTC).isoformat(timespec="milliseconds"),
            "intent": self.intent,
            "target": self.target,
            "session_id": self.session_id,
            "status": "COMMITTED",
        }

    def to_text(self) -> str:
        return to_json(self.to_dict())
