"""Build templates from their YAML, in either notation."""

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any

from server.core.suggestions import closest, did_you_mean, quoted
from server.core.tools import Effect
from server.errors import Fix, Problem
from server.library.domain import fold_word, texts_by_language
from server.library.executions import (
    asks_database,
    build_execution,
    effect_of,
    kind_of,
    placeholders,
    sends_request,
)
from server.library.expressions import examine
from server.library.model import CallPolicy, Domain, Library, Parameter, Template
from server.library.parameters import build_parameters
from server.library.problems import ProblemCollector, Section
from server.library.sql_model import ROW_FIELDS, SqlExecution
from server.library.yaml_models import (
    NOTES_OF_GENERATORS,
    FunctionSchemaYaml,
    ParameterYaml,
    TemplateYaml,
)
from server.settings.documents import Document
from server.settings.validation import validate
from server.settings.yaml_tree import Unresolved


def template_hash(template: Template) -> str:
    """Return the SHA-256, in hexadecimal, of what runs and who may run it.

    Examples, tags and the words of answers do not count; neither do credentials, which may
    be renewed at any time.
    """
    counted = ("id", "description", "parameters", "execution", "effect", "policy")
    what = [_json_like(getattr(template, name)) for name in counted]
    return sha256(json.dumps(what).encode()).hexdigest()


def library_digest(library: Library) -> str:
    """Return a hash of what questions are matched with: ids, examples, descriptions, parameters."""
    counted = ("id", "description", "nl_examples", "counter_examples", "parameters")
    what = [
        [_json_like(getattr(template, name)) for name in (*counted, "unused_values")]
        for _, template in sorted(library.templates.items())
    ]
    return sha256(json.dumps(what).encode()).hexdigest()[:32]


def decision_digest(library: Library) -> str:
    """Return a hash of all in a library that decides what a question comes to.

    What runs then, and the words of answers, do not count.
    """
    of_template = (
        "id", "description", "kind", "nl_examples", "counter_examples", "parameters", "effect",
        "intents", "when", "policy", "unused_values",
    )  # fmt: skip
    of_domain = (
        "parameter_patterns", "entities", "synonyms", "date_order", "unused_values", "courtesy",
    )  # fmt: skip
    templates = [
        [_json_like(getattr(template, name)) for name in of_template]
        for _, template in sorted(library.templates.items())
    ]
    response = library.domain.response
    languages = [response.default_language, *response.supported_languages]
    domain = [_json_like(getattr(library.domain, name)) for name in of_domain]
    return sha256(json.dumps([templates, languages, domain]).encode()).hexdigest()[:32]


def _json_like(value: Any) -> Any:
    if is_dataclass(value):
        counted = (field for field in fields(value) if field.compare and field.repr)
        return {field.name: _json_like(getattr(value, field.name)) for field in counted}
    if isinstance(value, Mapping):
        return [[_json_like(key), _json_like(item)] for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [_json_like(item) for item in value]
    if isinstance(value, Set):
        return sorted(map(str, value))
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _policy(
    written: TemplateYaml, effect: Effect, parameters: Sequence[Parameter], section: Section
) -> CallPolicy:
    """Return the template's policy; what changes something is confirmed unless it says no."""
    known = [parameter.name for parameter in parameters]
    holds_parts = any(p.descriptor.json_type in ("object", "array") for p in parameters)
    for name in written.sensitive_params:
        if name.split(".")[0] not in known and not (holds_parts and "." not in name):
            what = f"sensitive_params: there is no parameter {name!r}; {did_you_mean(name, known)}"
            section.add("unknown-value", what, "sensitive_params")
    policy = {field.name: getattr(written, field.name) for field in fields(CallPolicy)}
    confirm = effect == "write" if written.confirm is None else written.confirm
    return CallPolicy(**policy | {"confirm": confirm})


def build_templates(
    document: Document, domain: Domain, collector: ProblemCollector
) -> list[tuple[Template, bool]]:
    """Return the templates of `document` that can be read, each with whether it can be used.

    Problems inside a template are about it; others are about a template without an id.
    """
    top = Section(document, (), collector)
    with collector.about(""):
        entries = _entries(top)
    built = []
    for section, name in entries:
        before = len(collector.problems)
        with collector.about(name):
            collector.problems += _yaml_problems(section)
            template = _build(domain, section)
        sound = not any(problem.is_error for problem in collector.problems[before:])
        if template is not None:
            built.append((template, sound))
    return built


def _entries(top: Section) -> list[tuple[Section, str]]:
    document, section = top.document, top
    if isinstance(document.data, dict):
        section = top.part("templates")
        if "templates" in document.data:
            top.report_unused("a file of templates", NOTES_OF_GENERATORS)
        for key in sorted(document.data.keys() - {"templates", *NOTES_OF_GENERATORS}):
            what = f"unknown key {key!r}; templates stand under 'templates'"
            top.add("unknown-key", what, key, fix=document.renaming((key,), ("templates",)))
    entries = section.value if document.readable else None
    if not isinstance(entries, list):
        if entries is not None:
            section.add("wrong-type", f"templates: expected a list, got {quoted(entries)}")
        entries = []
    found = [(section.part(number), _id_of(entry)) for number, entry in enumerate(entries)]
    inside = {each.keys for each, _ in found}
    length = len(section.keys) + 1
    top.collector.problems += [p for keys, p in document.placed if keys[:length] not in inside]
    return found


def _id_of(entry: Any) -> str:
    name = entry.get("id") if isinstance(entry, dict) else None
    return name if isinstance(name, str) and not isinstance(name, Unresolved) else ""


def _yaml_problems(section: Section) -> list[Problem]:
    placed, at = section.document.placed, section.keys
    found = [problem for keys, problem in placed if keys[: len(at)] == at]
    if placed and not found and _has_unresolved(section.value):
        what = "uses a value that stands elsewhere in the file and cannot be read"
        found.append(Problem(what, section.where(), "missing-variable"))
    return found


def _has_unresolved(value: Any) -> bool:
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return any(_has_unresolved(part) for part in parts)
    return isinstance(value, Unresolved)


def _build(domain: Domain, section: Section) -> Template | None:
    written, problems = validate(TemplateYaml, section.document, section.keys)
    section.collector.problems += problems
    _check_repeated_examples(section)
    if written is None:
        return None
    section.report_unused("a template", TemplateYaml.not_used)
    schema = written.function_schema or FunctionSchemaYaml()
    entries, inside = _parameters(written, schema, section)
    parameters = build_parameters(entries, domain, inside, repeatable=asks_database(written))
    execution = build_execution(written, parameters, domain.http, section)
    examples, counter_examples = (
        tuple(text.strip() for text in texts if text.strip())
        for texts in (written.nl_examples, written.counter_examples)
    )
    _check_counter_examples(written.id, examples, counter_examples, section)
    if not examples:
        hint = "questions find it by its description alone, which is less sure"
        what = f"{written.id!r} has no nl_examples; {hint}"
        section.warn("no-examples", what, "nl_examples")
    fields = ROW_FIELDS if isinstance(execution, SqlExecution) else frozenset[str]()
    response_template = _response_template(written, parameters, fields, domain, section)
    if execution is None:
        return None
    if isinstance(execution, SqlExecution):
        parameters = tuple(p for p in parameters if p.name in execution.sql.names)
    effect = effect_of(written, execution)
    return Template(
        id=written.id,
        description=written.description or schema.description,
        kind=kind_of(written),
        nl_examples=examples,
        parameters=parameters,
        execution=execution,
        function_name=schema.name or written.id,
        response_template=response_template,
        response_format=written.response_format,
        effect=effect,
        version=written.version,
        intents=written.intents,
        when={
            entity: tuple(value) if isinstance(value, list) else (value,)
            for entity, value in written.when.items()
        },
        tags=written.tags,
        topic=written.topic,
        policy=_policy(written, effect, parameters, section),
        counter_examples=counter_examples,
        unused_values=written.unused_values or domain.unused_values,
        where=section.where(),
    )


def _check_repeated_examples(section: Section) -> None:
    """Report examples that stand twice in a list of the template, in the same words."""
    for key in ("nl_examples", "counter_examples"):
        seen: set[str] = set()
        texts = section.part(key).value
        for number, text in enumerate(texts if isinstance(texts, list) else ()):
            if not isinstance(text, str) or not text.strip():
                continue
            if text in seen:
                what = f"{quoted(text)} stands in {key} before; once is enough"
                section.warn("repeated-example", what, key, number, fix=Fix("remove", text))
            seen.add(text)


def _check_counter_examples(
    name: str, examples: Sequence[str], counter_examples: Sequence[str], section: Section
) -> None:
    """Report what is both an example and a counter example: it teaches nothing."""
    own = {_plain(example) for example in examples}
    for number, text in enumerate(counter_examples):
        if _plain(text) in own:
            what = f"{quoted(text)} is an example of {name!r} and a counter example of it as well"
            section.warn("contradictory-example", what, "counter_examples", number)


def _plain(question: str) -> str:
    return fold_word(question).rstrip(" ?!.")


def _parameters(
    written: TemplateYaml, schema: FunctionSchemaYaml, section: Section
) -> tuple[Sequence[ParameterYaml], Section]:
    """Return the parameters, in whichever notation they are written, and their section.

    A request that describes no parameters at all takes them from its placeholders.
    """
    flat = section.part("parameters")
    if written.parameters and schema.parameters:
        flat.add("duplicate-key", "parameters are written twice, here and under function_schema")
    if schema.parameters:
        return schema.parameters, section.part("function_schema", "parameters")
    described = {"parameters", "function_schema"} & written.model_fields_set
    if described or not (sends_request(written) or asks_database(written)):
        return written.parameters, flat
    implied = []
    for name, place in placeholders(written, section).items():
        what = f"{name!r} is described nowhere; it is taken for a text that has to be given"
        place.warn("implied-parameter", what)
        implied.append(ParameterYaml(name=name))
    return implied, flat


def _response_template(
    written: TemplateYaml,
    parameters: Sequence[Parameter],
    fields: frozenset[str],
    domain: Domain,
    section: Section,
) -> dict[str, str]:
    """The texts of the answer, whose variables are parameters and `fields` of every result."""
    format_name, formats = written.response_format, domain.response.format_templates
    if format_name is not None and format_name not in formats:
        hint = did_you_mean(format_name, list(formats))
        what = f"unknown response_format {format_name!r}; {hint}"
        section.add("format-template-missing", what, "response_format")
    if not written.response_template:
        return {}
    place = section.part("response_template")
    texts = texts_by_language(
        "response_template", written.response_template, domain.response, place
    )
    names = [*(parameter.name for parameter in parameters), *sorted(fields)]
    variables = frozenset().union(*(examine(text).variables for text in texts.values()))
    for variable in sorted(variables - set(names)):
        # Only the tool knows the fields of its result, so that an unknown name is
        # reported here when it is nearly a parameter's, and otherwise left to a run.
        meant = closest(variable, names, cutoff=0.8)
        if meant is not None:
            what = f"response_template uses {variable!r}; did you mean {meant!r}?"
            place.warn("unknown-variable", what)
    return texts


def by_id(templates: Sequence[Template], collector: ProblemCollector) -> dict[str, Template]:
    """Return the first template of each id; an id or example in two of them is reported."""
    found: dict[str, Template] = {}
    examples: dict[str, Template] = {}
    for template in templates:
        first = found.setdefault(template.id, template)
        with collector.about(template.id):
            if first is not template:
                what = f"the id {template.id!r} is used twice; first at {first.where}"
                collector.add("duplicate-id", what, template.where)
                continue
            for example in template.nl_examples:
                other = examples.setdefault(_plain(example), template)
                if other is not template:
                    what = (
                        f"{template.id!r} and {other.id!r} (at {other.where}) have the same "
                        f"example, {example!r}; a question can have one answer"
                    )
                    collector.add("duplicate-example", what, template.where, "warning")
    return found
