"""The questions about sums of the agent example, through the whole path."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from server.cli.main import command_line
from server.evaluation.questions import load_questions

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "examples/intent-templates/agent-template/questions-sums.yaml"
COMMANDS = command_line("ask", "eval")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


def run(data: Path, *args: str) -> dict[str, Any]:
    """What a command prints as JSON, over the shipped configuration."""
    shipped = ["--config", str(ROOT / "config" / "config.yaml"), "--data", str(data)]
    adapter = ["--adapter", "intent-agent-example"]
    done = CliRunner().invoke(COMMANDS, [*args, *shipped, *adapter, "--json"])
    assert done.exit_code == 0, done.output
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def test_there_are_questions_enough() -> None:
    questions, problems = load_questions(QUESTIONS)
    counts = Counter(question.template for question in questions)
    assert problems == ()
    assert counts["calculate"] >= 25
    assert counts[None] >= 25


def test_they_are_worked_out_or_left_alone(data: Path) -> None:
    report = run(data, "eval", "--questions", str(QUESTIONS))
    assert report["template_accuracy"] >= 0.95, report["confusions"]
    assert report["abstain_recall"] >= 0.95, report["confusions"]
    assert report["wrong_call_rate"] <= 0.03, report["confusions"]
    assert report["argument_accuracy"] >= 0.95, report["argument_mistakes"]
    assert report["answer_accuracy"] >= 0.95, report["answer_mistakes"]


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("sin of 30 degrees", "a sine"),
        ("factorial of 5", "a factorial"),
        ("standard deviation of 3, 4 and 5", "a standard deviation"),
        ("12 choose 3", "a number of combinations"),
        ("log of 100", "a logarithm"),
        ("greatest common divisor of 12 and 18", "a common divisor or multiple"),
    ],
)
def test_what_is_not_worked_out_is_declined_by_name(
    data: Path, question: str, missing: str
) -> None:
    answer = run(data, "ask", question)
    assert f"{missing} is not something that I can work out" in answer["content"]
    assert answer["metadata"]["template_id"] == "calculate"
    assert answer["metadata"]["tool_execution"]["status"] == "error"


def test_units_that_do_not_go_together_are_named(data: Path) -> None:
    assert "5 kg and €3 do not go together" in run(data, "ask", "5 kg + 3 €")["content"]
