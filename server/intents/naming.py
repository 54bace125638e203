"""Whether every name that a pack uses is one that it declares."""

from collections.abc import Iterator, Sequence

from server.core.problems import Problem
from server.intents.spec import Circumstances, IntentSpec, PackSpec, TriggerSpec
from server.settings.source import Document, Keys
from server.settings.wording import instead

_Use = tuple[str, Sequence[str], Keys]
"""What kind of thing is named, the names, and where they stand."""


def name_problems(document: Document, spec: PackSpec) -> list[Problem]:
    """Unknown names, and names that are declared twice."""
    declared = {
        "intent": [intent.name for intent in spec.intents],
        "entity": [entity.name for entity in spec.entities],
        "flag": list(spec.flags),
        "operation": _operation_names(spec),
    }
    problems: list[Problem] = []
    for kind, names, keys in _uses(spec):
        for at, name in enumerate(names):
            if name not in declared[kind]:
                known = tuple(dict.fromkeys(declared[kind]))
                what = f"there is no {kind} {name!r}; {instead(name, known)}"
                where = document.where((*keys, at))
                problems.append(Problem(what, where, f"unknown-{kind}"))
    for kind, section in (("intent", "intents"), ("entity", "entities")):
        for at, name in enumerate(declared[kind]):
            if name in declared[kind][:at]:
                what = f"{kind} {name!r} is declared twice"
                where = document.where((section, at))
                problems.append(Problem(what, where, "duplicate-name"))
    return problems


def _operation_names(spec: PackSpec) -> list[str]:
    if spec.operations is None:
        return []
    names = [option.name for option in spec.operations.options]
    if spec.operations.default is not None:
        names.append(spec.operations.default)
    return names


def _uses(spec: PackSpec) -> Iterator[_Use]:
    yield "intent", [spec.fallback.intent], ("fallback", "intent")
    for at, intent in enumerate(spec.intents):
        yield from _intent_uses(intent, ("intents", at))
    for at, entity in enumerate(spec.entities):
        keys: Keys = ("entities", at)
        yield "intent", entity.intents or (), (*keys, "intents")
        yield "operation", entity.operations or (), (*keys, "operations")
        for number, series in enumerate(getattr(entity, "series", ())):
            used = [] if series.values_of is None else [series.values_of]
            yield "entity", used, (*keys, "series", number, "values_of")
    for at, option in enumerate(spec.operations.options if spec.operations else ()):
        keys = ("operations", "options", at)
        yield "flag", list(option.flags), (*keys, "flags")
        yield from _trigger_uses(option, keys)
        yield from _condition_uses(option.unless, (*keys, "unless"))


def _intent_uses(intent: IntentSpec, keys: Keys) -> Iterator[_Use]:
    yield from _trigger_uses(intent, keys)
    yield "entity", intent.requires.any_entity, (*keys, "requires", "any_entity")
    yield "entity", intent.requires.all_entities, (*keys, "requires", "all_entities")
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


def _trigger_uses(trigger: TriggerSpec, keys: Keys) -> Iterator[_Use]:
    yield "entity", trigger.yields_to, (*keys, "yields_to")


def _condition_uses(conditions: Circumstances, keys: Keys) -> Iterator[_Use]:
    yield "entity", conditions.any_entity, (*keys, "any_entity")
    yield "entity", conditions.all_entities, (*keys, "all_entities")
    yield "entity", conditions.out_of_range, (*keys, "out_of_range")
    yield "operation", conditions.operations, (*keys, "operations")
