"""`eval` as builds use it: bounds, exit codes, JUnit, tapes, curves and mistyped questions."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from typer.testing import CliRunner, Result

from server.cli.main import command_line
from server.evaluation.perturbations import WAYS, perturbed
from server.evaluation.questions import Question
from tests.support.configuring import NOW, PERCENTAGE, write_library

COMMANDS = command_line("eval")
RIGHT: list[dict[str, Any]] = [
    {
        "ask": "What is 15% of 300?",
        "template": PERCENTAGE["id"],
        "arguments": {"value": 300, "percentage": 15},
        "answer": "15% of 300 is **45**",
    },
    {"ask": "what time is it now", "template": NOW["id"]},
    {"ask": "tell me a joke about penguins", "template": None},
]
WRONG = {"ask": "What is 30% of 50?", "template": NOW["id"]}


def library(folder: Path, questions: Sequence[Any]) -> str:
    write_library(folder)
    (folder / "questions.yaml").write_text(yaml.safe_dump({"questions": list(questions)}))
    return str(folder)


def run(*args: str) -> Result:
    return CliRunner().invoke(COMMANDS, ["eval", *args])


@pytest.mark.parametrize(
    ("questions", "bounds", "code", "said"),
    [
        (RIGHT, "template_accuracy=1,wrong_call_rate=0,latency_p99=60000", 0, ""),
        ([*RIGHT, WRONG], "wrong_call_rate=0.1", 1, "wrong_call_rate is 0.25, above 0.1"),
        ([*RIGHT, WRONG], "template_accuracy=0.9", 1, "template_accuracy is 0.6667, below 0.9"),
        (RIGHT[:2], "abstain_recall=0.9", 1, "no question bears on it"),
        (RIGHT, "acuracy=0.9", 1, "did you mean"),
        (RIGHT, "template_accuracy", 1, "takes FIGURE=VALUE"),
        (RIGHT, "template_accuracy=90", 1, "is a share from 0 to 1, such as 0.9; got '90'"),
        (RIGHT, "wrong_call_rate=nan", 1, "is a share from 0 to 1"),
        (RIGHT, "latency_p99=nan", 1, "is milliseconds; got 'nan'"),
        ([*RIGHT, RIGHT[0]], "", 1, "is asked before"),
        ([*RIGHT, {"ask": "x", "template": "nowhere"}], "", 1, "no template is called"),
    ],
)
def test_a_figure_that_falls_short_fails(
    tmp_path: Path, questions: list[Any], bounds: str, code: int, said: str
) -> None:
    done = run(library(tmp_path, questions), *(["--fail-under", bounds] if bounds else []))
    assert (done.exit_code, said in done.stderr) == (code, True), done.stderr


def test_every_question_is_a_test_of_junit(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    run(library(tmp_path / "sums", [*RIGHT, WRONG]), "--junit", str(path))
    suite = ElementTree.parse(path).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    (failure,) = suite.iter("failure")
    assert failure.get("message") == "expected current_time, got calculate_percentage"


def test_curves_and_rows_are_figures_too(tmp_path: Path) -> None:
    drawing = tmp_path / "curves.svg"
    folder = library(tmp_path / "sums", [*RIGHT, WRONG])
    done = run(folder, "--json", "--plot", str(drawing), "--perturb")
    said = json.loads(done.stdout)
    assert {row["template"]: row["right"] for row in said["templates"]} == {
        "calculate_percentage": 1,
        "current_time": 1,
    }
    assert [row["taken_from_others"] for row in said["templates"]] == [1, 0]
    assert sum(each["calls"] for each in said["reliability"]) >= 3
    assert said["thresholds"][0]["right"] >= said["thresholds"][-1]["right"]
    assert ElementTree.parse(drawing).getroot().tag.endswith("svg")
    assert said["robustness"]["questions"] == sum(
        way["questions"] for way in said["robustness"]["ways"]
    )
    assert {way["way"] for way in said["robustness"]["ways"]} <= set(WAYS)


def test_what_a_tool_answered_is_kept_and_given_again(tmp_path: Path) -> None:
    folder, tape = library(tmp_path / "sums", RIGHT), tmp_path / "tape.json"
    first = run(folder, "--json", "--record", str(tape))
    assert json.loads(first.stdout)["tool_success_rate"] == 1.0
    kept = json.loads(tape.read_text())
    for entry in kept["results"]:
        if entry["result"]["tool_name"] == "calculator":
            entry["result"]["result"]["result"] = 46
    tape.write_text(json.dumps(kept))
    again = json.loads(run(folder, "--json", "--replay", str(tape)).stdout)
    assert again["answer_mistakes"][0]["got"] == "15% of 300 is **46**"
    unknown = {"ask": "What is 16% of 300?", "template": PERCENTAGE["id"]}
    other = library(tmp_path / "sums", [unknown])
    missing = json.loads(run(other, "--json", "--replay", str(tape)).stdout)
    assert missing["tool_success_rate"] == 0.0


@pytest.mark.parametrize("text", ["", "[]", '{"version": 9, "results": []}'])
def test_what_is_no_tape_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "tape.json").write_text(text)
    done = run(library(tmp_path / "sums", RIGHT), "--replay", str(tmp_path / "tape.json"))
    assert (done.exit_code, "cassette" in done.stderr) == (1, True)


def test_values_are_never_mistyped() -> None:
    question = Question(
        ask="Show the reservations of Alexander tomorrow",
        template="t",
        arguments={"guest": "Alexander"},
    )
    changed = dict(perturbed(question, 1))
    assert changed == dict(perturbed(question, 1)) != dict(perturbed(question, 2))
    assert len(changed) >= 5
    assert all("Alexander" in other.ask for other in changed.values())
