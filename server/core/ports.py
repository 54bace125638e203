"""The Protocols between packages. Each has at least two real implementations."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from server.core.chat_messages import Message, Reply
from server.core.claims import Claim
from server.core.data_values import FoundValue
from server.core.decision import Decision, Trace
from server.core.tools import ToolDefinition
from server.core.turn import Turn

Vectors = NDArray[np.float32]
"""(n, d) float32, each row of unit length."""


@runtime_checkable
class Embedder(Protocol):
    """Text to vectors. Never blocks the event loop.

    `warm` and `embed` raise ProviderUnavailable, ProviderTimedOut or ProviderRejected.
    """

    @property
    def name(self) -> str:
        """Provider and model as the configuration names them, `local:…`, for messages."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the vectors would: provider, model, dimensions, weights.

        Final once `warm` has returned.
        """

    async def warm(self) -> None:
        """Load or reach the model, so that the first question does not wait for it."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), d) unit rows, in the order of `texts`."""

    async def close(self) -> None:
        """Release connections and threads; the embedder is not used afterwards."""


@runtime_checkable
class ChatModel(Protocol):
    """A chat model, deterministic where the provider can be. Never blocks the event loop.

    Its methods raise ProviderUnavailable, ProviderTimedOut, and ProviderRejected where the
    answer is not what was asked for; `stream` raises them in mid-stream as well.
    """

    @property
    def name(self) -> str:
        """Provider and model as the configuration names them, `ollama:gemma3:270m`."""

    async def warm(self) -> None:
        """Load or reach the model, so that the first answer does not wait for it."""

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolDefinition] = (),
        max_tokens: int | None = None,
    ) -> Reply:
        """Return the next message.

        With a JSON `schema` the reply's `data` is valid against it, whether or not the
        provider can force that. With `tools` the reply may hold `calls`.
        """

    def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        """Yield the next message's text as it comes, and the whole `Reply` last.

        A caller that stops early closes it (`aclosing`), so that the model stops too.
        """

    async def close(self) -> None:
        """Release connections, threads and memory; the model is not used afterwards."""


@runtime_checkable
class Tool(Protocol):
    """A tool that runs in process: a name, its operations, and a way to run one."""

    @property
    def name(self) -> str: ...

    @property
    def operations(self) -> Mapping[str, ToolDefinition]:
        """Every operation by name, with the parameters it takes; empty where any may be tried."""

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run one operation and return `result`, `operation`, `input` and more.

        Pure and synchronous; the executor decides where it runs and for how long.

        Raises:
            ToolUnknown: no such operation; the message lists those there are.
            ArgumentsInvalid: an argument is missing, mistyped or out of range.
            ToolFailed: the arguments are fine, the calculation is not.
        """


class Claims(Protocol):
    """Names that one at a time may have, among all processes of a server on this machine.

    Where that is more than one, all raise StoreUnavailable when they cannot be reached.
    """

    async def claim(self, kind: str, name: str, *, for_s: float | None = None) -> Claim:
        """Take a name until it is released, or at most for `for_s` seconds."""

    async def release(self, kind: str, name: str) -> None:
        """Let go of a name, so that it may be taken again."""

    async def is_claimed(self, kind: str, name: str) -> bool:
        """Return whether somebody has the name."""


@runtime_checkable
class DataValues(Protocol):
    """What the data behind an adapter hold, as far as arguments are compared with them."""

    async def find(self, template_id: str, parameter: str, value: str) -> FoundValue | None:
        """Look a value up for a parameter of a template, within a bounded time.

        None says nothing about it: it is compared with nothing, or cannot be looked up now.
        """

    async def close(self) -> None:
        """Read nothing any more."""


@runtime_checkable
class Decider(Protocol):
    """Decides what a question asks for, by itself or by asking the next one; runs nothing."""

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        """Return the decision; what led to it is written into `trace`.

        Raises:
            ProviderError: the question could not be embedded.
        """

    async def close(self) -> None:
        """Give back what it holds; the decider is not used afterwards."""
