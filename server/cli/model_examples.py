"""`new --with-model`: what a chat model proposes for a draft, kept where that is understood."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml

from server.adapters.library_folder import library_adapter
from server.authoring.drafts import Draft, draft_texts
from server.authoring.model_examples import (
    flaw_of,
    misreading_of,
    propose_examples,
    with_examples,
)
from server.authoring.project import variables_of
from server.cli.options import Configured
from server.cli.output import fail, say
from server.core.ports import ChatModel
from server.core.suggestions import quoted
from server.errors import ProviderError, ProviderRejected
from server.evaluation.outcomes import Outcome
from server.evaluation.trial import LibraryTrial
from server.providers.chat.factory import build_chat_model, named_provider, resolve_model
from server.settings.models import Settings

_MOST_SHOWN: Final = 120

Kept = dict[str, list[str]]
"""Examples by template."""


@dataclass(slots=True)
class _Review:
    """What became of the proposals, by template."""

    kept: Kept = field(default_factory=dict)
    dropped: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Each with the reason."""

    def drop(self, template: str, text: str, why: str) -> None:
        self.kept[template] = [one for one in self.kept.get(template, ()) if one != text]
        self.dropped.setdefault(template, []).append((text, why))

    def lines(self) -> Iterator[str]:
        for template in self.kept | self.dropped:
            yield f"{template}:"
            yield from (f"  + {text}" for text in self.kept.get(template, ()))
            yield from (
                f"  - {_shown(text)}  ({why})" for text, why in self.dropped.get(template, ())
            )


def _shown(text: str) -> str:
    """A text that may be anything, on one line of a terminal."""
    short = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
    return short if short.isprintable() else ascii(short)


def with_proposals(
    draft: Draft, found: Configured, provider: str | None, model: str | None
) -> Draft:
    """Return the draft with what a model adds to its examples, and show what came of each proposal.

    Ends the command where there is no model, or it cannot be used.
    """
    settings, environ = found.settings, found.environ
    if provider is None and named_provider(settings.models, environ) is None:
        fail(
            "--with-model needs a chat model: name its provider with --provider, in LLM_PROVIDER "
            "or as models.provider of the configuration; for example: --provider ollama"
        )
    chosen = resolve_model(provider, model, settings.models, environ)
    folder = settings.models_dir
    return asyncio.run(
        _with_proposals(
            draft, build_chat_model(*chosen, settings.models, environ, folder=folder), environ
        )
    )


async def _with_proposals(draft: Draft, model: ChatModel, environ: Mapping[str, str]) -> Draft:
    templates = {one["id"]: one for one in draft.templates["templates"]}
    say(f"Asking {model.name} for more examples of {len(templates)} templates")
    review, proposed, unusable = _Review(), Kept(), dict[str, ProviderRejected]()
    try:
        for name, template in templates.items():
            try:
                proposed[name] = list(await propose_examples(model, template))
            except ProviderRejected as rejected:
                unusable[name] = rejected
        if not proposed and unusable:
            raise unusable.popitem()[1]
    except ProviderError as failed:
        fail(f"--with-model: {failed}; nothing was written")
    finally:
        await model.close()
    for name, why in unusable.items():
        say(f"note: nothing for {name}: {why}")
    _judge_form(draft, proposed, review)
    await _judge_reading(draft, templates, review, environ)
    count = sum(map(len, review.kept.values()))
    of = sum(map(len, proposed.values()))
    for line in review.lines():
        say(line)
    say(f"{count} of {of} proposals of {model.name} are kept, and marked in templates.yaml")
    return with_examples(draft, review.kept, model.name)


def _judge_form(draft: Draft, proposed: Kept, review: _Review) -> None:
    """Keep what has the form of a question, and is not asked already."""
    templates, questions = draft.templates["templates"], draft.questions["questions"]
    asked = {_folded(text) for one in templates for text in one["nl_examples"]}
    counters = {_folded(text) for one in templates for text in one.get("counter_examples", ())}
    tests = {_folded(one["ask"]) for one in questions}
    times = Counter(_folded(text) for texts in proposed.values() for text in texts)
    for name, texts in proposed.items():
        review.kept[name] = list(texts)
        for text in texts:
            key = _folded(text)
            why = flaw_of(text)
            if not why and times[key] > 1:
                why = "it is proposed twice"
            elif not why and key in asked | counters:
                why = "it is an example already"
            elif not why and key in tests:
                why = "questions.yaml asks it"
            if why:
                review.drop(name, text, why)


async def _judge_reading(
    draft: Draft, templates: Mapping[str, Any], review: _Review, environ: Mapping[str, str]
) -> None:
    """Keep what the draft understands so, as long as it goes on understanding the rest."""
    own = [(text, one["id"]) for one in templates.values() for text in one["nl_examples"]]
    own += [(one["ask"], one["template"]) for one in draft.questions["questions"]]
    asked = [(text, name) for name, texts in review.kept.items() for text in texts]
    if not asked:
        return
    before = await _outcomes(draft, [*own, *asked], environ)
    for text, name in asked:
        outcome = before.get(text)
        why = ""
        if outcome is None or outcome.template is None:
            why = "the draft does not understand it"
        elif outcome.template != name:
            why = f"it is understood as {outcome.template}"
        elif outcome.asked:
            why = f"it does not say its {', '.join(outcome.asked)}"
        else:
            why = misreading_of(templates[name], text, outcome.arguments)
        if why:
            review.drop(name, text, why)
    while any(review.kept.values()):
        after = await _outcomes(with_examples(draft, review.kept, ""), own, environ)
        takers = takers_of(own, before, after, review.kept)
        if not takers:
            return
        for taker, text in takers.items():
            for one in review.kept[taker]:
                review.drop(taker, one, f"with it, {quoted(text)} would be understood otherwise")


def takers_of(
    own: Sequence[tuple[str, str | None]],
    before: Mapping[str, Outcome],
    after: Mapping[str, Outcome],
    kept: Mapping[str, Sequence[str]],
) -> dict[str, str]:
    """The templates whose additions take a question from where it belongs, each with one such.

    `own` are the questions with the template of each. Where nothing has taken it, what was added to
    its own template is to blame, and else all that was added.
    """
    takers: dict[str, str] = {}
    for text, name in own:
        if text not in before or not before[text].template == name != after[text].template:
            continue
        blamed = (after[text].template, name)
        found = [one for one in blamed if one is not None and kept.get(one)][:1]
        takers |= dict.fromkeys(found or [one for one in kept if kept[one]], text)
    return takers


async def _outcomes(
    draft: Draft, asked: Sequence[tuple[str, str | None]], environ: Mapping[str, str]
) -> dict[str, Outcome]:
    """What a draft makes of some texts; no tool is run."""
    texts = draft_texts(draft)
    unset = {name: "unset" for name, default in variables_of(texts.values()).items() if not default}
    known = unset | dict(environ)
    with TemporaryDirectory() as place:
        folder = Path(place)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        questions = [{"ask": text, "template": name} for text, name in asked]
        path = folder / "asked.yaml"
        path.write_text(yaml.safe_dump({"questions": questions}), encoding="utf-8")
        settings = Settings().model_copy(update={"data_dir": folder / "data"})
        adapter = library_adapter(folder, [folder / "templates.yaml"])
        measured = await LibraryTrial(settings, known, adapter, path).decide()
    return {
        question.ask: outcome
        for question, outcome in zip(measured.questions, measured.outcomes, strict=True)
    }


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" ?!.")
