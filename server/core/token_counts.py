"""How many tokens the models of a turn read and wrote."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from server.core.chat_messages import TokenUsage


@dataclass(slots=True)
class TokenCount:
    """Tokens so far; what a provider does not tell is not counted."""

    prompt: int = 0
    completion: int = 0


_COUNTING: Final = ContextVar[TokenCount | None]("token_count", default=None)


@contextmanager
def count_tokens() -> Iterator[TokenCount]:
    """Count the tokens of everything that begins inside, tasks as well; who counts outside, too."""
    count, outer = TokenCount(), _COUNTING.get()
    token = _COUNTING.set(count)
    try:
        yield count
    finally:
        _COUNTING.reset(token)
        if outer is not None:
            outer.prompt += count.prompt
            outer.completion += count.completion


def note_tokens(used: TokenUsage) -> None:
    count = _COUNTING.get()
    if count is not None:
        count.prompt += max(used.prompt or 0, 0)
        count.completion += max(used.completion or 0, 0)
