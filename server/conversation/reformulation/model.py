"""What may be proposed, and what a conversation was understood to ask for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from server.errors import Location

UnderstoodBy = Literal["rules", "model", "nobody"]


@dataclass(frozen=True, slots=True)
class OfferedIntent:
    """One intent, and the template that does it; `target` is the parameter that it fills."""

    name: str
    description: str
    template: str
    target: str | None = None
    examples: tuple[str, ...] = ()
    where: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class Reformulation:
    """Everything that a reformulator was written with.

    `prompt` is rendered already. `proposal` and `clarify` are Jinja by language, with the
    text for all others under the empty name.
    """

    intents: Mapping[str, OfferedIntent]
    prompt: str
    targets: tuple[str, ...] = ()
    model_timeout_s: float = 10.0
    proposal: Mapping[str, str] = field(default_factory=dict)
    clarify: Mapping[str, str] = field(default_factory=dict)
    where: Location = field(default=Location(""), compare=False)
    """Where its `targets` are written."""


@dataclass(frozen=True, slots=True)
class Understanding:
    """What a customer wants, if that is clear; `intent` is None when it is not.

    `why` is for people who look into it, and `confidence` is 0 to 1: a rule's own, or a
    half for what a model said, which nobody has measured. `earlier` tells that the target
    was named before the latest message.
    """

    intent: str | None
    target: str | None
    by: UnderstoodBy
    why: str
    confidence: float = 0.0
    earlier: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The proposal as the shape that callers know: `PROPOSED` or `AMBIGUOUS`."""
        if self.intent is None:
            return {"status": "AMBIGUOUS", "intent": None, "target": None}
        return {"status": "PROPOSED", "intent": self.intent, "target": self.target}


def unclear(why: str) -> Understanding:
    return Understanding(None, None, "nobody", why)
