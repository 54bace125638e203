"""The texts of a reformulator: what a model is told, and what a customer is asked."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from server.conversation.reformulation.model import OfferedIntent, Reformulation, Understanding
from server.library.expressions import SANDBOX
from server.settings.documents import read_yaml

UNKNOWN: Final = "unknown"
"""What a model says when it cannot tell."""

PROMPT_VARIABLES: Final = frozenset({"intents"})
PROPOSAL_VARIABLES: Final = frozenset({"intent", "title", "target"})

_TEXTS: Final = Path(__file__).with_name("texts.yaml")


def schema_for(intents: Iterable[str] | None = None) -> Mapping[str, Any]:
    """Return the JSON schema of a model's reply, whose verb is one of `intents` if given."""
    verb: dict[str, Any] = {"type": "string"}
    if intents is not None:
        verb["enum"] = [*intents, UNKNOWN]
    return {
        "type": "object",
        "properties": {"verb": verb, "object": {"type": ["string", "null"]}},
        "required": ["verb", "object"],
        "additionalProperties": False,
    }


@cache
def shipped_texts() -> Mapping[str, str]:
    """Return the `prompt`, `proposal` and `clarify` that ship with the server."""
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


def title_of(intent: str) -> str:
    """Return an intent as people read it: `cancel_order` is Cancel Order."""
    return intent.replace("_", " ").title()


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
    """Return what is asked when it is not clear what is wanted."""
    return (_text_in(reformulation.clarify, language) or shipped_texts()["clarify"]).strip()


def _text_in(texts: Mapping[str, str], language: str) -> str:
    """Return the text for a language, else the one for all, else the first."""
    return texts.get(language) or texts.get("") or next(iter(texts.values()), "")
