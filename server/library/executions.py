"""How a template runs: the one place where executions are made from what is written."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from server.core.suggestions import did_you_mean
from server.core.tools import Effect
from server.library.expressions import examine
from server.library.http_model import HttpDefaults, HttpExecution
from server.library.http_requests import WrittenRequest, build_http
from server.library.http_yaml import REQUEST_TEXTS, HttpYaml
from server.library.model import (
    BuiltinExecution,
    Execution,
    Parameter,
    PythonExecution,
    TemplateKind,
)
from server.library.problems import ProblemCollector
from server.library.yaml_models import ExecutionYaml, TemplateYaml
from server.settings.documents import Document, Keys
from server.settings.yaml_tree import Unresolved

_BRACES: Final = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")
_FUNCTION: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_REQUEST_KEYS: Final = tuple(HttpYaml.model_fields)


def kind_of(written: TemplateYaml) -> TemplateKind:
    """Whether a template runs a tool or calls an endpoint; what it says, or what it holds."""
    if written.tool_type is not None:
        return written.tool_type
    has_endpoint = written.endpoint is not None or written.endpoint_template is not None
    return "query" if has_endpoint and written.execution is None else "function"


def sends_request(written: TemplateYaml) -> bool:
    """Whether a template calls an HTTP endpoint, in either notation."""
    by_execution = written.execution is not None and written.execution.type == "http_call"
    return by_execution or kind_of(written) == "query"


def placeholders(document: Document, at: Keys) -> dict[str, Keys]:
    """Every name that arguments have to fill in a request, and where it is used first."""
    found: dict[str, Keys] = {}
    for place in (at, (*at, "execution")):
        prepare: Keys = (*place, "prepare")
        supplied = document.at((*prepare, "response_mapping", "fields")) or ()
        for name, keys in _names_in(document, prepare):
            found.setdefault(name, keys)
        for name, keys in _names_in(document, place):
            if name not in supplied:
                found.setdefault(name, keys)
    return found


def effect_of(written: TemplateYaml, execution: Execution) -> Effect:
    """What the template says, or else what the method of its request is for."""
    if "effect" not in written.model_fields_set and isinstance(execution, HttpExecution):
        return "read" if execution.request.method == "GET" else "write"
    return written.effect


def build_execution(
    written: TemplateYaml,
    parameters: Sequence[Parameter],
    defaults: HttpDefaults,
    document: Document,
    at: Keys,
    findings: ProblemCollector,
) -> Execution | None:
    """Return how the template at `at` runs, or None when it cannot; problems say why.

    `defaults` are what the domain says of the service that its endpoints belong to.
    """
    execution = written.execution or ExecutionYaml()
    inside: Keys = (*at, "execution") if written.execution is not None else at
    findings.unused("an execution", document, (*at, "execution"), ExecutionYaml.not_used)
    if sends_request(written):
        return _http_execution(written, parameters, defaults, document, at, findings)
    if execution.type == "python":
        return _python_execution(written, document, at, findings)
    for place in (at, inside):
        for key in _REQUEST_KEYS:
            if key in (document.at(place) or {}):
                what = f"{key!r} describes a request, but {written.id!r} runs a tool"
                findings.warn("unused-key", what, document.where((*place, key)))
    tool = _named(
        "a tool",
        {
            (*at, "tool_name"): written.tool_name,
            (*at, "execution", "tool"): execution.tool,
            (*at, "execution", "builtin_function"): execution.builtin_function,
        },
        document,
        at,
        findings,
    )
    operation = _named(
        "an operation",
        {
            (*at, "tool_operation"): written.tool_operation,
            (*at, "execution", "operation"): execution.operation,
        },
        document,
        at,
        findings,
    )
    return BuiltinExecution(tool, operation) if tool and operation else None


def _named(
    thing: str,
    spellings: dict[Keys, str | None],
    document: Document,
    at: Keys,
    findings: ProblemCollector,
) -> str | None:
    """The one value among several spellings of a key; none, or two that differ, is a problem."""
    found = {keys: value for keys, value in spellings.items() if value}
    names = [str(keys[-1]) for keys in spellings]
    if not found:
        what = f"names no {thing.split()[1]}; write {names[0]}, or {names[-1]} under execution"
        findings.add("missing-key", what, document.where(at))
        return None
    if len(set(found.values())) > 1:
        keys = list(found)[-1]
        what = f"names {thing} twice: {' and '.join(repr(v) for v in found.values())}"
        findings.add("duplicate-key", what, document.where(keys))
    return next(iter(found.values()))


def _http_execution(
    written: TemplateYaml,
    parameters: Sequence[Parameter],
    defaults: HttpDefaults,
    document: Document,
    at: Keys,
    findings: ProblemCollector,
) -> HttpExecution | None:
    request = _request(written, document, at, findings)
    schema = written.function_schema
    operation = (schema.name if schema is not None else "") or written.id
    execution = build_http(operation, request, defaults, document, findings)
    _check_placeholders(document, at, parameters, findings)
    if execution is not None:
        path = execution.request.path.names
        for parameter in parameters:
            if parameter.name in path and not parameter.required and parameter.default is None:
                what = f"{parameter.name!r} is part of the path, so it is required or has a default"
                findings.add("optional-in-path", what, parameter.where)
    return execution


def _python_execution(
    written: TemplateYaml, document: Document, at: Keys, findings: ProblemCollector
) -> PythonExecution | None:
    """The function that a Python template calls; whether there is one is found on opening."""
    function = written.execution.function if written.execution is not None else None
    if function is None:
        what = "names no function; write function: package.module:name under execution"
        findings.add("missing-key", what, document.where((*at, "execution")))
        return None
    if not _FUNCTION.fullmatch(function):
        what = f"{function!r} names no function; write it as package.module:name"
        findings.add("bad-name", what, document.where((*at, "execution", "function")))
        return None
    return PythonExecution(function)


def _request(
    written: TemplateYaml, document: Document, at: Keys, findings: ProblemCollector
) -> WrittenRequest:
    """The keys of the request, from the template's top and from under its execution."""
    execution = written.execution or ExecutionYaml()
    values: dict[str, Any] = {}
    places: dict[str, Keys] = {}
    for name in _REQUEST_KEYS:
        for part, keys in ((written, (*at, name)), (execution, (*at, "execution", name))):
            if name not in part.model_fields_set:
                continue
            if name in values:
                what = f"{name!r} is written twice, here and at the top of the template"
                findings.add("duplicate-key", what, document.where(keys))
            values[name], places[name] = getattr(part, name), keys
    by_execution = written.execution is not None and "endpoint" not in places
    inside: Keys = (*at, "execution") if by_execution else at
    return WrittenRequest(HttpYaml.model_construct(set(values), **values), places, inside)


def _check_placeholders(
    document: Document, at: Keys, parameters: Sequence[Parameter], findings: ProblemCollector
) -> None:
    known = sorted(parameter.name for parameter in parameters)
    for name, keys in placeholders(document, at).items():
        if name not in known:
            what = f"no parameter fills {name!r}; {did_you_mean(name, known)}"
            findings.add("placeholder-unfilled", what, document.where(keys))


def _names_in(document: Document, at: Keys) -> Iterator[tuple[str, Keys]]:
    for key in REQUEST_TEXTS:
        for keys, text in _texts(document.at((*at, key)), (*at, key)):
            for name in sorted(_names(text)):
                yield name, keys


def _texts(value: Any, at: Keys) -> Iterator[tuple[Keys, str]]:
    if isinstance(value, str):
        if not isinstance(value, Unresolved):
            yield at, value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _texts(part, (*at, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _texts(part, (*at, number))


def _names(text: str) -> frozenset[str]:
    """Names in `{name}` and `{{ expression }}`."""
    return examine(text).variables | set(_BRACES.findall(text))
