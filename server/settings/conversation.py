"""Settings of what is remembered between questions."""

from pydantic import Field

from server.settings.fields import Strict


class ConversationSettings(Strict):
    """What is remembered of a conversation, and for how long."""

    max_turns: int = Field(default=10, ge=1, le=1000)
    """Turns that are remembered; one turn is a question and its answer."""
    expires_after_h: float = Field(default=24.0, gt=0, le=8760)
    """Hours after its last turn at which a conversation is forgotten."""
    max_sessions_per_key: int = Field(default=10_000, ge=1, le=10_000_000)
    """Conversations that are kept for one key; beyond it, those that rested longest go."""
