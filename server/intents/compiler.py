"""A pack's specification to a compiled pack, with every problem at its line."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from server.errors import Problem
from server.intents.compile_context import CompileContext
from server.intents.entities import PackEntity
from server.intents.entity_compiler import compile_kind
from server.intents.language import Languages, number_rules, read_languages
from server.intents.pack import (
    Fallback,
    IntentKind,
    LoadedPack,
    Pack,
    PackOperation,
    PackOperations,
    Route,
    Shape,
)
from server.intents.patterns import PatternInvalid
from server.intents.rules import Rule
from server.intents.spec import OperationsSpec, PackSpec, RuleSpec
from server.intents.validation import name_problems, sense_problems
from server.settings.documents import Document, Keys, read_yaml
from server.settings.validation import validate


def compile_pack(
    document: Document, spec: PackSpec, languages: Languages
) -> tuple[Pack | None, tuple[Problem, ...]]:
    """Compile `spec`; None when anything in it cannot be used."""
    shop = CompileContext(document, spec, languages)
    shop.problems += name_problems(document, spec)
    zone = _zone(shop, spec)
    rules: list[Rule] = []
    entities = tuple(_entities(shop, spec))
    intents = {
        intent.name: _intent(shop, spec, at, entities, rules)
        for at, intent in enumerate(spec.intents)
    }
    operations = _operations(shop, spec.operations)
    try:
        shop.patterns.freeze()
    except PatternInvalid as invalid:
        shop.complain("bad-pattern", str(invalid), ())
    if any(problem.severity == "error" for problem in shop.problems):
        return None, tuple(shop.problems)
    pack = Pack(
        name=spec.name,
        description=spec.description,
        reader=shop.reader,
        phrases=shop.phrases,
        patterns=shop.patterns,
        numbers=number_rules(languages.specs),
        zone=zone,
        by_layer=spec.choose == "layer",
        semantic_threshold=spec.layers.semantic,
        intents=intents,
        entities=entities,
        rules=tuple(sorted(rules, key=lambda rule: (-rule.priority, rule.order))),
        operations=operations,
        fallback=Fallback(
            spec.fallback.intent,
            spec.fallback.confidence,
            spec.fallback.below,
            spec.fallback.explanation,
            spec.error.confidence,
            spec.error.explanation,
        ),
        flags=tuple(spec.flags),
        result=Shape(spec.result),
    )
    return pack, tuple(shop.problems)


def _zone(shop: CompileContext, spec: PackSpec) -> ZoneInfo:
    try:
        return ZoneInfo(spec.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        shop.complain("unknown-value", f"there is no time zone {spec.timezone!r}", ("timezone",))
        return ZoneInfo("UTC")


def _intent(
    shop: CompileContext, spec: PackSpec, at: int, entities: Sequence[PackEntity], rules: list[Rule]
) -> IntentKind:
    intent = spec.intents[at]
    keys: Keys = ("intents", at)
    own = RuleSpec(
        keywords=intent.keywords,
        openings=intent.openings,
        patterns=intent.patterns,
        not_in=intent.not_in,
        yields_to=intent.yields_to,
        prefixes=intent.prefixes,
    )
    written: list[tuple[RuleSpec, Keys]] = (
        [(own, keys)] if intent.keywords or intent.openings or intent.patterns else []
    )
    written += [(rule, (*keys, "rules", number)) for number, rule in enumerate(intent.rules)]
    for rule, place in written:
        rules.append(
            Rule(
                intent=intent.name,
                trigger=shop.trigger(rule, place),
                operations=frozenset(rule.operations),
                when=shop.conditions(rule.when, (*place, "when")),
                unless=shop.conditions(rule.unless, (*place, "unless")),
                confidence=rule.confidence,
                priority=intent.priority if rule.priority is None else rule.priority,
                order=len(rules),
                explanation=rule.explanation or intent.explanation,
                ask=intent.ask if rule.ask is None else rule.ask,
            )
        )
    layers, own_confidence = spec.layers, intent.confidence
    carried = tuple(
        entity
        for entity in entities
        if (intent.entities is None or entity.name in intent.entities)
        and (entity.intents is None or intent.name in entity.intents)
    )
    return IntentKind(
        name=intent.name,
        confidence={
            "keyword": layers.keyword if own_confidence.keyword is None else own_confidence.keyword,
            "regex": layers.regex if own_confidence.regex is None else own_confidence.regex,
        },
        strict=intent.strict,
        any_entity=frozenset(intent.requires.any_entity),
        all_entities=frozenset(intent.requires.all_entities),
        entities=carried,
        operation=intent.operation,
        flags=dict.fromkeys(spec.flags, False) | intent.flags,
        routes=tuple(
            Route(route.to, shop.trigger(route, (*keys, "routes", number)))
            for number, route in enumerate(intent.routes)
        ),
        examples=tuple(intent.examples),
        explanation=intent.explanation,
        ask=intent.ask,
    )


def _entities(shop: CompileContext, spec: PackSpec) -> Iterable[PackEntity]:
    for at, entity in enumerate(spec.entities):
        yield PackEntity(
            name=entity.name,
            kind=compile_kind(shop, entity, ("entities", at)),
            intents=None if entity.intents is None else frozenset(entity.intents),
            operations=None if entity.operations is None else frozenset(entity.operations),
            default=entity.default,
            claims=entity.claims,
        )


def _operations(shop: CompileContext, spec: OperationsSpec | None) -> PackOperations | None:
    if spec is None:
        return None
    options = []
    for at, option in enumerate(spec.options):
        keys = ("operations", "options", at)
        options.append(
            PackOperation(
                option.name,
                shop.trigger(option, keys),
                shop.conditions(option.unless, (*keys, "unless")),
                option.flags,
            )
        )
    flags: dict[str | None, dict[str, bool]] = {}
    for made in options:
        flags.setdefault(made.name, {}).update(made.flags)
    return PackOperations(
        spec.entity,
        tuple(options),
        spec.default,
        flags,
    )


def load_pack(path: Path, environ: Mapping[str, str]) -> LoadedPack:
    """Read and compile a pack: `path` is its file, or the folder that holds `pack.yaml`.

    Never raises for what stands in files: all problems come back together.
    """
    file = path / "pack.yaml" if path.is_dir() else path
    document = read_yaml(file, environ)
    if not document.readable:
        return LoadedPack(None, document.problems)
    spec, wrong = validate(PackSpec, document)
    if spec is None:
        return LoadedPack(None, (*document.problems, *wrong))
    languages, missing = read_languages(spec.languages, file.parent, environ)
    problems = [
        *document.problems,
        *languages.problems,
        *(_no_language(document, spec, at, why) for at, why in missing),
    ]
    pack, found = compile_pack(document, spec, languages)
    problems += (*found, *sense_problems(document, spec))
    broken = any(problem.severity == "error" for problem in problems)
    return LoadedPack(None if broken else pack, tuple(problems))


def _no_language(document: Document, spec: PackSpec, at: int, why: str) -> Problem:
    where = document.where(("languages", at))
    return Problem(f"{spec.languages[at]!r}: {why}", where, "not-found")
