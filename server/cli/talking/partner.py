"""Who answers at the other end of a conversation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from server.core.trace import Trace


class Hearer(Protocol):
    """Takes an answer as it comes, from the thread of the event loop."""

    def say(self, words: str) -> None:
        """The next words."""

    def take_back(self) -> None:
        """The words so far are no answer; those that are follow."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer whose words were said already.

    `trace` is None where whoever answered keeps it to themselves.
    """

    metadata: Mapping[str, Any] = field(default_factory=dict)
    trace: Trace | None = None

    @property
    def waits_for_yes(self) -> bool:
        """Whether something was proposed that a yes or a no settles."""
        proposal = self.metadata.get("proposal") or {}
        return bool(proposal.get("status") == "held")


class Partner(Protocol):
    """Answers the messages of one session, one at a time."""

    @property
    def name(self) -> str:
        """The adapter or the address, for people."""

    async def answer(self, text: str, hearer: Hearer) -> Answered:
        """Answer one message, its words as they come.

        Raises:
            OrbitError: there is no answer; the message says why.
        """

    async def clear(self) -> None:
        """Forget what was said in the session.

        Raises:
            OrbitError: it could not be forgotten.
        """
