"""A reformulator from its file, or everything that is wrong with it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from jinja2 import TemplateError
from pydantic import BeforeValidator, Field

from server.conversation.reformulation.model import (
    CLARIFY_VARIABLES,
    PROMPT_VARIABLES,
    PROPOSAL_VARIABLES,
    OfferedIntent,
    Reformulation,
    prompt_for,
)
from server.conversation.reformulation.reformulator import normalize_target
from server.core.suggestions import did_you_mean
from server.errors import Problem
from server.library.expressions import examine
from server.library.model import Library
from server.settings.documents import Document, Keys, read_yaml
from server.settings.fields import LibraryModel, Name, OneOrMore, Seconds
from server.settings.validation import validate

Said = Annotated[
    dict[str, str],
    BeforeValidator(
        lambda value: value if isinstance(value, dict) else {"": value},
        json_schema_input_type=str | dict[str, str],
    ),
]
"""One text, or one for each language."""


class IntentYaml(LibraryModel):
    """One thing that may be wanted, and the template that does it."""

    name: Name
    """What proposals and events call it: lower case, with underscores between words."""
    description: str = Field(min_length=1)
    """What it means, for the model and for people."""
    template: str = Field(min_length=1)
    """The template that runs once the proposal is confirmed."""
    target: str | None = None
    """The parameter of that template that says what it is done to."""
    lookup: str | None = None
    """A template that reads, run first with the target: what it does not find is not proposed."""
    examples: OneOrMore = ()
    """How people ask for it; they go into the prompt."""


class ReformulatorYaml(LibraryModel):
    """What may be proposed, how a model is asked for it, and what is said about it."""

    intents: tuple[IntentYaml, ...] = Field(min_length=1)
    """Everything that may be proposed; nothing else ever is."""
    targets: OneOrMore = ()
    """Entities of the adapter's rule pack that name a target; the first one found counts."""
    prompt: str | None = None
    """The model's instruction, as Jinja over `intents`; without one, the one that ships."""
    model_timeout_s: Seconds = 10.0
    """Seconds the model may take; when it is late, the rules alone have the word."""
    proposal: Said = Field(default_factory=dict)
    """The question that is to be confirmed, as Jinja over `intent`, `title` and `target`."""
    clarify: Said = Field(default_factory=dict)
    """What is asked when it is not clear what is wanted, as Jinja over `intents`."""
    model_failed: Said = Field(default_factory=dict)
    """What is said before `clarify` when a model was to be asked, and failed."""


@dataclass(frozen=True, slots=True)
class LoadedReformulation:
    """A reformulation, or None when a problem is an error."""

    reformulation: Reformulation | None
    problems: tuple[Problem, ...] = ()


def load_reformulation(path: Path, environ: Mapping[str, str]) -> LoadedReformulation:
    """Read a reformulator, or return all its problems at once."""
    document = read_yaml(path, environ)
    written, wrong = validate(ReformulatorYaml, document)
    if written is None:
        return LoadedReformulation(None, (*document.problems, *wrong))
    problems = [*document.problems, *_written_problems(written, document)]
    if any(problem.severity == "error" for problem in problems):
        return LoadedReformulation(None, tuple(problems))
    intents = [
        OfferedIntent(**dict(intent), where=document.where(("intents", number)))
        for number, intent in enumerate(written.intents)
    ]
    try:
        prompt = prompt_for(written.prompt, intents)
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as failed:
        problem = Problem(f"prompt: {failed}", document.where(("prompt",)), "bad-template")
        return LoadedReformulation(None, (*problems, problem))
    made = Reformulation(
        {intent.name: intent for intent in intents},
        prompt,
        written.targets,
        written.model_timeout_s,
        written.proposal,
        written.clarify,
        written.model_failed,
        document.where(("targets",)),
    )
    return LoadedReformulation(made, tuple(problems))


def reformulation_problems(
    reformulation: Reformulation, library: Library, entities: Sequence[str] | None
) -> Iterator[Problem]:
    """Yield what does not fit the library and the rule pack.

    `entities` are those of the adapter's pack, None when it has none.
    """
    for intent in reformulation.intents.values():
        template = library.templates.get(intent.template)
        if template is None:
            if library.written is None or intent.template in library.written:
                continue  # it is left out, which has problems of its own
            what = f"{intent.name}: there is no template {intent.template!r}; "
            what += did_you_mean(intent.template, list(library.templates))
            yield Problem(what, intent.where, "unknown-template")
            continue
        parameters = [parameter.name for parameter in template.parameters]
        if intent.target is not None and intent.target not in parameters:
            what = f"{intent.name}: {template.id!r} has no parameter {intent.target!r}; "
            what += did_you_mean(intent.target, parameters)
            yield Problem(what, intent.where, "unknown-parameter")
        if intent.lookup is not None:
            yield from _lookup_problems(intent, intent.lookup, library)
    if entities is None and reformulation.targets:
        what = "targets are entities of a rule pack; name one with intents"
        yield Problem(what, reformulation.where, "pack-missing")
    for entity in reformulation.targets:
        if entities is not None and entity not in entities:
            what = f"targets: unknown entity {entity!r}; {did_you_mean(entity, list(entities))}"
            yield Problem(what, reformulation.where, "unknown-entity")


def _lookup_problems(intent: OfferedIntent, lookup: str, library: Library) -> Iterator[Problem]:
    template = library.templates.get(lookup)
    if template is None:
        if library.written is None or lookup in library.written:
            return
        what = f"{intent.name}: lookup: there is no template {lookup!r}; "
        what += did_you_mean(lookup, list(library.templates))
        yield Problem(what, intent.where, "unknown-template")
    elif template.effect != "read":
        what = f"{intent.name}: lookup: {lookup!r} changes something; name a template that reads"
        yield Problem(what, intent.where, "lookup-writes")
    elif intent.target is None:
        what = f"{intent.name}: lookup needs a target to look up"
        yield Problem(what, intent.where, "lookup-without-target")
    elif (
        not {p.name for p in template.required}
        <= {intent.target}
        <= {p.name for p in template.parameters}
    ):
        what = f"{intent.name}: lookup: {lookup!r} has to take {intent.target!r}, "
        what += "and need nothing else"
        yield Problem(what, intent.where, "unknown-parameter")


def _written_problems(written: ReformulatorYaml, document: Document) -> Iterator[Problem]:
    names: set[str] = set()
    for number, intent in enumerate(written.intents):
        where = document.where(("intents", number, "name"))
        if intent.name != normalize_target(intent.name):
            plain = normalize_target(intent.name)
            what = f"intent {intent.name!r} is compared as {plain!r}; write that"
            yield Problem(what, where, "bad-name")
        if intent.name in names:
            yield Problem(f"intent {intent.name!r} is defined twice", where, "duplicate-intent")
        names.add(intent.name)
    if written.prompt is not None:
        yield from _text_problems(written.prompt, document, ("prompt",), PROMPT_VARIABLES)
        if "intents" not in examine(written.prompt).variables:
            what = "prompt: has to name the `intents`, so that the model knows what it may answer"
            yield Problem(what, document.where(("prompt",)), "intents-missing")
    texts = (
        ("proposal", written.proposal, PROPOSAL_VARIABLES),
        ("clarify", written.clarify, CLARIFY_VARIABLES),
    )
    for name, by_language, variables in texts:
        for language, text in by_language.items():
            keys = (name, language) if language else (name,)
            yield from _text_problems(text, document, keys, variables)


def _text_problems(
    text: str, document: Document, keys: Keys, known: frozenset[str]
) -> Iterator[Problem]:
    found = examine(text)
    unknown = sorted(found.variables - known)
    if found.problem is not None:
        yield Problem(f"{keys[0]}: {found.problem}", document.where(keys), "bad-template")
    elif unknown:
        what = f"{keys[0]}: there is no {unknown[0]!r} here; there are: {', '.join(sorted(known))}"
        yield Problem(what, document.where(keys), "unknown-variable")
