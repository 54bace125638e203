"""Finding the functions that templates name, among the modules that configuration allows."""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server.core.problems import Problem
from server.errors import PluginInvalid
from server.library.model import Library, PythonExecution, Template
from server.tools.policy.system import SYSTEM_PARAMETERS


@dataclass(frozen=True, slots=True)
class Function:
    """A function that can be called; `system` are the system parameters that it takes."""

    call: Callable[..., Any]
    is_async: bool
    system: frozenset[str]


def find_functions(
    library: Library, modules: Sequence[str], paths: Sequence[Path]
) -> tuple[Mapping[str, Function], tuple[Problem, ...]]:
    """Return the function of each Python template by the template's id, and what is wrong.

    Kinds of problems: `python-not-allowed`, `python-not-found`, `python-parameters`.
    """
    found: dict[str, Function] = {}
    problems: list[Problem] = []
    for template in library.templates.values():
        if not isinstance(template.execution, PythonExecution):
            continue
        name = template.execution.function
        module, _, attribute = name.partition(":")
        if not _allows(modules, module):
            allowed = ", ".join(modules) or "none"
            what = f"module {module!r} is not among python_tools.modules ({allowed})"
            problems.append(_about(template, what, "python-not-allowed"))
            continue
        try:
            function = _import(module, attribute, paths)
        except PluginInvalid as invalid:
            problems.append(_about(template, str(invalid), "python-not-found"))
            continue
        wrong = [
            _about(template, what, "python-parameters") for what in _misfits(template, function)
        ]
        problems += wrong
        if not wrong:
            found[template.id] = function
    return found, tuple(problems)


def _allows(modules: Sequence[str], module: str) -> bool:
    return any(module == allowed or module.startswith(f"{allowed}.") for allowed in modules)


def _import(module: str, attribute: str, paths: Sequence[Path]) -> Function:
    for path in paths:
        if str(path) not in sys.path:
            # Last, so that nothing in it can stand in for what is installed.
            sys.path.append(str(path))
    try:
        loaded = importlib.import_module(module)
    except Exception as failed:  # a module may be anybody's code
        raise PluginInvalid(
            f"module {module!r} cannot be imported: {type(failed).__name__}: {failed}"
        ) from failed
    call = getattr(loaded, attribute, None)
    if not inspect.isfunction(call):
        raise PluginInvalid(f"module {module!r} has no function {attribute!r}")
    names = inspect.signature(call).parameters
    system = frozenset(name for name in names if name in SYSTEM_PARAMETERS)
    return Function(call, inspect.iscoroutinefunction(call), system)


def _misfits(template: Template, function: Function) -> Iterator[str]:
    """Where the template's parameters and the function's do not fit together."""
    signature = inspect.signature(function.call).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in signature.values())
    given = {parameter.name: parameter for parameter in template.parameters}
    for name in given:
        if name in SYSTEM_PARAMETERS:
            yield f"parameter {name!r} is given by the server, and never by a question"
        elif name not in signature and not takes_any:
            yield f"{function.call.__name__} takes no parameter {name!r}"
    for name, taken in signature.items():
        if taken.kind in (taken.VAR_KEYWORD, taken.VAR_POSITIONAL) or name in SYSTEM_PARAMETERS:
            continue
        if taken.kind is taken.POSITIONAL_ONLY:
            yield f"{function.call.__name__} takes {name!r} by position only"
        elif taken.default is taken.empty:
            supplied = given.get(name)
            if supplied is None or not (supplied.required or supplied.default is not None):
                yield f"{function.call.__name__} needs {name!r}, which may be missing"


def _about(template: Template, what: str, kind: str) -> Problem:
    return Problem(f"template {template.id!r}: {what}", template.where, kind)
