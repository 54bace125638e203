"""How a template runs: the one place where executions are made from what is written."""

import re
from collections.abc import Iterator
from typing import Any, Final

from server.library.findings import Findings
from server.library.jinja import jinja_problem, variables
from server.library.model import BuiltinExecution, Execution, TemplateKind
from server.library.template_yaml import ExecutionYaml, HttpYaml, TemplateYaml
from server.settings.source import Document, Keys
from server.settings.wording import instead

_BRACES: Final = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")
_REQUEST_KEYS: Final = tuple(HttpYaml.model_fields)


def kind_of(written: TemplateYaml) -> TemplateKind:
    """Whether a template runs a tool or calls an endpoint; what it says, or what it holds."""
    if written.tool_type is not None:
        return written.tool_type
    has_endpoint = written.endpoint is not None or written.endpoint_template is not None
    return "query" if has_endpoint and written.execution is None else "function"


def build_execution(
    written: TemplateYaml,
    parameters: frozenset[str],
    document: Document,
    at: Keys,
    findings: Findings,
) -> Execution | None:
    """Return how the template at `at` runs, or None when it cannot; problems say why."""
    execution = written.execution or ExecutionYaml()
    inside: Keys = (*at, "execution") if written.execution is not None else at
    findings.unused("execution", document, (*at, "execution"), ExecutionYaml.not_used)
    if kind_of(written) == "query" or execution.type != "builtin":
        _check_placeholders(document, at, parameters, findings)
        kind = "query template" if kind_of(written) == "query" else f"{execution.type} template"
        what = f"{written.id!r} is a {kind}, which this server does not run; it is left out"
        findings.warn("execution-unsupported", what, document.where(at))
        return None
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
    findings: Findings,
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


def _check_placeholders(
    document: Document, at: Keys, parameters: frozenset[str], findings: Findings
) -> None:
    """Report placeholders of a request that no parameter fills."""
    for place in (at, (*at, "execution")):
        for key in _REQUEST_KEYS:
            for keys, text in _texts(document.at((*place, key)), (*place, key)):
                for name in sorted(_placeholders(text) - parameters):
                    what = f"no parameter fills {name!r}; {instead(name, sorted(parameters))}"
                    findings.add("placeholder-unfilled", what, document.where(keys))


def _texts(value: Any, at: Keys) -> Iterator[tuple[Keys, str]]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _texts(part, (*at, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _texts(part, (*at, number))


def _placeholders(text: str) -> frozenset[str]:
    """Names in `{name}` and `{{ expression }}`."""
    in_jinja = variables(text) if jinja_problem(text) is None else frozenset()
    return in_jinja | set(_BRACES.findall(text))
