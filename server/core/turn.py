"""Who asks, and what they ask."""

from datetime import datetime

from server.core.context import NO_CONTEXT, Context
from server.core.intent import Intent
from server.core.values import value


@value
class Caller:
    """The holder of a key, as the rest of the server knows them. Never the key itself."""

    key_id: str
    adapter: str
    user_id: str | None = None
    role: str = "user"
    limits: tuple[str, ...] = ()
    """Rate limits of this key, written as `60/minute`."""


@value
class Turn:
    """One question. `received_at` is aware and in UTC; `id` is the request id."""

    id: str
    text: str
    session_id: str
    caller: Caller
    received_at: datetime
    languages: tuple[str, ...] = ()
    """Languages the reader prefers, as BCP 47 tags, best first."""
    intent: Intent | None = None
    """What the rule engine makes of it, for adapters that have one."""
    context: Context = NO_CONTEXT
    """What the conversation remembers; nothing, when this is its first turn."""
    continues: bool = False
    """Whether the client named the conversation, so that there may be something to remember."""
