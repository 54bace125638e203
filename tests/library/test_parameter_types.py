"""Parameter types: what each says of itself, and one that is added as the documentation does."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from server.core.redaction import Redactor
from server.extraction.extractor import Extractor
from server.library.model import Domain, Template
from server.library.parameter_types import CUSTOM, PARAMETER_TYPES, ParameterType, canonical
from server.tools.policy.checks import ArgumentsCheck, Refusal
from tests.library.samples import DOMAIN, load, template_of

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
NOW = datetime(2025, 3, 4, tzinfo=UTC)


@pytest.fixture
def ping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Template:
    """The template of the documentation, with its type in the table."""
    section = PAGE.read_text().partition("## A parameter type\n")[2].partition("\n## ")[0]
    (definition, row, yaml) = re.findall(r"```(?:python|yaml)\n(.*?)```", section, re.DOTALL)
    names: dict[str, Any] = {}
    exec(definition, names)
    exec(row, names)
    for added in names["row"]:
        monkeypatch.setitem(PARAMETER_TYPES, added.name, added)
    return template_of(tmp_path, yaml)


def arguments_of(text: str, template: Template) -> dict[str, Any]:
    return dict(Extractor(Domain(name="d")).extract(text, template, now=NOW).arguments)


def test_a_new_type_is_read_from_a_question(ping: Template) -> None:
    assert arguments_of("ping 10.0.0.7 please", ping) == {"host": "10.0.0.7"}
    both = arguments_of("ping host 10.0.0.7 via 10.0.0.1", ping)
    assert both == {"host": "10.0.0.7", "via": "10.0.0.1"}
    assert arguments_of("ping 10.0.0.300", ping) == {}


def test_a_new_type_uses_the_whole_value_and_says_where_it_stood(ping: Template) -> None:
    found = Extractor(Domain(name="d")).extract("ping 10.0.0.7", ping, now=NOW)
    assert found.grounding.unused == ()
    source = found.sources["host"]
    assert (source.kind, source.span, source.text) == ("recognizer", (5, 13), "10.0.0.7")


def test_a_new_type_is_judged_by_policy(ping: Template) -> None:
    judge = ArgumentsCheck(ping, frozenset(), Redactor(()))
    assert judge({"host": "10.0.0.7"}) == {"host": "10.0.0.7"}
    for wrong in ({"host": "localhost"}, {"host": "10.0.0.7", "via": "localhost"}):
        refused = judge(wrong)
        assert isinstance(refused, Refusal)
        assert refused.message.endswith("'localhost' has to be an IPv4 address as 192.0.2.1")


def test_a_new_type_is_shown_to_models(ping: Template) -> None:
    schema = ping.to_tool_definition().to_openai_schema()["function"]["parameters"]
    address = {"type": "string", "format": "ipv4"}
    assert schema["properties"] == {"host": address, "via": address}


def test_a_default_that_is_none_of_a_new_type_is_a_problem(ping: Template, tmp_path: Path) -> None:
    assert [parameter.type for parameter in ping.parameters] == ["ipv4", "string"]
    text = "- {id: p, nl_examples: [ping], tool_name: n, tool_operation: p, parameters: [%s]}"
    loaded = load(tmp_path, DOMAIN, text % "{name: host, type: ipv4, default: home}")
    (problem,) = loaded.problems
    wrong = "default 'home' is not an IPv4 address as 192.0.2.1"
    assert problem.what == f"parameter 'host': {wrong}"


@pytest.mark.parametrize("each", PARAMETER_TYPES.values(), ids=PARAMETER_TYPES.keys())
def test_every_type_reads_its_own_examples(each: ParameterType) -> None:
    for example in each.examples:
        assert each.belongs(each.read(example))
    for name in (each.name, each.name.upper(), *each.aliases):
        assert canonical(name) == each.name


@pytest.mark.parametrize(
    ("name", "written", "value"),
    [
        ("integer", "7", 7),
        ("integer", 7.0, 7),
        ("integer", "7.5", "7.5"),
        ("number", " 0x1F ", 31),
        ("number", "", ""),
        ("boolean", "True", True),
        ("array", "[1, 2]", [1, 2]),
        ("array", '{"a": 1}', '{"a": 1}'),
        ("object", '{"a": 1}', {"a": 1}),
        ("object", "[" * 10_000, "[" * 10_000),
        ("string", 7, 7),
        ("date", "2025-03-04", "2025-03-04"),
    ],
)
def test_a_text_that_writes_a_value_is_read(name: str, written: Any, value: Any) -> None:
    assert PARAMETER_TYPES[name].normalize(written) == value


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("integer", 1.5, "a whole number"),
        ("integer", True, "a whole number"),
        ("number", float("nan"), "a finite number"),
        ("date", "soon", "a date as 2025-03-04"),
        ("date", 5, "a date as 2025-03-04"),
        ("email", "a b@c", "an e-mail address as ada@example.org"),
        ("url", "http://[", "an address as https://example.org"),
        ("array", {}, "a list"),
        ("string", "", None),
    ],
)
def test_what_is_expected_instead_is_said(name: str, value: Any, expected: str | None) -> None:
    assert PARAMETER_TYPES[name].expected(value) == expected


def test_types_of_a_domain_are_one_value() -> None:
    assert CUSTOM.expected("red") is CUSTOM.expected(7) is None
    assert CUSTOM.expected(["red"]) == "one value"
