"""Judging arguments: what is quick to accept passes every check."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from server.library.model import Parameter
from server.library.parameter_types import CUSTOM, PARAMETER_TYPES
from server.tools.policy.checks import ArgumentsCheck, Refusal
from tests.tools.policy.chains import template

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from(["EUR", "eur", "2025-03-04", "a@b.org", "007", "7", ""])
    | st.text(max_size=5)
    | st.integers(-3, 12)
    | st.floats()
    | st.decimals()
    | st.booleans()
    | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=2),
    max_leaves=4,
)


@st.composite
def parameters(draw: st.DrawFn, name: str) -> Parameter:
    kind = draw(st.sampled_from([*PARAMETER_TYPES, "colour"]))
    json_type = PARAMETER_TYPES[kind].json_type if kind in PARAMETER_TYPES else None
    more: dict[str, Any] = {
        "required": draw(st.booleans()),
        "default": draw(st.sampled_from([None, None, None, None, 5, "EUR", True])),
        "enum": draw(st.sampled_from([(), (), (), ("EUR", "USD"), (1, 2.5, True), ("7", 7)])),
    }
    if json_type in ("integer", "number"):
        more["ge"], more["le"] = draw(st.none() | st.just(1)), draw(st.none() | st.just(9.5))
    if json_type in ("string", "array"):
        more["min_length"] = draw(st.none() | st.just(1))
        more["max_length"] = draw(st.none() | st.just(3))
    if json_type == "string":
        more["pattern"] = draw(st.none() | st.just("^[0-9a-zA-Z]*$"))
    if json_type == "array":
        more["items"] = draw(st.none() | st.just({"type": "integer", "minimum": 1}))
    return Parameter(name, kind, **more)


RIGHT: Mapping[str, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(["EUR", "007", "7", "2025-03-04", "a@b.org", "x"]),
    "number": st.sampled_from([1, 2.5, 9, Decimal("3.0")]),
    "integer": st.sampled_from([1, 2, 9, 5.0]),
    "boolean": st.booleans(),
    "array": st.lists(st.sampled_from([1, 2, "x"]), max_size=3),
    "object": st.just({"a": 1}),
    "scalar": st.sampled_from(["EUR", 7, 2.5]),
}


@st.composite
def calls(draw: st.DrawFn) -> tuple[tuple[Parameter, ...], dict[str, Any]]:
    """Parameters, and arguments of which most are right."""
    names = draw(st.lists(st.sampled_from(["a", "b", "c"]), unique=True, max_size=2))
    declared = tuple(draw(parameters(name)) for name in names)
    arguments: dict[str, Any] = {}
    for parameter in declared:
        descriptor = parameter.descriptor
        right = RIGHT["scalar" if descriptor is CUSTOM else descriptor.json_type]
        if descriptor.examples:
            right = st.sampled_from(descriptor.examples)
        value = draw(st.just("left out") | right | right | right | VALUES)
        if value != "left out":
            arguments[parameter.name] = value
    if draw(st.integers(0, 9)) == 0:
        arguments["d"] = 1
    return declared, arguments


@given(calls(), st.booleans())
def test_arguments_pass_when_each_value_passes_every_check(
    call: tuple[tuple[Parameter, ...], dict[str, Any]], colours_are_open: bool
) -> None:
    parameters, arguments = call
    judged = template("judged", parameters)
    open_types = frozenset({"colour"} if colours_are_open else ())
    defaults = {p.name: p.default for p in parameters if p.default is not None}
    expected = defaults | {name: value for name, value in arguments.items() if value is not None}
    check = ArgumentsCheck(judged, open_types)
    declared = {p.name for p in parameters}
    good = all(
        name in declared and check.problem(name, value) is None for name, value in expected.items()
    ) and all(p.name in expected for p in parameters if p.is_needed)
    verdict = check(arguments)
    assert isinstance(verdict, Refusal) != good
    if good:
        assert verdict == expected


def test_every_fault_is_named_and_more_than_three_are_counted() -> None:
    names = ("a", "b", "c")
    check = ArgumentsCheck(
        template("sum", tuple(Parameter(name, "number", le=5) for name in names)), frozenset()
    )
    assert check({"a": 9, "b": "x", "d": 1, "e": 2}) == Refusal(
        "arguments_invalid",
        "a: 9 is above 5; b: 'x' has to be a number; c is missing; and 2 more",
    )


def test_a_quick_yes_needs_no_exact_type() -> None:
    check = ArgumentsCheck(
        template("pay", (Parameter("amount", "number", ge=1, le=1000),)), frozenset()
    )
    assert check({"amount": Decimal("12.50")}) == {"amount": Decimal("12.50")}
    assert check({"amount": True}) == Refusal(
        "arguments_invalid", "amount: true has to be a number"
    )
