"""Words of an answer that go out while it is still being made, and how long a turn may take."""

import asyncio
from dataclasses import dataclass, field
from typing import Final, Literal

_RESERVED_S: Final = 0.5
"""Seconds of a turn that are kept for answering without the model."""


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """`text` are words to show; `reset` says that all words so far do not count, and why."""

    kind: Literal["text", "reset"]
    text: str
    template_id: str | None = None


@dataclass(slots=True)
class StreamListener:
    """Somebody who follows an answer as it is made. `text` is what counts so far."""

    events: "asyncio.Queue[StreamEvent]" = field(default_factory=asyncio.Queue)
    text: str = ""

    def send(self, words: str, template_id: str | None = None) -> None:
        """Let `words` go out; `template_id` is the template that the answer comes from."""
        if words:
            self.text += words
            self.events.put_nowait(StreamEvent("text", words, template_id))

    def reset(self, why: str) -> None:
        """Say that the words so far are no answer, when there are any."""
        if self.text:
            self.text = ""
            self.events.put_nowait(StreamEvent("reset", why))


@dataclass(frozen=True, slots=True)
class TurnDeadline:
    """When a turn has to end, on the clock of the event loop, and who listens until then.

    `private` says that the question may hold what no model may be given.
    """

    ends_at: float
    listener: StreamListener | None = None
    private: bool = False

    def step_timeout(self, timeout_s: float) -> asyncio.Timeout:
        """A limit for one step: its own, or what the turn has left, whichever is sooner."""
        return asyncio.timeout(max(0.0, min(timeout_s, self.left_s())))

    def left_s(self) -> float:
        """Seconds that are left for steps; below zero where it is time to answer."""
        return self.ends_at - asyncio.get_running_loop().time() - _RESERVED_S
