"""Build the domain from `domain.yaml`."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from server import plugins
from server.core.suggestions import did_you_mean, join_words, shortened
from server.errors import ArgumentsInvalid, PluginInvalid
from server.library.data_model import DataModel
from server.library.expressions import examine, matches_nothing, pattern_problem
from server.library.http_requests import build_defaults
from server.library.http_yaml import ApiConfigYaml
from server.library.model import Domain, Entity, NormalizerStep, ResponseConfig, TypePatterns
from server.library.parameter_types import canonical
from server.library.problems import ProblemCollector, Section
from server.library.value_formats import CURRENCIES, NumberPattern, ValueRules
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
from server.settings.documents import Document
from server.settings.validation import validate
from server.text.courtesy import COURTESY_KINDS
from server.text.date_formats import read_format
from server.text.language import CourtesyKind
from server.text.local_values import writes_day_first
from server.text.tokens import DateOrder


def _date_order(written: ResponseConfigYaml) -> DateOrder:
    """How the default language writes 03/04/2025."""
    return "dmy" if writes_day_first(written.default_language) else "mdy"


def _responses(written: ResponseConfigYaml, section: Section) -> ResponseConfig:
    """Check languages and format templates; a text without a language is in the default."""
    default = written.default_language
    supported = written.supported_languages or (default,)
    if default not in supported:
        known = join_words(supported)
        what = f"default_language {default!r} is not among supported_languages {known}"
        section.add("unknown-language", what, "default_language")
    templates: dict[str, dict[str, str]] = {}
    languages, values = tuple(dict.fromkeys(supported)), _value_rules(written, section)
    config = ResponseConfig(default, languages, templates, values)
    for name, texts in written.format_templates.items():
        here = section.part("format_templates", name)
        templates[name] = texts_by_language(f"format template {name!r}", texts, config, here)
    return config


def _value_rules(written: ResponseConfigYaml, section: Section) -> ValueRules:
    """Check how values are to be shown; what cannot be read is reported, and left out."""
    numbers, dates, currencies = dict[str, NumberPattern](), dict[str, str](), dict[str, str]()
    for column, text in written.number_format.items():
        try:
            numbers[column] = NumberPattern.read(text)
        except ArgumentsInvalid as invalid:
            keys = ("number_format", column) if column else ("number_format",)
            section.add("bad-format", f"number_format: {invalid}", *keys)
    for column, text in written.date_format.items():
        try:
            read_format(text, "date_format")
            dates[column] = text
        except ArgumentsInvalid as invalid:
            keys = ("date_format", column) if column else ("date_format",)
            section.add("bad-format", str(invalid), *keys)
    for column, code in written.currency.items():
        if code.upper() in CURRENCIES:
            currencies[column] = code.upper()
        else:
            keys = ("currency", column) if column else ("currency",)
            what = f"unknown currency {code!r}; {did_you_mean(code.upper(), sorted(CURRENCIES))}"
            section.add("unknown-currency", what, *keys)
    return ValueRules(numbers, dates, currencies)


def texts_by_language(
    name: str, texts: Mapping[str, str], response: ResponseConfig, section: Section
) -> dict[str, str]:
    """Return the texts by language; one is needed in the default language, which "" means too."""
    default, supported = response.default_language, response.supported_languages
    found: dict[str, str] = {}
    for language, text in texts.items():
        check_jinja(name, text, section.part(language) if language else section)
        if language and language not in supported:
            what = f"unknown language {language!r}; {did_you_mean(language, supported)}"
            section.add("unknown-language", what, language)
        found[language or default] = text
    if default not in found:
        what = f"{name} has no text in the default language {default!r}"
        section.add("format-template-missing", what)
    return found


def check_jinja(name: str, text: str, section: Section) -> bool:
    """Report a text that could never be rendered; return whether it can."""
    problem = examine(text).problem
    if problem is not None:
        section.add("bad-template", f"{name}: {problem}")
    return problem is None


def build_domain(
    document: Document, collector: ProblemCollector, *, base_url: str = ""
) -> Domain | None:
    """Return the domain that `document` holds, or None when it cannot be read.

    A `base_url` stands in place of the domain's own.
    """
    collector.problems += document.problems
    written, problems = validate(DomainYaml, document)
    collector.problems += problems
    if written is None:
        return None
    top = Section(document, (), collector)
    top.report_unused("a domain", DomainYaml.not_used)
    top.part("domain").report_unused("a domain", NestedDomainYaml.not_used)
    parts = _DomainKeys(written, top)
    nested = written.domain
    name = nested.name if nested is not None else written.domain_name
    if name is None:
        top.add("missing-key", "the domain has no name; write domain_name, or name under domain")
    elif nested is not None and written.domain_name is not None:
        what = "the domain is named twice; keep domain_name or name under domain"
        top.add("duplicate-key", what, "domain_name")
    vocabulary: VocabularyYaml = parts.get("vocabulary")
    courtesy: tuple[CourtesyKind, ...] | None = parts.get("courtesy")
    api: ApiConfigYaml = parts.get("api_config")
    parts.section("vocabulary").report_unused("a vocabulary", VocabularyYaml.not_used)
    data: DataModel | None = parts.get("data")
    if data is not None:
        for keys, what in data.problems():
            parts.section("data").add("unknown-value", what, *keys)
    return Domain(
        name=name or "",
        description=parts.get("description"),
        version=parts.get("version"),
        parameter_patterns=_patterns(
            parts.get("parameter_patterns"), parts.section("parameter_patterns")
        ),
        entities=_entities(parts.get("entities"), vocabulary, parts.section("entities")),
        synonyms=_synonyms(vocabulary),
        response=_responses(parts.get("response_config"), parts.section("response_config")),
        date_order=parts.get("date_order") or _date_order(parts.get("response_config")),
        http=build_defaults(
            api.model_copy(update={"base_url": base_url}) if base_url else api,
            parts.section("api_config"),
            parts.get("authentication"),
            parts.section("authentication"),
        ),
        unused_values=parts.get("unused_values"),
        data=data,
        courtesy=COURTESY_KINDS if courtesy is None else tuple(dict.fromkeys(courtesy)),
    )


class _DomainKeys:
    """The domain's keys, each at the top or under `domain:`, as the author likes."""

    def __init__(self, written: DomainYaml, top: Section) -> None:
        self._written, self._top = written, top
        nested = written.domain
        self._nested = nested.model_fields_set if nested is not None else set[str]()
        for name in sorted(
            written.model_fields_set & self._nested & DomainParts.model_fields.keys()
        ):
            other = top.where("domain", name)
            what = f"{name!r} is written twice, here and under domain in line {other.line}"
            top.add("duplicate-key", what, name)

    def section(self, name: str) -> Section:
        return self._top.part("domain", name) if name in self._nested else self._top.part(name)

    def get(self, name: str) -> Any:
        return getattr(self._written.domain if name in self._nested else self._written, name)


def _patterns(written: Mapping[str, TypePatternsYaml], section: Section) -> dict[str, TypePatterns]:
    found: dict[str, TypePatterns] = {}
    for name, entry in written.items():
        type_name = canonical(name)
        if type_name in found:
            what = f"patterns for the type {type_name!r} are written twice"
            section.add("duplicate-key", what, name)
        check_patterns(entry.patterns, section.part(name, "patterns"))
        for number, step in enumerate(entry.normalizers):
            _check_normalizer(step, section.part(name, "normalizers", number))
        steps = tuple(NormalizerStep(n.type, dict(n.model_extra or {})) for n in entry.normalizers)
        found[type_name] = TypePatterns(entry.patterns, steps)
    return found


def check_patterns(patterns: Iterable[str], section: Section) -> None:
    """Report patterns that do not compile, and those that match the empty text."""
    for number, pattern in enumerate(patterns):
        problem = pattern_problem(pattern)
        if problem is not None:
            section.add("bad-pattern", f"pattern '{shortened(pattern)}': {problem}", number)
        elif matches_nothing(pattern):
            what = f"pattern '{shortened(pattern)}' matches the empty text, so it finds nothing"
            section.warn("empty-pattern", what, number)


def _check_normalizer(step: NormalizerYaml, section: Section) -> None:
    name, known = step.type, plugins.known("normalizer")
    if name not in known and "." not in name and ":" not in name:
        what = f"unknown normalizer {name!r}; {did_you_mean(name, known)}"
        section.add("unknown-normalizer", what)
        return
    try:
        inspect.signature(plugins.resolve("normalizer", name)).bind("", **(step.model_extra or {}))
    except PluginInvalid as unusable:
        section.add("unknown-normalizer", str(unusable))
    except (TypeError, ValueError) as unfit:
        section.add("bad-normalizer", f"normalizer {name!r}: {unfit}")


def _entities(
    written: Mapping[str, EntityYaml], vocabulary: VocabularyYaml, section: Section
) -> dict[str, Entity]:
    found = {}
    for name, entry in written.items():
        section.part(name).report_unused("an entity", EntityYaml.not_used)
        called = (entry.name or name, entry.display_name or name)
        words = (*called, *entry.synonyms, *vocabulary.entity_synonyms.get(name, ()))
        values: dict[str, Any] = {}
        for value, synonyms in entry.values.items():
            for word in (value, *synonyms):
                other = values.setdefault(fold_word(word), value)
                if other != value:
                    what = f"{word!r} stands for both {other!r} and {value!r}"
                    section.add("ambiguous-synonym", what, name, "values", value)
        found[name] = Entity(name, entry.description, _other_words(name, words), values)
    return found


def _synonyms(vocabulary: VocabularyYaml) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for group in VocabularyYaml.model_fields:
        for word, others in getattr(vocabulary, group).items():
            found.setdefault(fold_word(word), []).extend(others)
    return {word: _other_words(word, others) for word, others in found.items()}


def _other_words(word: str, words: Iterable[str]) -> tuple[str, ...]:
    """Return the words other than `word` itself, lower-cased, each once, in order."""
    folded = dict.fromkeys(map(fold_word, words))
    folded.pop(fold_word(word), None)
    folded.pop("", None)
    return tuple(folded)


def fold_word(word: object) -> str:
    """Return a word as vocabularies are looked up: in lower case, with single spaces."""
    return " ".join(str(word).lower().split())
