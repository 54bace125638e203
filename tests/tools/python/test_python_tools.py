"""Functions of the operator's own: found, checked, called with a deadline."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from server.core.tools import ToolResult
from server.library.model import Domain, Library, Parameter, PythonExecution, Template
from server.tools.executor import ToolExecutor
from server.tools.python import PythonCalls, find_functions
from server.tools.registry import ToolRegistry

MODULE = "tests.tools.python.sample_tools"
NAME = Parameter("name", "string")
NUMBER = Parameter("number", "integer")


def library(function: str, *parameters: Parameter, module: str = MODULE) -> Library:
    execution = PythonExecution(f"{module}:{function}")
    return Library(Domain("d"), {"t": Template("t", "", "function", ("x",), parameters, execution)})


def problems(of: Library, *modules: str) -> list[str]:
    _, found = find_functions(of, modules or (MODULE,), ())
    return [f"{problem.kind}: {problem.what}" for problem in found]


def run(of: Library, arguments: dict[str, Any], timeout_s: float = 5) -> ToolResult:
    async def once() -> ToolResult:
        functions, wrong = find_functions(of, (MODULE,), ())
        assert wrong == ()
        executor = ToolExecutor(ToolRegistry([]), python=PythonCalls(functions))
        call = of.templates["t"].call(arguments)
        try:
            return await executor.execute(call, timeout_s=timeout_s)
        finally:
            await executor.aclose()

    return asyncio.run(once())


def test_a_function_gives_its_fields_each_once() -> None:
    result = run(library("greet", NAME), {"name": "Bo", "user_id": "ana"})
    assert result.result == {
        "greeting": "ana greets Bo",
        "operation": "greet",
    }


def test_a_function_is_given_what_it_takes_of_who_asks() -> None:
    functions, _ = find_functions(library("whoami"), (MODULE,), ())
    assert PythonCalls(functions).system == {"t": {"caller_user_id", "caller_role"}}


def test_an_async_function_is_awaited() -> None:
    assert run(library("count", NUMBER), {"number": 1}).result == {
        "result": 2,
        "operation": "count",
    }


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("refuse", "Bo is not wanted"),
        ("break_down", "break_down failed unexpectedly; the server's log says why"),
    ],
)
def test_failures_are_values(function: str, message: str) -> None:
    result = run(library(function, NAME), {"name": "Bo"})
    assert (result.status, result.error_message) == ("error", message)


@pytest.mark.parametrize("function", ["sleep", "doze"])
def test_a_function_has_a_deadline(function: str) -> None:
    result = run(library(function, NUMBER), {"number": 300}, timeout_s=0.02)
    assert (result.status, result.error_message) == (
        "timeout", f"{function} did not finish within 0.02 s"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("module", "modules", "allowed"),
    [
        (MODULE, (MODULE,), True),
        (MODULE, ("tests.tools.python",), True),
        (MODULE, ("tests",), True),
        (MODULE, ("tests.tools.pyth",), False),
        (MODULE, (f"{MODULE}.more",), False),
        ("os", (MODULE,), False),
        ("subprocess", (), False),
    ],
)
def test_only_listed_modules_can_be_named(
    module: str, modules: tuple[str, ...], allowed: bool
) -> None:
    _, found = find_functions(library("count", NUMBER, module=module), modules, ())
    assert ([problem.kind for problem in found] == []) == allowed


def test_a_module_that_is_not_allowed_is_not_even_imported(tmp_path: Path) -> None:
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')")
    _, found = find_functions(library("f", module="trap"), ("other",), (tmp_path,))
    assert [problem.kind for problem in found] == ["python-not-allowed"]


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (library("nothing"), f"python-not-found: template 't': module '{MODULE}' has no function"
         " 'nothing'"),
        (library("NOT_A_FUNCTION"), f"python-not-found: template 't': module '{MODULE}' has no"
         " function 'NOT_A_FUNCTION'"),
        (library("count"), "python-parameters: template 't': count needs 'number', which may be"
         " missing"),
        (library("count", NUMBER, NAME), "python-parameters: template 't': count takes no"
         " parameter 'name'"),
        (library("whoami", Parameter("caller_role", "string")), "python-parameters: template 't':"
         " parameter 'caller_role' is given by the server, and never by a question"),
        (library("greet", NAME, Parameter("user_id", "string")), "python-parameters: template 't':"
         " parameter 'user_id' is given by the server, and never by a question"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_when_the_library_is_read(of: Library, said: str) -> None:
    assert problems(of) == [said]


def test_functions_are_found_in_the_configured_folders(tmp_path: Path) -> None:
    (tmp_path / "orbit_sample_shop.py").write_text("def f():\n    return 1\n")
    shop = library("f", module="orbit_sample_shop")
    functions, found = find_functions(shop, ("orbit_sample_shop",), (tmp_path,))
    assert (list(functions), found) == (["t"], ())
