"""What models are told: YAML with Jinja, checked when it is read, versioned in the trace."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from server.core.chat_messages import Message
from server.core.json import to_json
from server.core.ports import ChatModel
from server.core.suggestions import did_you_mean
from server.errors import Problem, ProviderError
from server.library.expressions import examine
from server.library.rendering import RenderingFailed, render
from server.settings.documents import Document, Keys, read_yaml
from server.settings.fields import Strict, Version
from server.settings.validation import validate

SHIPPED: Final = Path(__file__).parent / "prompts" / "default.yaml"

PromptName = Literal["synthesis", "filling", "proposing", "conversation"]

VARIABLES: Final[Mapping[PromptName, frozenset[str]]] = {
    "synthesis": frozenset({"question", "result", "arguments", "answer", "description", "language",
                            "cut", "shown", "total"}),
    "filling": frozenset({"question", "said", "function", "missing"}),
    "proposing": frozenset({"question", "said", "functions"}),
    "conversation": frozenset({"adapter", "description", "abilities", "system_prompt", "language"}),
}  # fmt: skip
"""What each prompt is given."""


class MessageYaml(Strict):
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    """Whose message it is."""
    content: str = Field(min_length=1)
    """Its text, in Jinja."""


MessagesYaml = Annotated[tuple[MessageYaml, ...], Field(min_length=1)]


class PromptSetYaml(Strict):
    """The messages of each prompt, in order; what is left out stays as it is shipped."""

    synthesis: MessagesYaml | None = None
    """From a tool's result to a sentence."""
    filling: MessagesYaml | None = None
    """The arguments that a question hides."""
    proposing: MessagesYaml | None = None
    """Which function a question asks for."""
    conversation: MessagesYaml | None = None
    """A reply to what no template answers."""

    def written(self) -> Iterator[tuple[PromptName, tuple[MessageYaml, ...]]]:
        """Yield each prompt that the file has."""
        return ((name, getattr(self, name)) for name in VARIABLES if getattr(self, name))


class PromptsYaml(Strict):
    """A file of prompts."""

    version: Annotated[Version, Field(min_length=1)]
    """What the trace calls this version of the prompts."""
    prompts: PromptSetYaml
    """The prompts."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Messages to be rendered. `digest` changes whenever a word of them does."""

    name: PromptName
    version: str
    digest: str
    messages: tuple[tuple[Literal["system", "user", "assistant"], str], ...]

    def render(self, **values: Any) -> tuple[Message, ...]:
        """Return the messages with `values`, in which texts and data are `as_data` already.

        Raises:
            RenderingFailed: a message does what the sandbox forbids, or stumbles over a value.
        """
        return tuple(Message(role, render(text, values)) for role, text in self.messages)

    @property
    def described(self) -> str:
        """Name, version and digest, for the trace."""
        return f"{self.name} {self.version} ({self.digest})"


Prompts = Mapping[PromptName, Prompt]

MODEL_FAILURES: Final = (ProviderError, RenderingFailed, TimeoutError)
"""What asking a model may raise."""


@dataclass(frozen=True, slots=True)
class PromptedModel:
    """A model, what it is told, and how long it may take."""

    model: ChatModel
    prompt: Prompt
    timeout_s: float

    @property
    def details(self) -> dict[str, Any]:
        """What the trace says of it."""
        return {"model": self.model.name, "prompt": self.prompt.described}

    def explain_failure(self, failure: Exception) -> str:
        return str(failure) or f"{self.model.name} was not done in time"


def as_data(value: Any) -> str:
    """Return a value as JSON that cannot be taken for a tag: `<`, `>` and `&` are escaped."""
    text = to_json(value)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def load_prompts(
    path: Path | None, environ: Mapping[str, str]
) -> tuple[Prompts | None, tuple[Problem, ...]]:
    """Return the shipped prompts, replaced by those of `path`; None when it has problems."""
    shipped, problems = _read_prompts(SHIPPED, {})
    if path is None or shipped is None:
        return shipped, problems
    own, problems = _read_prompts(path, environ)
    return (None if own is None else {**shipped, **own}), problems


def _read_prompts(
    path: Path, environ: Mapping[str, str]
) -> tuple[Prompts | None, tuple[Problem, ...]]:
    document = read_yaml(path, environ)
    written, invalid = validate(PromptsYaml, document)
    problems = [*document.problems, *invalid]
    if written is None:
        return None, tuple(problems)
    prompts: dict[PromptName, Prompt] = {}
    for name, messages in written.prompts.written():
        for number, message in enumerate(messages):
            keys: Keys = ("prompts", name, number, "content")
            problems += _text_problems(name, message.content, document, keys)
        problems += _order_problems(name, messages, document)
        texts = tuple((message.role, message.content) for message in messages)
        digest = hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:12]
        prompts[name] = Prompt(name, written.version, digest, texts)
    broken = any(problem.severity == "error" for problem in problems)
    return None if broken else prompts, tuple(problems)


def _text_problems(name: PromptName, text: str, document: Document, keys: Keys) -> list[Problem]:
    found = examine(text)
    where = document.where(keys)
    if found.problem is not None:
        return [Problem(f"prompt {name!r}: {found.problem}", where, "bad-template")]
    known, problems = sorted(VARIABLES[name]), list[Problem]()
    for variable in sorted(found.variables.difference(known)):
        what = f"prompt {name!r} uses {variable!r}, which it is not given; "
        problems.append(Problem(what + did_you_mean(variable, known), where, "unknown-variable"))
    return problems


def _order_problems(
    name: PromptName, messages: tuple[MessageYaml, ...], document: Document
) -> list[Problem]:
    """Return the problem of a prompt, but the conversation's, that no user's message ends."""
    if messages[-1].role == "user" or name == "conversation":
        return []
    what = f"prompt {name!r} ends with a message of {messages[-1].role}; a model answers a user's"
    return [Problem(what, document.where(("prompts", name, len(messages) - 1)), "wrong-value")]
