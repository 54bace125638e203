"""What may be proposed, what a conversation was understood to ask for, and the texts for both."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from server.errors import Location
from server.library.expressions import SANDBOX
from server.settings.documents import read_yaml

UnderstoodBy = Literal["rules", "model", "nobody"]


@dataclass(frozen=True, slots=True)
class OfferedIntent:
    """One intent, and the template that does it; `target` is the parameter that it fills.

    `lookup` is a template that finds the target by a parameter of that name, before anything
    is proposed.
    """

    name: str
    description: str
    template: str
    target: str | None = None
    examples: tuple[str, ...] = ()
    lookup: str | None = None
    where: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class Reformulation:
    """Everything that a reformulator was written with.

    `prompt` is rendered already. `proposal`, `clarify` and `model_failed` are Jinja by language,
    with the text for all others under the empty name.
    """

    intents: Mapping[str, OfferedIntent]
    prompt: str
    targets: tuple[str, ...] = ()
    model_timeout_s: float = 10.0
    proposal: Mapping[str, str] = field(default_factory=dict)
    clarify: Mapping[str, str] = field(default_factory=dict)
    model_failed: Mapping[str, str] = field(default_factory=dict)
    where: Location = field(default=Location(""), compare=False)
    """Where its `targets` are written."""


@dataclass(frozen=True, slots=True)
class Understanding:
    """What a customer wants, if that is clear; `intent` is None when it is not.

    `why` is for people who look into it, and `confidence` is 0 to 1: a rule's own, or a
    half for what a model said, which nobody has measured. `earlier` tells that the target
    was named before the latest message. `among` are the targets that may be meant, where it
    is not clear which. `wish` is the latest message without what it says is not wanted.
    `model_failed` tells that a model was to be asked and gave no answer that can be used.
    """

    intent: str | None
    target: str | None
    by: UnderstoodBy
    why: str
    confidence: float = 0.0
    earlier: bool = False
    among: tuple[str, ...] = ()
    wish: str = ""
    model_failed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The proposal as the shape that callers know: `PROPOSED` or `AMBIGUOUS`."""
        if self.intent is None:
            return {"status": "AMBIGUOUS", "intent": None, "target": None}
        return {"status": "PROPOSED", "intent": self.intent, "target": self.target}


def unclear(why: str) -> Understanding:
    return Understanding(None, None, "nobody", why)


UNKNOWN: Final = "unknown"
"""What a model says when it cannot tell."""

PROMPT_VARIABLES: Final = frozenset({"intents"})
PROPOSAL_VARIABLES: Final = frozenset({"intent", "title", "target"})
CLARIFY_VARIABLES: Final = frozenset({"intents"})

_TEXTS: Final = Path(__file__).with_name("texts.yaml")


def schema_for(intents: Iterable[str]) -> Mapping[str, Any]:
    """Return the JSON schema of a model's reply, whose verb is one of `intents`."""
    verb = {"type": "string", "enum": [*intents, UNKNOWN]}
    return {
        "type": "object",
        "properties": {"verb": verb, "object": {"type": ["string", "null"]}},
        "required": ["verb", "object"],
        "additionalProperties": False,
    }


@cache
def shipped_texts() -> Mapping[str, str]:
    """Return the texts that ship with the server, by name."""
    texts: Mapping[str, str] = read_yaml(_TEXTS, {}).data
    return texts


def prompt_for(prompt: str | None, intents: Sequence[OfferedIntent]) -> str:
    """Return the model's instruction, which lists every intent.

    Raises:
        jinja2.TemplateError: the author's text cannot be rendered.
    """
    offered = [
        {"name": i.name, "description": i.description, "examples": i.examples} for i in intents
    ]
    return SANDBOX.from_string(prompt or shipped_texts()["prompt"]).render(intents=offered).strip()


def proposal_text(
    reformulation: Reformulation, understood: Understanding, language: str = ""
) -> str:
    """Return the question that a customer answers with yes or no.

    Raises:
        jinja2.TemplateError: the author's text cannot be rendered.
    """
    intent = understood.intent or ""
    text = _text_in(reformulation.proposal, language) or shipped_texts()["proposal"]
    context = {"intent": intent, "title": title_of(intent), "target": understood.target}
    return SANDBOX.from_string(text).render(context).strip()


def clarify_text(reformulation: Reformulation, language: str = "") -> str:
    """Return what is asked when it is not clear what is wanted.

    Raises:
        jinja2.TemplateError: the author's text cannot be rendered.
    """
    text = _text_in(reformulation.clarify, language) or shipped_texts()["clarify"]
    offered = [
        {"name": each.name, "title": title_of(each.name), "description": each.description}
        for each in reformulation.intents.values()
    ]
    return SANDBOX.from_string(text).render(intents=offered).strip()


def model_failed_text(reformulation: Reformulation, language: str = "") -> str:
    """Return what is said first when a model was to be asked, and failed."""
    text = _text_in(reformulation.model_failed, language) or shipped_texts()["model_failed"]
    return text.strip()


def title_of(intent: str) -> str:
    """Return an intent as people read it: `cancel_order` is Cancel Order."""
    return intent.replace("_", " ").title()


def _text_in(texts: Mapping[str, str], language: str) -> str:
    """Return the text for a language, else the one for all, else the first."""
    return texts.get(language) or texts.get("") or next(iter(texts.values()), "")
