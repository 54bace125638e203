"""Messages to chat models, and their replies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

SpeakerRole = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the operator (`system`), a person or the assistant."""

    role: SpeakerRole
    content: str


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call that a model proposes. Nothing in it is trusted."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens read and written; None where the provider does not say."""

    prompt: int | None = None
    completion: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a model.

    `data` is the reply as JSON, valid against the schema that was asked for; None without
    one. `calls` are the functions it wants to call. `cut` says that it reached the limit
    of tokens before it was done.
    """

    text: str
    model: str
    data: Any = None
    calls: tuple[FunctionCall, ...] = ()
    tokens: TokenUsage = TokenUsage()
    cut: bool = False
