"""What a conversation remembers of a turn."""

from typing import Final

from server.conversation.memory import ChatMemory
from server.core.answer import Answer
from server.core.context import Context
from server.core.decision import Blocked
from server.core.redaction import REDACTED
from server.core.turn import Turn

_MOST_CHARS: Final = 4000
"""Of longer messages the beginning is remembered."""


def remembered(turn: Turn, answer: Answer, *, max_turns: int, private: bool) -> Context:
    """What is remembered after `turn`, which `turn.context` came before.

    `private` says that words of the question must not be kept, since sensitive values may
    stand among them. A question that a guard refused leaves nothing behind.
    """
    if isinstance(answer.decision, Blocked):
        return turn.context
    memory = ChatMemory.of(turn.context.messages, max_turns)
    memory.add_message("user", REDACTED if private else turn.text[:_MOST_CHARS])
    memory.add_message("assistant", answer.content[:_MOST_CHARS])
    return Context(memory.messages)
