"""Checking templates against the tools they name, before anybody asks anything."""

from collections.abc import Iterator

from server.core.suggestions import unknown
from server.core.tools import ToolDefinition
from server.errors import Problem, ToolUnknown
from server.library.model import BuiltinExecution, Library, Template
from server.tools.registry import ToolRegistry


def template_problems(library: Library, registry: ToolRegistry) -> list[Problem]:
    """Return what keeps templates from running on these tools, in the library's order.

    Kinds: `unknown-tool`, `unknown-operation`, `unknown-tool-parameter`,
    `missing-tool-parameter`, `conflicting-tool-parameters`, and the warning
    `optional-tool-parameter`.
    """
    return [
        problem
        for template in library.templates.values()
        if isinstance(template.execution, BuiltinExecution)
        for problem in _problems(template, template.execution, registry)
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
        what = unknown(f"{tool.name} operation", execution.operation, tool.operations)
        yield _about(template, what, "unknown-operation")
        return
    label = f"{tool.name} {execution.operation}"
    yield from _unknown_parameters(template, definition, label)
    yield from _missing_parameters(template, definition, label)
    yield from _group_problems(template, definition, label)


def _unknown_parameters(
    template: Template, definition: ToolDefinition, label: str
) -> Iterator[Problem]:
    names = [p.name for p in definition.parameters]
    for parameter in template.parameters:
        if parameter.name not in names:
            what = (
                f"template {template.id!r}: " + unknown(f"{label} parameter", parameter.name, names)
                if names
                else f"template {template.id!r}: {label} takes no parameter {parameter.name!r}"
            )
            yield Problem(what, parameter.where, "unknown-tool-parameter", template=template.id)


def _missing_parameters(
    template: Template, definition: ToolDefinition, label: str
) -> Iterator[Problem]:
    given = {p.name: p for p in template.parameters}
    for needed in definition.parameters:
        if not needed.required:
            continue
        parameter = given.get(needed.name)
        if parameter is None:
            what = f"{label} needs {needed.name!r}, and no parameter of the template supplies it"
            yield _about(template, what, "missing-tool-parameter")
        elif not parameter.required and parameter.default is None:
            yield Problem(
                f"template {template.id!r}: parameter {needed.name!r} is optional and has no "
                f"default, but {label} needs it",
                parameter.where,
                "optional-tool-parameter",
                "warning",
                template.id,
            )


def _group_problems(
    template: Template, definition: ToolDefinition, label: str
) -> Iterator[Problem]:
    for group in definition.exactly_one_of:
        present = [p for p in template.parameters if p.name in group]
        choice = " or ".join(map(repr, group))
        if not present:
            what = f"{label} needs {choice}, and no parameter of the template supplies it"
            yield _about(template, what, "missing-tool-parameter")
        elif len([p for p in present if p.required or p.default is not None]) > 1:
            what = f"{label} takes {choice}, and the template always gives more than one"
            yield _about(template, what, "conflicting-tool-parameters")


def _about(template: Template, what: str, kind: str) -> Problem:
    what = f"template {template.id!r}: {what}"
    return Problem(what, template.where, kind, template=template.id)
