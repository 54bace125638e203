"""Whether what a pack declares can ever be meant, and what its texts name is there."""

import re
from collections.abc import Iterator
from typing import Final

from server.core.problems import Problem
from server.intents.spec import IntentSpec, NumberEntitySpec, PackSpec, ValuesEntitySpec
from server.settings.source import Document, Keys
from server.settings.wording import instead

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_ALWAYS_KNOWN: Final = ("intent", "method", "trigger")


def sense_problems(document: Document, spec: PackSpec) -> list[Problem]:
    """Entities without a possible value, intents that nothing leads to, unknown placeholders."""
    return [
        *_entity_problems(document, spec),
        *_unreachable(document, spec),
        *_unknown_placeholders(document, spec),
    ]


def _entity_problems(document: Document, spec: PackSpec) -> Iterator[Problem]:
    for at, entity in enumerate(spec.entities):
        if isinstance(entity, NumberEntitySpec) and entity.min is not None:
            if entity.max is not None and entity.min > entity.max:
                what = f"no number lies from {entity.min} to {entity.max}"
                yield Problem(what, document.where(("entities", at, "min")), "out-of-bounds")
        elif isinstance(entity, ValuesEntitySpec) and not (entity.values or entity.patterns):
            what = f"entity {entity.name!r} has neither values nor patterns"
            yield Problem(what, document.where(("entities", at)), "never-found")


def _unreachable(document: Document, spec: PackSpec) -> Iterator[Problem]:
    led_to = {spec.fallback.intent}
    led_to.update(route.to for intent in spec.intents for route in intent.routes)
    for at, intent in enumerate(spec.intents):
        if intent.name not in led_to and not _shows_itself(intent):
            examples = "examples that count (it is strict)" if intent.strict else "examples"
            what = (
                f"nothing leads to intent {intent.name!r}: "
                f"it has no keywords, patterns, rules or {examples}"
            )
            yield Problem(what, document.where(("intents", at)), "unreachable-intent", "warning")


def _shows_itself(intent: IntentSpec) -> bool:
    triggers = intent.keywords or intent.openings or intent.patterns
    by_meaning = intent.examples and not intent.strict
    return bool(triggers or intent.rules or by_meaning)


def _unknown_placeholders(document: Document, spec: PackSpec) -> Iterator[Problem]:
    known = (*_ALWAYS_KNOWN, *(entity.name for entity in spec.entities))
    if spec.operations is not None:
        known = (*known, spec.operations.entity)
    for text, keys in _texts(spec):
        for name in dict.fromkeys(_PLACEHOLDER.findall(text or "")):
            if name not in known:
                what = f"there is nothing to put for {{{name}}}; {instead(name, known)}"
                where = document.where(keys)
                yield Problem(what, where, "unknown-placeholder", "warning")


def _texts(spec: PackSpec) -> Iterator[tuple[str | None, Keys]]:
    for at, intent in enumerate(spec.intents):
        place: Keys = ("intents", at)
        yield intent.explanation, (*place, "explanation")
        yield intent.ask, (*place, "ask")
        for number, rule in enumerate(intent.rules):
            yield rule.explanation, (*place, "rules", number, "explanation")
            yield rule.ask, (*place, "rules", number, "ask")
