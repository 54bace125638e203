"""`check` of a configuration: what is enabled and there is judged, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from server.cli.check import check_configuration
from server.cli.main import command_line
from tests.support.as_specified import AS_SPECIFIED
from tests.support.configuring import NOW, PERCENTAGE, adapter, configure, write_library

pytestmark = pytest.mark.slow

WEATHER: dict[str, Any] = {
    "id": "get_weather",
    "description": "Get current weather for a location",
    "tool_type": "query",
    "nl_examples": ["What's the weather in Paris?", "Show me weather for New York"],
    "method": "GET",
    "endpoint": "/weather",
    "query_params": {"location": "{{ location }}"},
    "parameters": [{"name": "location", "type": "string", "required": True}],
}
NOT_ABSOLUTE = "does not begin with http:// or https://"


def errors(folder: Path, **config: Any) -> list[str]:
    configure(folder, [adapter("sums", folder / "sums", config=config)])
    return [p.what for p in check_configuration(folder / "config.yaml") if p.is_error]


def test_questions_about_templates_that_are_not_loaded_are_not_judged(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums", [PERCENTAGE])
    (library / "more.yaml").write_text(yaml.safe_dump({"templates": [NOW]}))
    asked = [("What is 5% of 80?", "calculate_percentage"), ("What time is it?", "current_time")]
    for extra, expected in (
        ([], []),
        ([("Is it late?", "nowhere")], ["no template is called 'nowhere'"]),
    ):
        questions = [{"ask": ask, "template": template} for ask, template in (*asked, *extra)]
        (library / "questions.yaml").write_text(yaml.safe_dump({"questions": questions}))
        assert errors(tmp_path) == expected


def test_what_an_adapter_that_is_switched_off_names_is_not_judged(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    gone = adapter("gone", tmp_path / "nowhere", enabled=False)
    configure(tmp_path, [adapter("sums", library), gone])
    assert check_configuration(tmp_path / "config.yaml") == []


@pytest.mark.parametrize(
    ("of_domain", "of_adapter", "expected"),
    [
        ("https://api.example/v1", "", []),
        ("", "https://api.example/v1", []),
        (
            "",
            "",
            [
                f"endpoint: '/weather' {NOT_ABSOLUTE}, and there is no base_url; write it under "
                "api_config of the domain, or under config.http of the adapter"
            ],
        ),
        ("https://a.example", "b.example", [f"http.base_url: 'b.example' {NOT_ABSOLUTE}"]),
    ],
)
def test_a_relative_endpoint_takes_the_address_of_domain_or_adapter(
    tmp_path: Path, of_domain: str, of_adapter: str, expected: list[str]
) -> None:
    domain = {"domain_name": "weather", "api_config": {"base_url": of_domain}}
    write_library(tmp_path / "sums", [WEATHER], domain)
    assert errors(tmp_path, http={"base_url": of_adapter}) == expected


def test_the_adapter_as_specified_has_no_problems(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "examples").symlink_to(Path("examples").resolve())
    (tmp_path / "config" / "intent.yaml").write_text(AS_SPECIFIED)
    (tmp_path / "config" / "config.yaml").write_text("import: intent.yaml\n")
    assert check_configuration(tmp_path / "config" / "config.yaml") == []


MISTAKES = """\
# Sums, and how they are asked for.
templates:
  - id: add_numbers
    descripton: "Add numbers"   # a sentence
    nl_exmples:
      - "What is 2 plus 3?"
      # the next one twice
      - "Add 10, 20 and 30"
      - "Add 10, 20 and 30"
    tool_name:   calculator
\ttool_operation: add
    parameters: [{name: values, typ: array}]
    colour: red
"""
MENDED = """\
# Sums, and how they are asked for.
templates:
  - id: add_numbers
    description: "Add numbers"   # a sentence
    nl_examples:
      - "What is 2 plus 3?"
      # the next one twice
      - "Add 10, 20 and 30"
    tool_name:   calculator
    tool_operation: add
    parameters: [{name: values, type: array}]
    colour: red
"""


def test_fix_mends_what_is_certain_and_tells_the_rest(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    for path in library.glob("*.yaml"):
        if path.name != "domain.yaml":
            path.unlink()
    tools, questions = library / "tools.yaml", library / "questions.yaml"
    tools.write_bytes(b"\xef\xbb\xbf" + MISTAKES.encode())
    asked = "- {ask: Add 1 and 2, template: add_numbers}\n"
    other = "- {ask: Add 1 and 2, template: null}\n"
    questions.write_text(f"questions:\n{asked}{asked}{other}")

    def check(*options: str) -> Result:
        app = command_line("check", "schema")
        return CliRunner().invoke(app, ["check", str(library), "--quick", *options])

    assert check().exit_code == 1
    assert tools.read_text("utf-8-sig") == MISTAKES
    done = check("--fix")
    assert tools.read_bytes() == b"\xef\xbb\xbf" + MENDED.encode()
    assert questions.read_text() == f"questions:\n{asked}{other}"
    said = [line for line in done.stderr.splitlines() if line.startswith("fixed: ")]
    assert [line.partition(" @ ")[0] for line in said] == [
        "fixed: tabs that indented lines are now spaces",
        "fixed: 'Add 1 and 2' stood there twice, and stands there once",
        "fixed: 'descripton' is now 'description'",
        "fixed: 'nl_exmples' is now 'nl_examples'",
        "fixed: 'typ' is now 'type'",
        "fixed: 'Add 10, 20 and 30' stood there twice, and stands there once",
    ]
    left = [line.partition(" @ ")[0] for line in done.stdout.splitlines()]
    assert left[0].startswith("unknown key 'colour'; known are")
    assert left[1:] == ["warning: is asked before, on line 2"]
    before = {path: path.stat().st_mtime_ns for path in library.iterdir()}
    assert "fixed" not in check("--fix").stderr
    assert {path: path.stat().st_mtime_ns for path in library.iterdir()} == before


@pytest.mark.parametrize(
    ("keys", "fix"),
    [
        ("descripton: x", {"action": "rename", "old": "descripton", "new": "description"}),
        ("descripton: x, description: y", None),
        ("descripton: x, descriptin: y", None),
        ("colour: red", None),
    ],
)
def test_a_key_is_renamed_where_one_alone_is_meant(
    tmp_path: Path, keys: str, fix: dict[str, str] | None
) -> None:
    (tmp_path / "tools.yaml").write_text(f"- {{id: t, nl_examples: [x], {keys}}}\n")
    (tmp_path / "domain.yaml").write_text("domain_name: d\n")
    done = CliRunner().invoke(
        command_line("check", "schema"), ["check", str(tmp_path), "--json", "--quick"]
    )
    unknown = [p for p in json.loads(done.stdout) if p["kind"] == "unknown-key"]
    assert {json.dumps(p["fix"]) for p in unknown} == {json.dumps(fix)}


@pytest.mark.parametrize("part", ["", "templates.yaml", "domain.yaml"])
def test_a_library_within_a_project_has_the_tools_of_its_project(tmp_path: Path, part: str) -> None:
    project = tmp_path / "shop"
    CliRunner().invoke(command_line("new", "check"), ["new", str(project)])
    line = ["check", str(project / "adapters" / "shop" / part), "--strict"]
    done = CliRunner().invoke(command_line("new", "check"), line)
    assert (done.exit_code, done.stdout) == (0, ""), done.output
    assert "shop: 20 of 20 examples are understood" in done.stderr
