"""Python functions as tools: found in the modules that configuration allows, and called."""

import asyncio
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server.core.storable import storable_data
from server.core.tools import ToolCall
from server.errors import PluginInvalid, Problem, ToolFailed, ToolTimedOut, ToolUnknown
from server.library.model import Library, PythonExecution, Template
from server.tools.policy.checks import SYSTEM_PARAMETERS
from server.tools.workers import THREADS_PER_TOOL, Workers, WorkersBusy


@dataclass(frozen=True, slots=True)
class Function:
    """A function that can be called; `system` are the system parameters that it takes."""

    call: Callable[..., Any]
    is_async: bool
    system: frozenset[str]


def find_functions(
    library: Library, modules: Sequence[str], paths: Sequence[Path]
) -> tuple[Mapping[str, Function], tuple[Problem, ...]]:
    """Return the function of each Python template by its id, and the problems found."""
    found: dict[str, Function] = {}
    problems: list[Problem] = []
    for template in library.templates.values():
        if not isinstance(template.execution, PythonExecution):
            continue
        module, _, attribute = template.execution.function.partition(":")
        kind, wrong = "python-parameters", []
        if not any(module == allowed or module.startswith(f"{allowed}.") for allowed in modules):
            allowed = ", ".join(modules) or "none"
            kind = "python-not-allowed"
            wrong = [f"module {module!r} is not among python_tools.modules ({allowed})"]
        else:
            try:
                function = _import_function(module, attribute, paths)
            except PluginInvalid as invalid:
                kind, wrong = "python-not-found", [str(invalid)]
            else:
                wrong = list(_parameter_problems(template, function))
                if not wrong:
                    found[template.id] = function
        problems += [
            Problem(f"template {template.id!r}: {what}", template.where, kind, template=template.id)
            for what in wrong
        ]
    return found, tuple(problems)


def _import_function(module: str, attribute: str, paths: Sequence[Path]) -> Function:
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
    system = SYSTEM_PARAMETERS & inspect.signature(call).parameters.keys()
    return Function(call, inspect.iscoroutinefunction(call), system)


def _parameter_problems(template: Template, function: Function) -> Iterator[str]:
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


class PythonCalls:
    """Calls the functions of an adapter, which stand by the ids of the templates that name them."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions
        self._workers: dict[str, Workers[Any]] = {}

    @property
    def system(self) -> Mapping[str, frozenset[str]]:
        """Which system parameters each template's function takes."""
        return {name: function.system for name, function in self._functions.items()}

    async def run(self, call: ToolCall, *, timeout_s: float) -> Mapping[str, Any]:
        """Call the function, or raise `ToolUnknown`, `ToolTimedOut`, `ToolFailed` or its own."""
        try:
            function = self._functions[call.template_id]
        except KeyError:
            raise ToolUnknown(f"template {call.template_id!r} calls no function") from None
        if function.is_async:
            value = await self._await(function, call, timeout_s)
        else:
            value = await self._in_thread(function, call, timeout_s)
        fields = value if isinstance(value, Mapping) else {"result": value}
        return {"operation": call.operation, **storable_data(dict(fields))}

    def close(self) -> None:
        for workers in self._workers.values():
            workers.close()

    async def _await(self, function: Function, call: ToolCall, timeout_s: float) -> Any:
        deadline = asyncio.timeout(timeout_s)
        try:
            async with deadline:
                return await function.call(**call.arguments)
        except TimeoutError:
            if not deadline.expired():
                raise
            raise _timed_out(call, timeout_s) from None

    async def _in_thread(self, function: Function, call: ToolCall, timeout_s: float) -> Any:
        workers = self._workers.setdefault(
            call.template_id, Workers(call.operation, THREADS_PER_TOOL)
        )

        def work() -> tuple[Any, Exception | None]:
            # Carried out as a value: a TimeoutError of the function's is not the deadline's.
            try:
                return function.call(**call.arguments), None
            except Exception as failed:
                return None, failed

        try:
            value, failed = await workers.run(work, timeout_s=timeout_s)
        except TimeoutError:
            raise _timed_out(call, timeout_s) from None
        except WorkersBusy as busy:
            raise ToolFailed(f"{call.operation} is busy: {busy}; try again later") from busy
        if failed is not None:
            raise failed
        return value


def _timed_out(call: ToolCall, timeout_s: float) -> ToolTimedOut:
    return ToolTimedOut(f"{call.operation} did not finish within {timeout_s:g} s")
