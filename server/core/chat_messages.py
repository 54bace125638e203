"""What a chat model is told, and what it says back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

SpeakerRole = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One thing said, by the operator (`system`), a person or the assistant."""

    role: SpeakerRole
    content: str


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call that a model proposes. Nothing in it is trusted."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """How much was read and written, in the model's tokens; None where it does not say."""

    prompt: int | None = None
    completion: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said.

    `data` is the reply as JSON, valid against the schema that was asked for; None without
    one. `calls` are the functions it wants to call. `cut` tells that it ran into the limit
    of tokens before it was done.
    """

    text: str
    model: str
    data: Any = None
    calls: tuple[FunctionCall, ...] = ()
    tokens: TokenUsage = TokenUsage()
    cut: bool = False
