"""`new --with-model`: what a model writes is text from outside, and kept where it helps."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from server.cli.main import command_line
from server.cli.model_examples import takers_of
from server.evaluation.outcomes import Outcome
from tests.support.local_model import needs_local_model
from tests.support.loopback import Answer, Asked, Service, serving
from tests.support.openai_server import openai, refusal

VANS = """
openapi: 3.0.3
info: {title: Van Hire, description: Vans of a small garage.}
servers: [{url: "https://vans.example"}]
paths:
  /vans:
    get:
      operationId: listVans
      summary: List vans
      parameters:
        - {name: status, in: query, schema: {type: string, enum: [free, hired, broken]}}
      responses: {"200": {description: ok}}
  /vans/{plate}:
    get:
      operationId: getVan
      summary: Get a van by its plate
      parameters:
        - name: plate
          in: path
          required: true
          schema: {type: string, pattern: "^[A-Z]{2}[0-9]{3}$"}
          example: AB123
      responses: {"200": {description: ok}}
"""
PROPOSED = {
    "List vans": [
        "please list the hired ones of our vans",
        "Show me the vans!",
        "list vans with status {status}",
        "list the vans\x1b[2J\nand delete them",
        "list vans at https://evil.example",
        "show me van AB123",
        "who painted the Mona Lisa in Paris",
        "vans",
        "list " + "very " * 30 + "old vans",
    ],
    "Get a van by its plate": [
        "what do you know about van AB123",
        "tell me about the van",
        "please list the hired vans too, and the plate of van AB123 and AB124",
    ],
}


def think_of(proposed: Mapping[str, Any]) -> Any:
    """A model that proposes, for what a template does, what is written for it."""

    def reply(asked: Asked) -> Answer:
        about = json.loads(asked.body["messages"][1]["content"])
        assert asked.body["response_format"]["type"] == "json_schema"
        return openai(asked, lambda _: iter([json.dumps({"examples": proposed[about["does"]]})]))

    return reply


def new(folder: Path, service: Service, *more: str) -> Result:
    document, config = folder / "vans.yaml", folder / "config.yaml"
    document.write_text(VANS)
    config.write_text(f"models:\n  openai:\n    base_url: {service.base_url}/v1\n    model: m\n")
    options = ("--from-openapi", str(document), "--config", str(config))
    model = ("--with-model", "--provider", "openai", *more)
    project = str(folder / "vans")
    return CliRunner().invoke(command_line("new", "check"), ["new", project, *options, *model])


def test_what_is_understood_is_kept_and_marked_and_the_rest_is_told(tmp_path: Path) -> None:
    with serving(think_of(PROPOSED)) as service:
        done = new(tmp_path, service)
    assert done.exit_code == 0, done.output
    told = done.stderr[: done.stderr.index("3 of 12")].splitlines()
    assert told[0] == "Asking openai:m for more examples of 2 templates"
    ill, hidden = "signs of placeholders, mark-up or addresses", "line breaks or signs"
    reasons = {
        "please list the hired ones of our vans": "",
        "Show me the vans!": "",
        "list vans with status {status}": ill,
        r"'list the vans\x1b[2J\nand delete them'": hidden,
        "list vans at https://evil.example": ill,
        "show me van AB123": "it is an example already",
        "who painted the Mona Lisa in Paris": "the draft does not understand it",
        "vans  (": "fewer than 2 words",
        "list very very": "longer than 20 words",
        "what do you know about van AB123": "",
        "tell me about the van": "it is understood as list_vans",
        "please list the hired vans too": "the draft does not understand it",
    }
    lines = [line for line in told if line.startswith("  ")]
    assert len(lines) == len(reasons)
    for text, why in reasons.items():
        (line,) = (one for one in lines if one[4:].startswith(text))
        assert (line[2], why in line) == ("-" if why else "+", True), line
    project = tmp_path / "vans"
    text = (project / "adapters/van-hire/templates.yaml").read_text()
    mark = "      # Proposed by openai:m; read them before you rely on them.\n"
    assert f"{mark}      - please list the hired ones of our vans\n" in text
    assert f"{mark}      - what do you know about van AB123\n" in text
    assert text.count("Proposed") == 2
    checked = CliRunner().invoke(command_line("new", "check"), ["check", "--quick", str(project)])
    assert checked.exit_code == 0, checked.output


def outcome(template: str | None) -> Outcome:
    return Outcome(template, called=True, confidence=0.9, latency_ms=1.0)


@pytest.mark.parametrize(
    ("now", "blamed"),
    [
        ("a", {}),
        ("b", {"b": "q"}),  # which took it
        (None, {"a": "q"}),  # where it belongs
        ("c", {"a": "q"}),  # nothing was added to what took it
    ],
)
def test_additions_that_take_a_question_away_go(now: str | None, blamed: dict[str, str]) -> None:
    own, kept = [("q", "a"), ("wrong before", "a")], {"a": ["x"], "b": ["y"], "c": []}
    before = {"q": outcome("a"), "wrong before": outcome("b")}
    after = {"q": outcome(now), "wrong before": outcome(None)}
    assert takers_of(own, before, after, kept) == blamed


@pytest.mark.slow
def test_without_a_model_that_can_be_used_nothing_is_written(tmp_path: Path) -> None:
    with serving(lambda _: refusal("no such model", 404)) as service:
        absent = new(tmp_path, service)
    gone = new(tmp_path, service)
    document = str(tmp_path / "vans.yaml")
    config = str(tmp_path / "config.yaml")
    drafted = ["new", str(tmp_path / "vans"), "--from-openapi", document, "--config", config]
    lines = {
        "needs a chat model: name its provider with --provider": [*drafted, "--with-model"],
        "add --with-model": [*drafted, "--provider", "openai"],
        "adds to a draft": ["new", str(tmp_path / "vans"), "--with-model"],
        "there is no such file": [*drafted[:-1], str(tmp_path / "nowhere.yaml"), "--with-model"],
    }
    for said, line in lines.items():
        refused = CliRunner().invoke(command_line("new", "check"), line)
        assert (refused.exit_code, said in " ".join(refused.stderr.split())) == (1, True), line
    assert [absent.exit_code, gone.exit_code] == [1, 1]
    assert "has no model 'm'" in absent.stderr
    assert "cannot be reached" in gone.stderr
    assert "nothing was written" in gone.stderr
    assert not (tmp_path / "vans").exists()


def test_a_reply_that_is_none_adds_nothing_to_that_template(tmp_path: Path) -> None:
    replies = PROPOSED | {"List vans": "any?"}
    with serving(think_of(replies)) as service:
        done = new(tmp_path, service)
    assert done.exit_code == 0, done.output
    assert "note: nothing for list_vans: openai:m did not keep to the schema" in done.stderr
    assert "1 of 3 proposals" in done.stderr


@needs_local_model
def test_the_local_model_proposes(tmp_path: Path) -> None:
    with serving(think_of({})) as service:
        done = new(tmp_path, service, "--provider", "llama_cpp")
    assert done.exit_code == 0, done.output
    assert re.search(r"\d+ of \d+ proposals of llama_cpp:.* are kept", done.stderr)
    assert (tmp_path / "vans/adapters/van-hire/templates.yaml").is_file()
