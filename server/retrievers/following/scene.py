"""A message in its conversation, and what can be decided of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal

from server.conversation.followups.wording import Wording
from server.core.context import Asked, Context, Done
from server.core.decision import Decision
from server.core.intent import Intent
from server.core.trace import Trace
from server.core.turn import Turn
from server.extraction.extractor import Extractor
from server.library.model import Library
from server.retrievers.following.given import Message

How = Literal["", "answer", "correction", "choice", "follow_up", "reference", "result", "dropped"]


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision, and the intent that the rule pack found for it."""

    decision: Decision
    intent: Intent | None = None
    how: How = ""
    """What the conversation contributed; empty when the question stands alone."""


Alone = Callable[[str], Awaitable[Decided]]
"""What a question is decided to mean without any conversation."""

Follow = Callable[[Turn, Intent | None, Alone, Trace], Awaitable[Decided]]
"""Decides what a turn means in its conversation, given what it would mean alone."""

_GOES_ON: Final = frozenset({"correction", "continuation", "fragment"})


@dataclass(frozen=True, slots=True)
class Scene:
    """One message, what came before it, and the library that answers."""

    turn: Turn
    message: Message
    library: Library
    extractor: Extractor
    alone: Alone

    @property
    def context(self) -> Context:
        return self.turn.context

    @property
    def wording(self) -> Wording:
        return self.message.wording

    @property
    def goes_on(self) -> bool:
        """Whether the message says by its form that it goes on with something."""
        return self.message.saying.form in _GOES_ON

    @property
    def asked(self) -> Asked | None:
        """What was asked, if the library still has the template."""
        asked = self.context.asked
        return asked if asked is not None and asked.template_id in self.library.templates else None

    @property
    def last(self) -> Done | None:
        """The last call, be it that it waits for a yes, if the library still has its template."""
        context = self.context
        done = context.waiting or (context.done[-1] if context.done else None)
        known = done is not None and done.template_id in self.library.templates
        return done if known else None

    def told(self, decision: Decision, intent: str | None, how: How) -> Decided:
        """The decision, for the intent that the call it goes on with was for."""
        if intent is None:
            return Decided(decision, self.turn.intent, how)
        meant = Intent(intent, 1.0, "default", explanation="as before in this conversation")
        return Decided(decision, meant, how)
