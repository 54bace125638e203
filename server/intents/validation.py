"""Whether what a pack declares can ever be meant, and every name it uses is declared."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, Final

from server.core.suggestions import did_you_mean
from server.errors import Problem
from server.intents.entities import (
    DateRangeKind,
    EntityKind,
    NumberKind,
    PackEntity,
    PatternKind,
    SeriesKind,
    TextKind,
    ValuesKind,
)
from server.intents.spec import (
    Circumstances,
    IntentSpec,
    NumberEntitySpec,
    PackSpec,
    TriggerSpec,
    ValuesEntitySpec,
)
from server.settings.documents import Document, Keys

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
                what = f"there is nothing to put for {{{name}}}; {did_you_mean(name, known)}"
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
                what = f"there is no {kind} {name!r}; {did_you_mean(name, known)}"
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


def impossible(entity: PackEntity, value: Any) -> str | None:
    """Why `entity` never is `value`; None when a question may name it."""
    if entity.default is not None and value == entity.default:
        return None
    kind = entity.kind
    if not getattr(kind, "every", False):
        return _one(kind, value)
    if not isinstance(value, list) or not value:
        return "it is a list of values, so each value to compare with is a list too"
    return next((why for item in value if (why := _one(kind, item)) is not None), None)


def _one(kind: EntityKind, value: Any) -> str | None:
    match kind:
        case NumberKind():
            return _number(kind, value)
        case ValuesKind():
            constants = [capture.constant for capture in kind.patterns]
            return _listed(value, [*kind.values, *constants])
        case PatternKind():
            return _captured(kind, value)
        case TextKind():
            return None if isinstance(value, str) and value.strip() else "it is text"
        case DateRangeKind():
            return None if _is_range(value) else "it is {start: …, end: …}, dates in ISO 8601"
        case SeriesKind():
            return _series(kind, value)
    return None


def _listed(value: Any, known: Sequence[Any]) -> str | None:
    if value in known:
        return None
    return did_you_mean(value, list(dict.fromkeys(map(str, known))))


def _number(kind: NumberKind, value: Any) -> str | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return "it is a whole number"
    if kind.beyond(value):
        least = "" if kind.least is None else f" from {kind.least}"
        most = "" if kind.most is None else f" to {kind.most}"
        return f"it is a number{least}{most}"
    return None


def _captured(kind: PatternKind, value: Any) -> str | None:
    constants = [capture.constant for capture in kind.captures if capture.constant is not None]
    if value in constants:
        return None
    if len(constants) == len(kind.captures):
        return _listed(value, constants)
    if not isinstance(value, str):
        return "it is text"
    if kind.case != "as_written" and value != (cased := kind.cased(value)):
        return f"did you mean {cased!r}?"
    return None


def _is_range(value: Any) -> bool:
    if not isinstance(value, dict) or value.keys() != {"start", "end"}:
        return False
    try:
        return all(date.fromisoformat(day).isoformat() == day for day in value.values())
    except (TypeError, ValueError):
        return False


def _series(kind: SeriesKind, value: Any) -> str | None:
    names = list(dict.fromkeys(series.name for series in kind.series))
    name, _, items = value.partition(":") if isinstance(value, str) else ("", "", "")
    if name not in names or "," not in items:
        return f"it is written as {names[0] if names else 'name'}:first,second"
    return None
