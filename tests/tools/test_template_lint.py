"""The lint of templates against tools: what each finding says, and of which line."""

from typing import Literal

from server.errors import Location, Problem
from server.library.model import BuiltinExecution, Domain, Library, Parameter, Template
from server.tools.builtin.calculator import Calculator
from server.tools.registry import ToolRegistry
from server.tools.template_lint import template_problems
from tests.tools.samples import Greeter

HERE = Location("tools.yaml", 7)
THERE = Location("tools.yaml", 12)
REGISTRY = ToolRegistry([Calculator(), Greeter()])


def problems(tool: str, operation: str, *parameters: Parameter) -> list[Problem]:
    template = Template(
        id="t",
        description="",
        kind="function",
        nl_examples=(),
        parameters=parameters,
        execution=BuiltinExecution(tool, operation),
        where=HERE,
    )
    return template_problems(Library(Domain("d"), {"t": template}), REGISTRY)


def about_t(
    what: str, where: Location, kind: str, severity: Literal["error", "warning"] = "error"
) -> Problem:
    return Problem(what, where, kind, severity, template="t")


def number(name: str, *, required: bool = True, default: object = None) -> Parameter:
    return Parameter(name, "number", required=required, default=default, where=THERE)


def test_a_template_that_fits_has_no_problems() -> None:
    assert problems("calculator", "percentage", number("value"), number("percentage")) == []
    assert problems("calculator", "percentage", number("value"), number("total")) == []
    assert problems("calculator", "round", number("value")) == []


def test_an_unknown_tool_is_named_with_the_nearest() -> None:
    assert problems("calculater", "add") == [
        about_t(
            "template 't': tool 'calculater' is not one of calculator, greeter; "
            "did you mean 'calculator'?",
            HERE,
            "unknown-tool",
        )
    ]


def test_an_unknown_operation_is_named_with_the_nearest() -> None:
    assert problems("calculator", "devide") == [
        about_t(
            "template 't': calculator operation 'devide' is not one of percentage, add, subtract, "
            "multiply, divide, average, round, evaluate; did you mean 'divide'?",
            HERE,
            "unknown-operation",
        )
    ]


def test_a_parameter_that_the_tool_does_not_take_is_found_where_it_stands() -> None:
    extra = problems("calculator", "subtract", number("a"), number("b"), number("values"))
    assert extra == [
        about_t(
            "template 't': calculator subtract parameter 'values' is not one of a, b",
            THERE,
            "unknown-tool-parameter",
        )
    ]
    assert problems("greeter", "wave", number("speed")) == [
        about_t(
            "template 't': greeter wave takes no parameter 'speed'", THERE, "unknown-tool-parameter"
        )
    ]


def test_a_parameter_that_nothing_supplies_is_found() -> None:
    assert problems("calculator", "subtract", number("a")) == [
        about_t(
            "template 't': calculator subtract needs 'b', and no parameter of the template "
            "supplies it",
            HERE,
            "missing-tool-parameter",
        )
    ]
    assert problems("calculator", "percentage", number("value")) == [
        about_t(
            "template 't': calculator percentage needs 'percentage' or 'total', and no parameter "
            "of the template supplies it",
            HERE,
            "missing-tool-parameter",
        )
    ]


def test_a_parameter_that_may_be_absent_is_a_warning() -> None:
    optional = number("b", required=False)
    assert problems("calculator", "subtract", number("a"), optional) == [
        about_t(
            "template 't': parameter 'b' is optional and has no default, but calculator subtract "
            "needs it",
            THERE,
            "optional-tool-parameter",
            "warning",
        )
    ]
    assert (
        problems("calculator", "subtract", number("a"), number("b", required=False, default=1))
        == []
    )


def test_a_template_that_always_says_two_things_at_once_is_found() -> None:
    both = (number("value"), number("percentage"), number("total"))
    assert problems("calculator", "percentage", *both) == [
        about_t(
            "template 't': calculator percentage takes 'percentage' or 'total', and the template "
            "always gives more than one",
            HERE,
            "conflicting-tool-parameters",
        )
    ]
