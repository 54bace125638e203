"""One line of the audit: a call or a refusal, and its place in the chain."""

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Final

from server.core.jsonable import to_json
from server.core.values import value

GENESIS: Final = "0" * 64
"""What the first entry follows."""

MOST_CHARS: Final = 20_000
"""Of longer arguments the beginning is kept, and how long they were."""


@value
class Event:
    """What happened. `arguments` are redacted before they come here."""

    at: datetime
    request_id: str
    adapter: str
    key_id: str
    user_id: str | None
    role: str
    intent: str | None
    template_id: str
    tool: str
    operation: str
    outcome: str
    reason: str = ""
    duration_ms: float = 0.0
    proposed_by: str = "system"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    proposal_id: str | None = None
    """As what it was held until somebody said yes, or is held now."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An event as it is kept: numbered, and bound to the entry before it."""

    number: int
    event: Mapping[str, Any]
    previous: str
    digest: str

    def to_dict(self) -> dict[str, Any]:
        chain = {"number": self.number, "previous": self.previous, "digest": self.digest}
        return {**self.event, **chain}


_NAMES: Final = tuple(field.name for field in fields(Event))
_ENCODER: Final = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"))


class Seal:
    """Makes and checks the chain with the secret of the installation.

    Without that secret nobody can write an entry, or a whole trail, that holds.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = hmac.digest(secret, b"audit", "sha256")

    def entry(self, number: int, event: Mapping[str, Any], previous: str) -> Entry:
        return Entry(number, event, previous, self.digest(number, event, previous))

    def digest(self, number: int, event: Mapping[str, Any], previous: str) -> str:
        plain = _ENCODER.encode([number, previous, event])
        return hmac.digest(self._secret, plain.encode(), "sha256").hex()

    def end(self, number: int, digest: str) -> str:
        """The seal of a trail's end, so that its last entries cannot be cut off unseen."""
        return hmac.digest(self._secret, f"end:{number}:{digest}".encode(), "sha256").hex()


def to_row(event: Event) -> dict[str, Any]:
    """The event as JSON-ready data, which reads back as exactly the same."""
    row = {name: _written(getattr(event, name)) for name in _NAMES}
    row["at"] = event.at.astimezone(UTC).isoformat(timespec="milliseconds")
    row["duration_ms"] = round(event.duration_ms, 3)
    arguments = _written(to_json(event.arguments))
    if len(arguments) > MOST_CHARS:
        row["arguments"] = {"cut": arguments[:MOST_CHARS], "chars": len(arguments)}
    else:
        row["arguments"] = json.loads(arguments)
    return row


def _written(value: Any) -> Any:
    """The value; in text, a lone half of a character can be neither written nor compared."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode()
    return value
