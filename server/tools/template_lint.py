"""Checking templates against tools, roles and intents, before anybody asks anything."""

from collections.abc import Iterator, Mapping
from typing import Literal

from server.core.suggestions import unknown
from server.core.tools import ToolDefinition
from server.errors import Location, Problem, ToolUnknown
from server.library.model import BuiltinExecution, Library, Template
from server.tools.registry import ToolRegistry


def template_problems(library: Library, registry: ToolRegistry) -> list[Problem]:
    """Return what keeps templates from running on these tools, in the library's order."""
    return [
        problem
        for template in library.templates.values()
        if isinstance(template.execution, BuiltinExecution)
        for problem in _problems(template, template.execution, registry)
    ]


def role_problems(library: Library, roles: tuple[str, ...]) -> list[Problem]:
    """Return the roles that templates name and that do not exist: `unknown-role`."""
    return [
        _about(template, unknown("role", role, roles), "unknown-role")
        for template in library.templates.values()
        for role in template.policy.allowed_roles
        if role not in roles
    ]


def intent_tools_problems(
    library: Library, intent_tools: Mapping[str, tuple[str, ...]], where: Location
) -> list[Problem]:
    """Return the templates that intents allow and that do not exist: `unknown-template`."""
    written = library.written
    return [
        Problem(
            f"intent_tools of {intent!r}: {unknown('template', name, library.templates)}",
            where,
            "unknown-template",
        )
        for intent, names in intent_tools.items()
        for name in names
        if written is not None and name not in written
    ]


def _problems(
    template: Template, execution: BuiltinExecution, registry: ToolRegistry
) -> Iterator[Problem]:
    try:
        tool = registry.get(execution.tool)
    except ToolUnknown as problem:
        yield _about(template, str(problem), "unknown-tool")
        return
    definition = tool.operations.get(execution.operation)
    if definition is None:
        if registry.offers(execution.tool, execution.operation):
            return  # a function, which alone knows what it takes
        what = unknown(f"{tool.name} operation", execution.operation, tool.operations)
        yield _about(template, what, "unknown-operation")
        return
    yield from _parameter_problems(template, definition, f"{tool.name} {execution.operation}")


def _parameter_problems(
    template: Template, definition: ToolDefinition, label: str
) -> Iterator[Problem]:
    given = {parameter.name: parameter for parameter in template.parameters}
    names = [p.name for p in definition.parameters]
    for name, parameter in given.items():
        if name not in names:
            what = f"{label} takes no parameter {name!r}"
            what = unknown(f"{label} parameter", name, names) if names else what
            yield _about(template, what, "unknown-tool-parameter", parameter.where)
    for needed in (p.name for p in definition.parameters if p.required):
        supplied = given.get(needed)
        if supplied is None:
            what = f"{label} needs {needed!r}, and no parameter of the template supplies it"
            yield _about(template, what, "missing-tool-parameter")
        elif not supplied.required and supplied.default is None:
            what = f"parameter {needed!r} is optional and has no default, but {label} needs it"
            yield _about(template, what, "optional-tool-parameter", supplied.where, "warning")
    for group in definition.exactly_one_of:
        present = [given[name] for name in group if name in given]
        choice = " or ".join(map(repr, group))
        if not present:
            what = f"{label} needs {choice}, and no parameter of the template supplies it"
            yield _about(template, what, "missing-tool-parameter")
        elif len([p for p in present if p.required or p.default is not None]) > 1:
            what = f"{label} takes {choice}, and the template always gives more than one"
            yield _about(template, what, "conflicting-tool-parameters")


def _about(
    template: Template,
    what: str,
    kind: str,
    where: Location | None = None,
    severity: Literal["error", "warning"] = "error",
) -> Problem:
    what = f"template {template.id!r}: {what}"
    return Problem(what, where or template.where, kind, severity, template.id)
