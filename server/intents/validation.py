"""Names that a pack uses and does not declare, and declarations that can have no effect."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from server.core.suggestions import did_you_mean
from server.errors import Problem
from server.intents import spec as specs
from server.settings.documents import Document, Keys

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_ALWAYS_KNOWN: Final = ("intent", "method", "trigger", "words", "choices")

_Use = tuple[str, Sequence[str], Keys]
"""What kind of thing is named, the names, and where they stand."""


def pack_problems(document: Document, spec: specs.PackSpec) -> Iterator[Problem]:
    """Yield unknown and duplicate names, entities without a possible value, intents that
    nothing leads to, and unknown placeholders.
    """
    for find in (_name_problems, _entity_problems, _unreachable_intents, _unknown_placeholders):
        yield from find(document, spec)


def _name_problems(document: Document, spec: specs.PackSpec) -> Iterator[Problem]:
    operations = spec.operations
    named = [option.name for option in operations.options] if operations else []
    named += [operations.default] if operations and operations.default else []
    declared = {
        "intent": [intent.name for intent in spec.intents],
        "entity": [entity.name for entity in spec.entities],
        "flag": spec.flags,
        "operation": named,
    }
    for kind, names, keys in _uses(spec):
        for at, name in enumerate(names):
            if name not in declared[kind]:
                hint = did_you_mean(name, tuple(dict.fromkeys(declared[kind])))
                what = f"there is no {kind} {name!r}; {hint}"
                yield Problem(what, document.where((*keys, at)), f"unknown-{kind}")
    for kind, section in (("intent", "intents"), ("entity", "entities")):
        for at, name in enumerate(declared[kind]):
            if name in declared[kind][:at]:
                what = f"{kind} {name!r} is declared twice"
                yield Problem(what, document.where((section, at)), "duplicate-name")


def _uses(spec: specs.PackSpec) -> Iterator[_Use]:
    yield "intent", [spec.fallback.intent], ("fallback", "intent")
    for at, intent in enumerate(spec.intents):
        yield from _intent_uses(intent, ("intents", at))
    for at, entity in enumerate(spec.entities):
        keys: Keys = ("entities", at)
        yield "intent", entity.intents or (), (*keys, "intents")
        yield "operation", entity.operations or (), (*keys, "operations")
        free = getattr(entity, "otherwise", None)
        if free is not None:
            yield "intent", free.intents or (), (*keys, "otherwise", "intents")
        for number, series in enumerate(getattr(entity, "series", ())):
            used = [] if series.values_of is None else [series.values_of]
            yield "entity", used, (*keys, "series", number, "values_of")
    for at, option in enumerate(spec.operations.options if spec.operations else ()):
        keys = ("operations", "options", at)
        yield "flag", list(option.flags), (*keys, "flags")
        yield from _trigger_uses(option, keys)
        yield from _condition_uses(option.unless, (*keys, "unless"))


def _intent_uses(intent: specs.IntentSpec, keys: Keys) -> Iterator[_Use]:
    yield from _trigger_uses(intent, keys)
    for name in ("any_entity", "all_entities"):
        yield "entity", getattr(intent.requires, name), (*keys, "requires", name)
    yield "entity", intent.entities or (), (*keys, "entities")
    yield "flag", list(intent.flags), (*keys, "flags")
    for at, route in enumerate(intent.routes):
        yield "intent", [route.to], (*keys, "routes", at, "to")
        yield from _trigger_uses(route, (*keys, "routes", at))
    for at, rule in enumerate(intent.rules):
        place = (*keys, "rules", at)
        yield from _trigger_uses(rule, place)
        yield "operation", rule.operations, (*place, "operations")
        yield from _condition_uses(rule.when, (*place, "when"))
        yield from _condition_uses(rule.unless, (*place, "unless"))


def _trigger_uses(trigger: specs.TriggerSpec, keys: Keys) -> Iterator[_Use]:
    yield "entity", trigger.yields_to, (*keys, "yields_to")


def _condition_uses(conditions: specs.ConditionSpec, keys: Keys) -> Iterator[_Use]:
    for name in ("any_entity", "all_entities", "out_of_range", "ambiguous"):
        yield "entity", getattr(conditions, name), (*keys, name)
    yield "operation", conditions.operations, (*keys, "operations")


def _entity_problems(document: Document, spec: specs.PackSpec) -> Iterator[Problem]:
    for at, entity in enumerate(spec.entities):
        if isinstance(entity, specs.NumberEntitySpec) and entity.min is not None:
            if entity.max is not None and entity.min > entity.max:
                what = f"no number lies from {entity.min} to {entity.max}"
                yield Problem(what, document.where(("entities", at, "min")), "out-of-bounds")
        elif isinstance(entity, specs.ValuesEntitySpec) and not (entity.values or entity.patterns):
            what = f"entity {entity.name!r} has neither values nor patterns"
            yield Problem(what, document.where(("entities", at)), "never-found")


def _unreachable_intents(document: Document, spec: specs.PackSpec) -> Iterator[Problem]:
    reachable = {spec.fallback.intent}
    reachable.update(route.to for intent in spec.intents for route in intent.routes)
    for at, intent in enumerate(spec.intents):
        triggers = intent.keywords or intent.openings or intent.patterns or intent.rules
        by_meaning = intent.examples and not intent.strict
        if not (triggers or by_meaning or intent.name in reachable):
            examples = "examples that count (it is strict)" if intent.strict else "examples"
            lacks = f"it has no keywords, patterns, rules or {examples}"
            what = f"nothing leads to intent {intent.name!r}: {lacks}"
            yield Problem(what, document.where(("intents", at)), "unreachable-intent", "warning")


def _unknown_placeholders(document: Document, spec: specs.PackSpec) -> Iterator[Problem]:
    known = [*_ALWAYS_KNOWN, *(entity.name for entity in spec.entities)]
    if spec.operations is not None:
        known.append(spec.operations.entity)
    for text, keys in _texts(spec):
        for name in dict.fromkeys(_PLACEHOLDER.findall(text or "")):
            if name not in known:
                what = f"there is nothing to put for {{{name}}}; {did_you_mean(name, known)}"
                yield Problem(what, document.where(keys), "unknown-placeholder", "warning")


def _texts(spec: specs.PackSpec) -> Iterator[tuple[str | None, Keys]]:
    for at, intent in enumerate(spec.intents):
        for number, rule in enumerate(intent.rules):
            yield rule.explanation, ("intents", at, "rules", number, "explanation")
            yield rule.ask, ("intents", at, "rules", number, "ask")
        yield intent.explanation, ("intents", at, "explanation")
        yield intent.ask, ("intents", at, "ask")
