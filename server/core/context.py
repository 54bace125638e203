"""What a conversation remembers, as a decision sees it."""

from dataclasses import dataclass

from server.core.speech import Message


@dataclass(frozen=True, slots=True)
class Context:
    """What was said and done before this turn, oldest first."""

    messages: tuple[Message, ...] = ()


NO_CONTEXT = Context()
