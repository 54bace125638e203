"""A call that waits for a yes, whole: what would run, for whom, and until when."""

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from server.conversation.places import Place
from server.conversation.values import to_text
from server.core.decision import Match, Origin
from server.core.tools import Source


@dataclass(frozen=True, slots=True)
class HeldCall:
    """`arguments` are as they will run, and hold what must not be shown.

    `intent` and `target` are what is committed. `detected` is the intent that the server's
    rule pack found in the question, and `template_hash` what the template was like.
    """

    proposal_id: str
    place: Place
    library: str
    """The adapter whose template it is; a guard may have led there from the key's own."""
    template_id: str
    template_hash: str
    arguments: Mapping[str, Any]
    sources: Mapping[str, Source]
    match: Match
    intent: str
    target: str | None
    detected: str | None
    origin: Origin
    proposed_by: Literal["system", "model"]
    question: str
    created_at: datetime
    expires_at: datetime
    seal: str = field(default="", repr=False)


class Seal:
    """Seals calls with the secret of the installation; without it nobody makes one that holds."""

    def __init__(self, secret: bytes) -> None:
        self._secret = hmac.digest(secret, b"proposals", "sha256")

    def of(self, held: HeldCall) -> str:
        """HMAC-SHA-256, in hexadecimal, of what would run, for whom, and until when."""
        plain = json.dumps(
            [
                held.proposal_id,
                *held.place,
                held.library,
                held.template_id,
                held.template_hash,
                to_text(held.arguments),
                held.intent,
                held.target,
                held.detected,
                held.origin,
                held.proposed_by,
                held.expires_at.astimezone(UTC).isoformat(),
            ]
        )
        return hmac.new(self._secret, plain.encode(), "sha256").hexdigest()

    def holds(self, held: HeldCall) -> bool:
        return hmac.compare_digest(self.of(held), held.seal)
