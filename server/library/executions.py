"""How a template runs: the one place where executions are made from what is written."""

import re
from collections.abc import Iterator
from typing import Any, Final

from server.library.findings import Findings
from server.library.jinja import examine
from server.library.model import BuiltinExecution, Execution, TemplateKind
from server.library.template_yaml import ExecutionYaml, HttpYaml, TemplateYaml
from server.settings.nodes import Unresolved
from server.settings.source import Document, Keys
from server.settings.wording import instead

_BRACES: Final = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")
_REQUEST_KEYS: Final = tuple(HttpYaml.model_fields)
_UNSUPPORTED: Final = {"http_call": "an HTTP template", "python": "a Python template"}


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
    """Every name that a request's placeholders use, and where it is used first."""
    found: dict[str, Keys] = {}
    for place in (at, (*at, "execution")):
        for key in _REQUEST_KEYS:
            for keys, text in _texts(document.at((*place, key)), (*place, key)):
                for name in sorted(_names(text)):
                    found.setdefault(name, keys)
    return found


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
    findings.unused("an execution", document, (*at, "execution"), ExecutionYaml.not_used)
    if sends_request(written) or execution.type != "builtin":
        _check_placeholders(document, at, parameters, findings)
        kind = _UNSUPPORTED.get(execution.type, "a query template")
        what = f"{written.id!r} is {kind}, which this server does not run; it is left out"
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
    for name, keys in placeholders(document, at).items():
        if name not in parameters:
            what = f"no parameter fills {name!r}; {instead(name, sorted(parameters))}"
            findings.add("placeholder-unfilled", what, document.where(keys))


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
