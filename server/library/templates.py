"""From a template as it is written to the one that is matched and run."""

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any

from server.core.suggestions import closest, did_you_mean, quoted
from server.core.tools import Effect
from server.errors import Problem
from server.library.domain import check_jinja
from server.library.executions import (
    build_execution,
    effect_of,
    kind_of,
    placeholders,
    sends_request,
)
from server.library.expressions import examine
from server.library.model import CallPolicy, Domain, Parameter, Template
from server.library.parameters import build_parameters
from server.library.problems import ProblemCollector
from server.library.yaml_models import FunctionSchemaYaml, ParameterYaml, TemplateYaml
from server.settings.documents import Document, Keys
from server.settings.validation import validate
from server.settings.yaml_tree import Unresolved


def template_hash(template: Template) -> str:
    """SHA-256, in hexadecimal, of what runs and who may run it.

    Examples, tags and the words of answers do not count; neither do credentials, which may
    be renewed at any time.
    """
    what = (
        template.id,
        template.description,
        template.parameters,
        template.execution,
        template.effect,
        template.policy,
    )
    return sha256(json.dumps(_plain(what)).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        counted = (field for field in fields(value) if field.compare and field.repr)
        return {field.name: _plain(getattr(value, field.name)) for field in counted}
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(item)] for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Set):
        return sorted(map(str, value))
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def build_policy(
    written: TemplateYaml,
    effect: Effect,
    parameters: Sequence[Parameter],
    document: Document,
    at: Keys,
    findings: ProblemCollector,
) -> CallPolicy:
    """Return the policy of the template at `at`, reporting what is wrong with it.

    What changes something has to be confirmed, unless the template says otherwise.

    A name among `sensitive_params` that fits no parameter would protect nothing.
    """
    known = [parameter.name for parameter in parameters]
    holds_parts = any(parameter.type in {"object", "array"} for parameter in parameters)
    for name in written.sensitive_params:
        if name.split(".")[0] in known or (holds_parts and "." not in name):
            continue
        what = f"sensitive_params: there is no parameter {name!r}; {did_you_mean(name, known)}"
        findings.add("unknown-value", what, document.where((*at, "sensitive_params")))
    return CallPolicy(
        requires_auth=written.requires_auth,
        allowed_roles=written.allowed_roles,
        rate_limit=written.rate_limit,
        sensitive_params=written.sensitive_params,
        confirm=effect == "write" if written.confirm is None else written.confirm,
        log_invocations=written.log_invocations,
    )


def build_templates(
    document: Document, domain: Domain, findings: ProblemCollector
) -> list[tuple[Template, bool]]:
    """Return the templates of `document` that can be read, each with whether it can be used.

    What is wrong with one is found about it, and the rest about a template without an id.
    """
    with findings.about(""):
        entries = _entries(document, findings)
    built = []
    for at, name in entries.items():
        before = len(findings.problems)
        with findings.about(name):
            findings.problems += _problems_inside(document, at)
            template = _build(domain, document, at, findings)
        sound = not any(problem.is_error for problem in findings.problems[before:])
        if template is not None:
            built.append((template, sound))
    return built


def _entries(document: Document, findings: ProblemCollector) -> dict[Keys, str]:
    """Where the templates of a document stand, and the id of each as far as it can be read."""
    at: Keys = ()
    if isinstance(document.data, dict):
        at = ("templates",)
        for key in sorted(document.data.keys() - {"templates"}):
            what = f"unknown key {key!r}; templates stand under 'templates'"
            findings.add("unknown-key", what, document.where((key,)))
    entries = document.at(at) if document.readable else None
    if not isinstance(entries, list):
        if entries is not None:
            what = f"templates: expected a list, got {quoted(entries)}"
            findings.add("wrong-type", what, document.where(at))
        entries = []
    found = {(*at, number): _id_of(entry) for number, entry in enumerate(entries)}
    inside = len(at) + 1
    findings.problems += [p for keys, p in document.placed if keys[:inside] not in found]
    return found


def _id_of(entry: Any) -> str:
    name = entry.get("id") if isinstance(entry, dict) else None
    return name if isinstance(name, str) and not isinstance(name, Unresolved) else ""


def _problems_inside(document: Document, at: Keys) -> list[Problem]:
    """What is wrong with the template at `at` as YAML, also with what it shares with others."""
    found = [problem for keys, problem in document.placed if keys[: len(at)] == at]
    if document.placed and not found and _has_unresolved(document.at(at)):
        what = "uses a value that stands elsewhere in the file and cannot be read"
        found.append(Problem(what, document.where(at), "missing-variable"))
    return found


def _has_unresolved(value: Any) -> bool:
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return any(_has_unresolved(part) for part in parts)
    return isinstance(value, Unresolved)


def _build(
    domain: Domain, document: Document, at: Keys, findings: ProblemCollector
) -> Template | None:
    written, problems = validate(TemplateYaml, document, at)
    findings.problems += problems
    if written is None:
        return None
    findings.unused("a template", document, at, TemplateYaml.not_used)
    schema = written.function_schema or FunctionSchemaYaml()
    entries, inside = _parameters(written, schema, document, at, findings)
    parameters = build_parameters(entries, domain, document, inside, findings)
    execution = build_execution(written, parameters, domain.http, document, at, findings)
    examples = _examples(written, document, at, findings)
    _check_response(written, parameters, domain, document, at, findings)
    if execution is None:
        return None
    effect = effect_of(written, execution)
    return Template(
        id=written.id,
        description=written.description or schema.description,
        kind=kind_of(written),
        nl_examples=examples,
        parameters=parameters,
        execution=execution,
        function_name=schema.name or written.id,
        response_template=written.response_template,
        response_format=written.response_format,
        effect=effect,
        version=written.version,
        intents=written.intents,
        when={entity: _several(value) for entity, value in written.when.items()},
        tags=written.tags,
        policy=build_policy(written, effect, parameters, document, at, findings),
        where=document.where(at),
    )


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list) else (value,)


def _parameters(
    written: TemplateYaml,
    schema: FunctionSchemaYaml,
    document: Document,
    at: Keys,
    findings: ProblemCollector,
) -> tuple[Sequence[ParameterYaml], Keys]:
    """The parameters, in whichever notation they are written, and where that is.

    A request that describes no parameters at all takes them from its placeholders.
    """
    nested: Keys = (*at, "function_schema", "parameters")
    if written.parameters and schema.parameters:
        what = "parameters are written twice, here and under function_schema"
        findings.add("duplicate-key", what, document.where((*at, "parameters")))
    if schema.parameters:
        return schema.parameters, nested
    flat: Keys = (*at, "parameters")
    described = {"parameters", "function_schema"} & written.model_fields_set
    if described or not sends_request(written):
        return written.parameters, flat
    implied = []
    for name, keys in placeholders(document, at).items():
        what = f"{name!r} is described nowhere; it is taken for a text that has to be given"
        findings.warn("implied-parameter", what, document.where(keys))
        implied.append(ParameterYaml(name=name))
    return implied, flat


def _examples(
    written: TemplateYaml, document: Document, at: Keys, findings: ProblemCollector
) -> tuple[str, ...]:
    examples = tuple(example.strip() for example in written.nl_examples if example.strip())
    if not examples:
        what = (
            f"{written.id!r} has no nl_examples; questions find it by its description alone, "
            "which is less sure"
        )
        findings.warn("no-examples", what, document.where((*at, "nl_examples")))
    return examples


def _check_response(
    written: TemplateYaml,
    parameters: Sequence[Parameter],
    domain: Domain,
    document: Document,
    at: Keys,
    findings: ProblemCollector,
) -> None:
    formats = domain.response.format_templates
    if written.response_format is not None and written.response_format not in formats:
        what = f"unknown response_format {written.response_format!r}; " + did_you_mean(
            written.response_format, list(formats)
        )
        where = document.where((*at, "response_format"))
        findings.add("format-template-missing", what, where)
    text, keys = written.response_template, (*at, "response_template")
    if text is None or not check_jinja("response_template", text, document, keys, findings):
        return
    names = [parameter.name for parameter in parameters]
    for variable in sorted(examine(text).variables - set(names)):
        # Only the tool knows the fields of its result, so that an unknown name is
        # reported here when it is nearly a parameter's, and otherwise left to a run.
        meant = closest(variable, names, cutoff=0.8)
        if meant is not None:
            what = f"response_template uses {variable!r}; did you mean {meant!r}?"
            findings.warn("unknown-variable", what, document.where(keys))


def by_id(templates: Sequence[Template], findings: ProblemCollector) -> dict[str, Template]:
    """The templates by id, the first of each; what stands in two of them is reported."""
    found: dict[str, Template] = {}
    examples: dict[str, Template] = {}
    for template in templates:
        first = found.setdefault(template.id, template)
        with findings.about(template.id):
            if first is template:
                _report_shared_examples(template, examples, findings)
            else:
                what = f"the id {template.id!r} is used twice; first at {first.where}"
                findings.add("duplicate-id", what, template.where)
    return found


def _report_shared_examples(
    template: Template, examples: dict[str, Template], findings: ProblemCollector
) -> None:
    for example in template.nl_examples:
        other = examples.setdefault(_folded(example), template)
        if other is not template:
            what = (
                f"{template.id!r} and {other.id!r} (at {other.where}) have the same "
                f"example, {example!r}; a question can have one answer"
            )
            findings.warn("duplicate-example", what, template.where)


def _folded(example: str) -> str:
    return " ".join(example.lower().split()).rstrip(" ?!.")
