"""Provider `scripted`: replies that were written down, for tests and demonstrations."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from server.core.chat_messages import FunctionCall, Message, Reply
from server.core.tools import ToolDefinition
from server.errors import OrbitError, ProviderRejected, ProviderTimedOut, ProviderUnavailable
from server.providers.spec import ChatLimits, ProviderSpec
from server.settings.documents import read_yaml
from server.settings.fields import Strict
from server.settings.validation import validate

_FAILURES: Final = {
    "unavailable": ProviderUnavailable,
    "timed_out": ProviderTimedOut,
    "rejected": ProviderRejected,
}


class CallYaml(Strict):
    """A call that the model proposes."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class LineYaml(Strict):
    """One reply of a script."""

    text: str = ""
    calls: tuple[CallYaml, ...] = ()
    cut: bool = False
    when: str = ""
    delay_s: float = Field(default=0.0, ge=0)
    fails: Literal["unavailable", "timed_out", "rejected"] | None = None


_AS_LINE: Final = BeforeValidator(lambda told: {"text": told} if isinstance(told, str) else told)


class ScriptYaml(Strict):
    """A file of replies."""

    replies: tuple[Annotated[LineYaml, _AS_LINE], ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Line:
    """A reply for messages that hold `when`, after `delay_s`; `failure` is raised after it."""

    reply: Reply
    when: str = ""
    delay_s: float = 0.0
    failure: OrbitError | None = None


@dataclass(frozen=True, slots=True)
class ScriptedRequest:
    """What a scripted model was called with."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    tools: tuple[ToolDefinition, ...] = ()
    max_tokens: int | None = None


class ScriptedOptions(ChatLimits):
    """Replies that were written down."""


class ScriptedChat:
    """Says its lines in order, and the last one that fits again and again.

    `model` is a YAML or JSON file with `replies`, or a list of them: texts, replies,
    failures to raise, or whole lines. `asked` keeps what each call was given.
    """

    def __init__(
        self,
        model: str | Sequence[str | Reply | OrbitError | Line] | None,
        _options: ScriptedOptions | None = None,
    ) -> None:
        self._file = Path(model) if isinstance(model, str) else None
        self.name = f"scripted:{self._file}" if self._file else "scripted"
        entries = () if model is None or isinstance(model, str) else model
        self._lines = tuple(self._line(entry) for entry in entries)
        self._said: set[int] = set()
        self.asked: list[ScriptedRequest] = []

    async def warm(self) -> None:
        """Read the file. Raises `ProviderUnavailable`: it cannot be used; the message says why."""
        if self._lines or self._file is None:
            return
        document = await asyncio.to_thread(read_yaml, self._file, {})
        script, problems = validate(ScriptYaml, document)
        problems = (*document.problems, *problems)
        if script is None or any(problem.severity == "error" for problem in problems):
            why = "; ".join(str(problem) for problem in problems)
            raise ProviderUnavailable(f"script {self._file} cannot be used: {why}")
        self._lines = tuple(_read(entry, self.name) for entry in script.replies)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolDefinition] = (),
        max_tokens: int | None = None,
    ) -> Reply:
        line = await self._next(ScriptedRequest(tuple(messages), schema, tuple(tools), max_tokens))
        if line.failure is not None:
            raise line.failure
        return line.reply

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int | None = None
    ) -> AsyncGenerator[str | Reply, None]:
        line = await self._next(ScriptedRequest(tuple(messages), max_tokens=max_tokens))
        for number, word in enumerate(line.reply.text.split(" ")):
            if word or number:
                yield word if number == 0 else f" {word}"
        if line.failure is not None:
            raise line.failure
        yield line.reply

    async def close(self) -> None:
        return None

    async def _next(self, asked: ScriptedRequest) -> Line:
        await self.warm()
        self.asked.append(asked)
        heard = asked.messages[-1].content if asked.messages else ""
        fitting = [n for n, line in enumerate(self._lines) if line.when in heard]
        if not fitting:
            raise ProviderRejected(f"{self.name} has no reply to that")
        number = next((n for n in fitting if n not in self._said), fitting[-1])
        self._said.add(number)
        await asyncio.sleep(self._lines[number].delay_s)
        return self._lines[number]

    def _line(self, entry: str | Reply | OrbitError | Line) -> Line:
        if isinstance(entry, Line):
            return entry
        if isinstance(entry, OrbitError):
            return Line(Reply("", self.name), failure=entry)
        return Line(Reply(entry, self.name) if isinstance(entry, str) else entry)


def _read(entry: LineYaml, name: str) -> Line:
    calls = tuple(FunctionCall(call.name, call.arguments) for call in entry.calls)
    failure = _FAILURES[entry.fails](f"{name}: as the script says") if entry.fails else None
    reply = Reply(entry.text, name, calls=calls, cut=entry.cut)
    return Line(reply, entry.when, entry.delay_s, failure)


PROVIDER: Final = ProviderSpec(client=ScriptedChat, options=ScriptedOptions)
