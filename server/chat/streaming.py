"""Words of an answer that go out while it is still being made."""

import asyncio
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """`said` are words to show; `took_back` says that all words so far do not count, and why."""

    kind: Literal["said", "took_back"]
    text: str
    template_id: str | None = None


@dataclass(slots=True)
class Listening:
    """Somebody who follows an answer as it is spoken. `spoken` is what counts so far."""

    events: "asyncio.Queue[StreamEvent]" = field(default_factory=asyncio.Queue)
    spoken: str = ""

    def say(self, words: str, template_id: str | None = None) -> None:
        """Let `words` go out; `template_id` is the template that the answer comes from."""
        if words:
            self.spoken += words
            self.events.put_nowait(StreamEvent("said", words, template_id))

    def take_back(self, why: str) -> None:
        """Say that the words so far are no answer, when there are any."""
        if self.spoken:
            self.spoken = ""
            self.events.put_nowait(StreamEvent("took_back", why))


@dataclass(frozen=True, slots=True)
class TurnDeadline:
    """Until when a turn may speak, on the clock of the event loop, and who listens.

    `private` says that the question may hold what no model is to be told.
    """

    ends_at: float
    listening: Listening | None = None
    private: bool = False

    @property
    def left_s(self) -> float:
        return self.ends_at - asyncio.get_running_loop().time()
