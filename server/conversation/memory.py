"""The messages of one conversation, in a window that slides."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from server.core.chat_messages import Message, SpeakerRole
from server.core.turn import Caller

_ROLES: Final[dict[str, SpeakerRole]] = {"user": "user", "assistant": "assistant"}
_PER_TURN: Final = 2
"""A turn is what a person said and what was replied."""


class ChatMemory:
    """Keeps the messages of the last `max_turns` turns, oldest first."""

    def __init__(self, max_turns: int = 10, messages: Iterable[Message] = ()) -> None:
        """A memory that begins with `messages`."""
        if max_turns < 1:
            raise ValueError(f"max_turns is {max_turns}, and one turn is the least")
        self._max_turns = max_turns
        self._messages = list(messages)[-max_turns * _PER_TURN :]

    def add_message(self, role: str, content: str) -> None:
        """Add what was said; the oldest messages go when there are too many.

        Raises:
            ValueError: `role` is neither `user` nor `assistant`.
        """
        try:
            speaker = _ROLES[role]
        except KeyError:
            known = ", ".join(map(repr, _ROLES))
            raise ValueError(f"role {role!r} is not one of {known}") from None
        self._messages.append(Message(speaker, content))
        del self._messages[: -self._max_turns * _PER_TURN]

    def get_history(self) -> list[dict[str, str]]:
        """Return every message as `{"role", "content"}`, in a new list."""
        return [{"role": message.role, "content": message.content} for message in self._messages]

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    def clear(self) -> None:
        """Forget everything."""
        self._messages.clear()

    def __len__(self) -> int:
        return len(self._messages)

    def __repr__(self) -> str:
        return f"ChatMemory(max_turns={self._max_turns}, messages={len(self)})"


class ConversationKey(NamedTuple):
    """Identifies a conversation of one key, adapter and user."""

    key_id: str
    adapter: str
    user_id: str
    session_id: str


def conversation_key(caller: Caller, session_id: str) -> ConversationKey:
    return ConversationKey(caller.key_id, caller.adapter, caller.user_id or "", session_id)


def conversation_key_columns(**how: Any) -> tuple[sa.Column[str], ...]:
    """Return the columns for a `ConversationKey`; `how` is passed to each of them."""
    sizes = {"key_id": 64, "adapter": 255, "user_id": 255, "session_id": 128}
    return tuple(sa.Column(name, sa.String(size), **how) for name, size in sizes.items())


def is_conversation(table: sa.Table, place: ConversationKey) -> sa.ColumnElement[bool]:
    """Return the condition that a row belongs to a conversation."""
    return sa.and_(*(table.c[name] == value for name, value in place._asdict().items()))
