"""From the domain as it is written to the domain as the server uses it."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from server import plugins
from server.core.suggestions import did_you_mean, join_words, shortened
from server.errors import PluginInvalid
from server.library.expressions import examine, matches_nothing, pattern_problem
from server.library.http_requests import build_defaults
from server.library.model import Domain, Entity, Normalizer, ResponseConfig, TypePatterns
from server.library.parameter_types import canonical
from server.library.problems import ProblemCollector
from server.library.yaml_models import (
    DomainParts,
    DomainYaml,
    EntityYaml,
    NestedDomainYaml,
    NormalizerYaml,
    ResponseConfigYaml,
    TypePatternsYaml,
    VocabularyYaml,
)
from server.settings.documents import Document, Keys
from server.settings.validation import validate


def build_responses(
    written: ResponseConfigYaml, document: Document, at: Keys, findings: ProblemCollector
) -> ResponseConfig:
    """Check languages and format templates; a text without a language is in the default."""
    default = written.default_language
    supported = written.supported_languages or (default,)
    if default not in supported:
        what = (
            f"default_language {default!r} is not among supported_languages {join_words(supported)}"
        )
        findings.add("unknown-language", what, document.where((*at, "default_language")))
    templates: dict[str, dict[str, str]] = {}
    for name, texts in written.format_templates.items():
        where = (*at, "format_templates", name)
        templates[name] = {}
        for language, text in texts.items():
            check_jinja(f"format template {name!r}", text, document, (*where, language), findings)
            if language and language not in supported:
                what = f"unknown language {language!r}; {did_you_mean(language, supported)}"
                findings.add("unknown-language", what, document.where((*where, language)))
            templates[name][language or default] = text
        if default not in templates[name]:
            what = f"format template {name!r} has no text in the default language {default!r}"
            findings.add("format-template-missing", what, document.where(where))
    return ResponseConfig(default, tuple(dict.fromkeys(supported)), templates)


def check_jinja(
    name: str, text: str, document: Document, at: Keys, findings: ProblemCollector
) -> bool:
    """Report a text that could never be rendered; return whether it can."""
    problem = examine(text).problem
    if problem is not None:
        findings.add("bad-template", f"{name}: {problem}", document.where(at))
    return problem is None


def build_domain(document: Document, findings: ProblemCollector) -> Domain | None:
    """Return the domain that `document` holds, or None when it cannot be read."""
    findings.problems += document.problems
    written, problems = validate(DomainYaml, document)
    findings.problems += problems
    if written is None:
        return None
    findings.unused("a domain", document, (), DomainYaml.not_used)
    findings.unused("a domain", document, ("domain",), NestedDomainYaml.not_used)
    parts = _Parts(written, document, findings)
    nested = written.domain
    name = nested.name if nested is not None else written.domain_name
    if name is None:
        what = "the domain has no name; write domain_name, or name under domain"
        findings.add("missing-key", what, document.where())
    elif nested is not None and written.domain_name is not None:
        what = "the domain is named twice; keep domain_name or name under domain"
        findings.add("duplicate-key", what, document.where(("domain_name",)))
    vocabulary: VocabularyYaml = parts.get("vocabulary")
    findings.unused("a vocabulary", document, parts.keys("vocabulary"), VocabularyYaml.not_used)
    entities: Mapping[str, EntityYaml] = parts.get("entities")
    response: ResponseConfigYaml = parts.get("response_config")
    return Domain(
        name=name or "",
        description=parts.get("description"),
        version=parts.get("version"),
        parameter_patterns=_patterns(
            parts.get("parameter_patterns"), document, parts.keys("parameter_patterns"), findings
        ),
        entities=_entities(entities, vocabulary, document, parts.keys("entities"), findings),
        synonyms=_synonyms(vocabulary),
        response=build_responses(response, document, parts.keys("response_config"), findings),
        date_order=parts.get("date_order"),
        http=build_defaults(
            parts.get("api_config"),
            parts.keys("api_config"),
            parts.get("authentication"),
            parts.keys("authentication"),
            document,
            findings,
        ),
    )


class _Parts:
    """The domain's keys, wherever the author keeps each: at the top, or under `domain:`."""

    def __init__(self, written: DomainYaml, document: Document, findings: ProblemCollector) -> None:
        self._top, self._nested = written, written.domain
        both = written.model_fields_set & (self._nested.model_fields_set if self._nested else set())
        for name in sorted(both & DomainParts.model_fields.keys()):
            other = document.where(("domain", name))
            what = f"{name!r} is written twice, here and under domain in line {other.line}"
            findings.add("duplicate-key", what, document.where((name,)))

    def _is_nested(self, name: str) -> bool:
        return self._nested is not None and name in self._nested.model_fields_set

    def keys(self, name: str) -> Keys:
        return ("domain", name) if self._is_nested(name) else (name,)

    def get(self, name: str) -> Any:
        return getattr(self._nested if self._is_nested(name) else self._top, name)


def _patterns(
    written: Mapping[str, TypePatternsYaml],
    document: Document,
    at: Keys,
    findings: ProblemCollector,
) -> dict[str, TypePatterns]:
    found: dict[str, TypePatterns] = {}
    for name, entry in written.items():
        type_name = canonical(name)
        if type_name in found:
            what = f"patterns for the type {type_name!r} are written twice"
            findings.add("duplicate-key", what, document.where((*at, name)))
        check_patterns(entry.patterns, document, (*at, name, "patterns"), findings)
        for number, step in enumerate(entry.normalizers):
            where = (*at, name, "normalizers", number)
            _check_normalizer(step, document, where, findings)
        steps = tuple(Normalizer(n.type, dict(n.model_extra or {})) for n in entry.normalizers)
        found[type_name] = TypePatterns(entry.patterns, steps)
    return found


def check_patterns(
    patterns: Iterable[str], document: Document, at: Keys, findings: ProblemCollector
) -> None:
    """Report patterns that do not compile, and those that match the empty text."""
    for number, pattern in enumerate(patterns):
        where = document.where((*at, number))
        problem = pattern_problem(pattern)
        if problem is not None:
            findings.add("bad-pattern", f"pattern '{shortened(pattern)}': {problem}", where)
        elif matches_nothing(pattern):
            what = f"pattern '{shortened(pattern)}' matches the empty text, so it finds nothing"
            findings.warn("empty-pattern", what, where)


def _check_normalizer(
    step: NormalizerYaml, document: Document, at: Keys, findings: ProblemCollector
) -> None:
    name, known = step.type, plugins.known("normalizer")
    if name not in known and "." not in name and ":" not in name:
        what = f"unknown normalizer {name!r}; {did_you_mean(name, known)}"
        findings.add("unknown-normalizer", what, document.where(at))
        return
    try:
        function = plugins.resolve("normalizer", name)
    except PluginInvalid as unusable:
        findings.add("unknown-normalizer", str(unusable), document.where(at))
        return
    try:
        inspect.signature(function).bind("", **(step.model_extra or {}))
    except (TypeError, ValueError) as unfit:
        findings.add("bad-normalizer", f"normalizer {name!r}: {unfit}", document.where(at))


def _entities(
    written: Mapping[str, EntityYaml],
    vocabulary: VocabularyYaml,
    document: Document,
    at: Keys,
    findings: ProblemCollector,
) -> dict[str, Entity]:
    found = {}
    for name, entry in written.items():
        findings.unused("an entity", document, (*at, name), EntityYaml.not_used)
        called = (entry.name or name, entry.display_name or name)
        words = (*called, *entry.synonyms, *vocabulary.entity_synonyms.get(name, ()))
        values: dict[str, Any] = {}
        for value, synonyms in entry.values.items():
            for word in (value, *synonyms):
                other = values.setdefault(_folded(word), value)
                if other != value:
                    what = f"{word!r} stands for both {other!r} and {value!r}"
                    where = document.where((*at, name, "values", value))
                    findings.add("ambiguous-synonym", what, where)
        found[name] = Entity(
            name=name,
            description=entry.description,
            synonyms=_others(name, words),
            values=values,
        )
    return found


def _synonyms(vocabulary: VocabularyYaml) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for group in VocabularyYaml.model_fields:
        for word, others in getattr(vocabulary, group).items():
            found.setdefault(_folded(word), []).extend(others)
    return {word: _others(word, others) for word, others in found.items()}


def _others(word: str, words: Iterable[str]) -> tuple[str, ...]:
    """The words that are not `word` itself, lower-cased, each once, in order."""
    folded = dict.fromkeys(_folded(other) for other in words)
    folded.pop(_folded(word), None)
    folded.pop("", None)
    return tuple(folded)


def _folded(word: str) -> str:
    return " ".join(word.lower().split())
