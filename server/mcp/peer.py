"""Who speaks MCP with this process, and what answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from server.adapters.registry import Adapters
from server.chat.adapter import Adapter
from server.core.storable import storable_text
from server.core.turn import Caller, Turn

DescribeFailure = Callable[[Exception, str], Mapping[str, Any]]
"""Returns what a client may read of a failure in a request of that id, as HTTP answers it."""


@dataclass(frozen=True, slots=True)
class Host:
    """What answers, whatever the transport."""

    adapters: Adapters
    describe_failure: DescribeFailure
    turn_timeout_s: float
    max_message_chars: int


@dataclass(frozen=True, slots=True)
class Peer:
    """Whoever sent one request."""

    host: Host
    caller: Caller
    request_id: str
    languages: tuple[str, ...] = ()

    def adapter(self) -> Adapter:
        """Return the adapter that answers. May raise KeyForeign or AdapterUnavailable."""
        return self.host.adapters.opened_by(self.caller)

    def turn(self, text: str, session_id: str | None) -> Turn:
        """Return a turn of a conversation, a new one where the client names none."""
        return Turn(
            id=self.request_id,
            text=storable_text(text),
            session_id=session_id or uuid4().hex,
            caller=self.caller,
            received_at=datetime.now(UTC),
            languages=self.languages,
            continues=session_id is not None,
        )
