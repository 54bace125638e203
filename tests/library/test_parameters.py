"""Parameters as extraction needs them: types, defaults, and every word for a value."""

from pathlib import Path
from typing import Any

import pytest

from server.core.tools import ToolParameter
from server.library.model import Parameter
from server.library.parameter_types import PARAMETER_TYPES
from tests.library.samples import DOMAIN, TEMPLATE, errors, load, parameter_of

TRAVEL = """
domain_name: travel
parameter_patterns:
  order_number: {patterns: 'order (.+)'}
entities:
  city:
    values:
      New York: [NYC]
      Paris: []
      Rome: [the eternal city]
vocabulary:
  value_synonyms:
    days: [daily, d]
    weeks: [weekly, d]
"""


def test_everything_that_can_be_said_of_a_parameter(tmp_path: Path) -> None:
    text = (
        "{name: a, type: number, description: First, required: false, default: 5, "
        "enum: [5, 10], example: 7, extraction_patterns: ['(x)', '(y)'], ge: 1, le: 10, "
        "format: double}"
    )
    assert parameter_of(tmp_path, text) == Parameter(
        name="a",
        type="number",
        description="First",
        required=False,
        default=5,
        enum=(5, 10),
        choices={"5": 5, "10": 10},
        example=7,
        extraction_patterns=("(x)", "(y)"),
        ge=1,
        le=10,
        format="double",
    )


def test_the_same_parameter_as_a_model_is_told(tmp_path: Path) -> None:
    text = "{name: tags, type: list, items: {type: string}, min_length: 1, max_length: 5}"
    told = parameter_of(tmp_path, text).to_tool_parameter()
    assert told == ToolParameter(
        name="tags", type="array", items={"type": "string"}, min_length=1, max_length=5
    )
    assert told.to_json_schema() == {
        "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 5
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "required"),
    [
        ("{name: a}", True),
        ("{name: a, default: x}", False),
        ("{name: a, default: null}", True),
        ("{name: a, required: false}", False),
        ("{name: a, required: true, default: x}", True),
    ],
)
def test_what_has_no_default_is_required_unless_it_says_otherwise(
    tmp_path: Path, text: str, required: bool
) -> None:
    assert parameter_of(tmp_path, text).required is required


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("{name: a, type: number, enum: ['1', '2.5', 3]}", ((1, 2.5, 3), None, None)),
        ("{name: a, type: integer, enum: ['1', ' -2 '], default: '1'}", ((1, -2), 1, None)),
        ("{name: a, type: percentage, default: '5', example: '2.5'}", ((), 5, 2.5)),
        ("{name: a, type: boolean, enum: ['true', 'False']}", ((True, False), None, None)),
        ("{name: a, type: bool, default: 'true', example: 'no'}", ((), True, "no")),
        ("{name: a, enum: ['1', 'true'], default: '1'}", (("1", "true"), "1", None)),
    ],
)
def test_numbers_and_truths_may_be_written_as_text(
    tmp_path: Path, written: str, read: tuple[Any, ...]
) -> None:
    found = parameter_of(tmp_path, written)
    assert (found.enum, found.default, found.example) == read
    assert [type(value) for value in found.enum] == [type(value) for value in read[0]]


def test_a_number_is_found_by_the_text_it_was_written_as(tmp_path: Path) -> None:
    text = "{name: a, type: number, enum: ['2.50', '3'], synonyms: {'2.50': [two and a half]}}"
    assert parameter_of(tmp_path, text).choices == {
        "2.5": 2.5,
        "2.50": 2.5,
        "3": 3,
        "two and a half": 2.5,
    }


@pytest.mark.parametrize("value", ["one", "1,5", "5%", ".inf", "1e999", ""])
def test_text_that_is_no_number_is_a_problem_where_it_stands(tmp_path: Path, value: str) -> None:
    parameter = f"      - name: a\n        type: number\n        default: '{value}'\n"
    loaded = load(tmp_path, DOMAIN, f"{TEMPLATE}    parameters:\n{parameter}")
    (problem,) = loaded.problems
    assert (problem.kind, problem.where.line) == ("bad-default", 10)
    assert problem.what == f"parameter 'a': default {value!r} is not a number"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *((name, name) for name in PARAMETER_TYPES),
        ("int", "integer"),
        ("Float", "number"),
        ("decimal", "number"),
        ("bool", "boolean"),
        ("list", "array"),
        ("str", "string"),
        ("dict", "object"),
        ("percent", "percentage"),
        ("order_number", "order_number"),
        ("city", "city"),
    ],
)
def test_types_go_by_several_names(tmp_path: Path, written: str, meant: str) -> None:
    assert parameter_of(tmp_path, f"{{name: a, type: {written}}}", TRAVEL).type == meant


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("{name: a, type: int, minimum: 1, maximum: 9}", (1, 9)),
        ("{name: a, type: int, min: 1, max: 9}", (1, 9)),
        ("{name: a, type: int, ge: 1, le: 9}", (1, 9)),
    ],
)
def test_bounds_go_by_several_names(tmp_path: Path, text: str, bounds: tuple[float, float]) -> None:
    parameter = parameter_of(tmp_path, text)
    assert (parameter.ge, parameter.le) == bounds


def test_allowed_values_is_another_spelling_of_enum(tmp_path: Path) -> None:
    assert parameter_of(tmp_path, "{name: a, allowed_values: [x, y]}").enum == ("x", "y")


def test_choices_hold_values_their_synonyms_and_the_vocabulary(tmp_path: Path) -> None:
    text = "{name: unit, enum: [days, weeks, Hours], synonyms: {weeks: [wk, WKS], Hours: h}}"
    # `d` is a word of the vocabulary for two of the values, and so for neither.
    assert parameter_of(tmp_path, text, TRAVEL).choices == {
        "days": "days",
        "daily": "days",
        "weeks": "weeks",
        "wk": "weeks",
        "wks": "weeks",
        "weekly": "weeks",
        "hours": "Hours",
        "h": "Hours",
    }


def test_synonyms_of_numbers_are_written_by_their_text(tmp_path: Path) -> None:
    text = "{name: n, type: integer, enum: [1, 2], synonyms: {1: one, '2': [two]}}"
    assert parameter_of(tmp_path, text).choices == {"1": 1, "one": 1, "2": 2, "two": 2}


def test_an_entity_with_values_is_an_enum(tmp_path: Path) -> None:
    parameter = parameter_of(tmp_path, "{name: to, type: city}", TRAVEL)
    assert parameter.enum == ("New York", "Paris", "Rome")
    assert parameter.choices == {
        "new york": "New York",
        "nyc": "New York",
        "paris": "Paris",
        "rome": "Rome",
        "the eternal city": "Rome",
    }


def test_an_enum_narrows_an_entity(tmp_path: Path) -> None:
    parameter = parameter_of(tmp_path, "{name: to, type: city, enum: [New York]}", TRAVEL)
    assert parameter.choices == {"new york": "New York", "nyc": "New York"}


@pytest.mark.parametrize(
    ("type_name", "value"),
    [
        ("string", "x"), ("string", ""), ("number", 5), ("number", 0.5), ("integer", 5),
        ("integer", 5.0), ("boolean", "false"), ("array", "[]"), ("object", "{}"),
        ("date", "2025-01-31"), ("percentage", 20), ("order_number", 7), ("city", "Paris"),
    ],
)  # fmt: skip
def test_defaults_that_belong_to_their_type(tmp_path: Path, type_name: str, value: Any) -> None:
    written = f"'{value}'" if value == "" else value
    parameter_of(tmp_path, f"{{name: a, type: {type_name}, default: {written}}}", TRAVEL)


@pytest.mark.parametrize(
    ("parameter", "kind"),
    [
        ("{name: a, type: number, default: 'five'}", "bad-default"),
        ("{name: a, type: number, default: true}", "bad-default"),
        ("{name: a, type: number, default: .nan}", "bad-default"),
        ("{name: a, type: integer, default: 0.5}", "bad-default"),
        ("{name: a, type: string, default: 5}", "bad-default"),
        ("{name: a, type: array, default: x}", "bad-default"),
        ("{name: a, type: date, default: 20250131}", "bad-default"),
        ("{name: a, type: order_number, default: [1]}", "bad-default"),
        ("{name: a, type: city, default: Berlin}", "bad-default"),
        ("{name: a, type: int, min: 5, default: 4}", "bad-default"),
        ("{name: a, min_length: 2, default: x}", "bad-default"),
        ("{name: a, max_length: 2, default: xxx}", "bad-default"),
        ("{name: a, pattern: '^[a-z]$', default: ab}", "bad-default"),
        ("{name: a, type: boolean, enum: ['yes']}", "bad-enum"),
        ("{name: a, min: 1, type: array}", "bad-bounds"),
        ("{name: a, items: {}}", "bad-bounds"),
        ("{name: a, type: number, ge: .inf}", "out-of-range"),
        ("{name: a, type: int, min: 1, ge: 1}", "duplicate-key"),
        ("{name: a, enum: [x], allowed_values: [x]}", "duplicate-key"),
        ("{name: a, synonyms: {x: y}}", "unknown-value"),
        ("{name: a, type: nmber}", "unknown-parameter-type"),
        ("{name: a, type: nmber, default: 5}", "unknown-parameter-type"),
        ("{name: a b}", "bad-name"),
        ("{nam: a, name: b}", "unknown-key"),
    ],
)
def test_one_mistake_is_one_problem_in_its_line(tmp_path: Path, parameter: str, kind: str) -> None:
    loaded = load(tmp_path, TRAVEL, f"{TEMPLATE}    parameters:\n      - {parameter}\n")
    assert loaded.library is None
    assert [(p.kind, p.where.line) for p in errors(loaded)] == [(kind, 8)]


def test_a_default_from_the_environment_is_not_shown(tmp_path: Path) -> None:
    text = TEMPLATE + "    parameters:\n      - {name: a, type: int, default: '${KEY}'}\n"
    (problem,) = load(tmp_path, DOMAIN, text, KEY="hunter2").problems
    assert (
        problem.what == "parameter 'a': default a value from the environment is not a whole number"
    )
