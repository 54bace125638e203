"""Both notations of a template end up as the same template."""

from dataclasses import replace
from pathlib import Path

import pytest

from server.errors import Location
from server.library.model import BuiltinExecution, CallPolicy, Parameter, PythonExecution, Template
from tests.library.samples import DOMAIN, TEMPLATE, errors, load, template_of

FLAT = r"""
templates:
  - id: "percentage"
    description: "Part of a value"
    tool_type: "function"
    nl_examples:
      - "What is 15% of 200?"
      - "  20 percent of 500  "
    tool_name: "calculator"
    tool_operation: "percentage"
    parameters:
      - name: "value"
        type: "number"
        extraction_patterns: ["of\\s+(\\d+)"]
    response_template: "{{ value }} gives {{ result }}"
    tags: [math]
    counter_examples: "What percentage is a good tip?"
    unused_values: ask
"""

NESTED = r"""
- id: percentage
  description: Part of a value
  nl_examples: ["What is 15% of 200?", "20 percent of 500"]
  function_schema:
    name: percentage
    description: Not needed beside the template's own
    parameters:
      - name: value
        type: number
        extraction_patterns: 'of\s+(\d+)'
  execution:
    type: builtin
    builtin_function: calculator
    operation: percentage
  response_template: "{{ value }} gives {{ result }}"
  tags: [math]
  counter_examples: ["What percentage is a good tip?"]
  unused_values: ask
"""

MIXED = NESTED.replace("type: builtin\n    builtin_function:", "tool:").replace(
    "  function_schema:\n    name: percentage\n", "  version: 1.0.0\n  function_schema:\n"
)

PERCENTAGE = Template(
    id="percentage",
    description="Part of a value",
    kind="function",
    nl_examples=("What is 15% of 200?", "20 percent of 500"),
    parameters=(Parameter("value", "number", extraction_patterns=(r"of\s+(\d+)",)),),
    execution=BuiltinExecution("calculator", "percentage"),
    function_name="percentage",
    response_template={"en": "{{ value }} gives {{ result }}"},
    tags=("math",),
    counter_examples=("What percentage is a good tip?",),
    unused_values="ask",
)


@pytest.mark.parametrize("text", [FLAT, NESTED, MIXED], ids=["flat", "nested", "mixed"])
def test_both_notations_mean_the_same(tmp_path: Path, text: str) -> None:
    assert template_of(tmp_path, text) == PERCENTAGE


def test_a_template_and_its_parameters_know_where_they_are_written(tmp_path: Path) -> None:
    template = template_of(tmp_path, FLAT)
    file = str(tmp_path / "tools.yaml")
    assert template.where == Location(file, 3)
    assert [parameter.where for parameter in template.parameters] == [Location(file, 12)]


def test_examples_and_a_tool_are_all_that_a_template_needs(tmp_path: Path) -> None:
    assert template_of(tmp_path, TEMPLATE) == Template(
        id="add_numbers",
        description="",
        kind="function",
        nl_examples=("What is 2 plus 3?",),
        parameters=(),
        execution=BuiltinExecution("calculator", "add"),
        function_name="add_numbers",
    )


def test_the_description_of_the_function_serves_where_the_template_has_none(
    tmp_path: Path,
) -> None:
    text = NESTED.replace("  description: Part of a value\n", "")
    expected = replace(PERCENTAGE, description="Not needed beside the template's own")
    assert template_of(tmp_path, text) == expected


def test_a_write_says_so(tmp_path: Path) -> None:
    assert template_of(tmp_path, TEMPLATE + "    effect: write\n").effect == "write"


def test_a_format_template_of_the_domain_can_be_named(tmp_path: Path) -> None:
    domain = DOMAIN + "response_config: {format_templates: {total: 'It is {{ result }}'}}\n"
    template = template_of(tmp_path, TEMPLATE + "    response_format: total\n", domain)
    assert template.response_format == "total"


def test_keys_for_other_kinds_of_adapter_are_named_once_a_file(tmp_path: Path) -> None:
    text = (
        TEMPLATE
        + "    semantic_tags: {action: add}\n    parameters: [{name: a, location: query}]\n"
    )
    text += text.replace("templates:\n", "").replace("add_numbers", "b").replace("2 plus 3", "b")
    loaded = load(tmp_path, DOMAIN, text)
    assert loaded.library is not None
    assert [(p.kind, p.what, p.where.line) for p in loaded.problems] == [
        (
            "unused-key",
            "'semantic_tags' of a template is not used by this kind of adapter (written 2 times)",
            7,
        ),
        (
            "unused-key",
            "'location' of a parameter is not used by this kind of adapter (written 2 times)",
            8,
        ),
    ]


def test_result_fields_in_a_response_are_left_to_the_tool(tmp_path: Path) -> None:
    text = TEMPLATE + "    response_template: '{{ result }} {{ input.a }} {{ days_between }}'\n"
    assert load(tmp_path, DOMAIN, text).problems == ()


def test_a_python_template_names_its_function(tmp_path: Path) -> None:
    text = TEMPLATE + (
        "  - id: own\n    nl_examples: [Do it]\n"
        "    execution: {type: python, function: 'shop.orders:cancel'}\n"
    )
    loaded = load(tmp_path, DOMAIN, text)
    assert loaded.problems == ()
    assert loaded.library is not None
    execution = loaded.library.templates["own"].execution
    assert execution == PythonExecution("shop.orders:cancel")
    assert (execution.tool, execution.operation) == ("python", "cancel")


def test_a_template_says_who_may_run_it_how_often_and_what_is_not_shown(tmp_path: Path) -> None:
    text = TEMPLATE + (
        "    requires_auth: true\n    allowed_roles: [premium, admin]\n    rate_limit: 20\n"
        "    confirm: true\n    log_invocations: false\n    sensitive_params: a\n"
        "    parameters: [{name: a, type: number}]\n"
    )
    loaded = load(tmp_path, DOMAIN, text)
    assert loaded.library is not None
    assert loaded.library.templates["add_numbers"].policy == CallPolicy(
        requires_auth=True,
        allowed_roles=("premium", "admin"),
        rate_limit=("20/hour",),
        sensitive_params=("a",),
        confirm=True,
        log_invocations=False,
    )


def test_a_request_without_described_parameters_takes_them_from_its_placeholders(
    tmp_path: Path,
) -> None:
    text = (
        "templates:\n  - id: weather\n    nl_examples: [Weather in Paris?]\n"
        "    endpoint: 'https://e.org/w'\n    query_params:\n      q: '{{ location }}'\n"
    )
    loaded = load(tmp_path, DOMAIN, TEMPLATE + text.partition("\n")[2])
    assert errors(loaded) == []
    assert ("implied-parameter", 11) in [(p.kind, p.where.line) for p in loaded.problems]


@pytest.mark.parametrize(
    ("more", "kind", "line"),
    [
        ("    response_template: '{{ result | nope }}'\n", "bad-template", 7),
        ("    response_template: '{% include \"x\" %}'\n", "bad-template", 7),
        ("    response_template: '{{ a is nope }}'\n", "bad-template", 7),
        ("    response_template: {en: ok, frr: ok}\n", "unknown-language", 7),
        ("    response_template: {en: '{{ a is nope }}'}\n", "bad-template", 7),
        ("    response_template: {}\n    response_format: nope\n", "format-template-missing", 8),
        ("    response_format: nope\n", "format-template-missing", 7),
        ("    method: GET\n    execution: {type: builtin}\n", "unused-key", 7),
        ("    execution: {operation: subtract}\n", "duplicate-key", 7),
        ("    tool_type: agent\n", "unknown-value", 7),
        ("  - id: a b\n    nl_examples: [x]\n", "bad-name", 7),
        ("  - id: b\n    nl_examples: [x]\n    tool_name: t\n", "missing-key", 7),
        ("  - just text\n", "wrong-type", 7),
    ],
)
def test_one_mistake_is_one_problem_in_its_line(
    tmp_path: Path, more: str, kind: str, line: int
) -> None:
    loaded = load(tmp_path, DOMAIN, TEMPLATE + more)
    assert [(p.kind, p.where.line) for p in loaded.problems] == [(kind, line)]
