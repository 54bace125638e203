"""A reformulator as its author writes it."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from server.library.edge import Edge, Words
from server.settings.fields import Name, Seconds


def _by_language(value: object) -> object:
    return value if isinstance(value, dict) else {"": value}


Said = Annotated[dict[str, str], BeforeValidator(_by_language)]
"""One text, or one for each language."""


class IntentYaml(Edge):
    """One thing that may be wanted, and the template that does it."""

    name: Name
    """What proposals and events call it: lower case, with underscores between words."""
    description: str = Field(min_length=1)
    """What it means, for the model and for people."""
    template: str = Field(min_length=1)
    """The template that runs once the proposal is confirmed."""
    target: str | None = None
    """The parameter of that template that says what it is done to."""
    examples: Words = ()
    """How people ask for it; they go into the prompt."""


class ReformulatorYaml(Edge):
    """What may be proposed, how a model is asked for it, and what is said about it."""

    intents: tuple[IntentYaml, ...] = Field(min_length=1)
    """Everything that may be proposed; nothing else ever is."""
    targets: Words = ()
    """Entities of the adapter's rule pack that name a target; the first one found counts."""
    prompt: str | None = None
    """The model's instruction, as Jinja over `intents`; without one, the one that ships."""
    model_timeout_s: Seconds = 10.0
    """Seconds the model may take; when it is late, the rules alone have the word."""
    proposal: Said = Field(default_factory=dict)
    """The question that is to be confirmed, as Jinja over `intent`, `title` and `target`."""
    clarify: Said = Field(default_factory=dict)
    """What is asked when it is not clear what is wanted."""
