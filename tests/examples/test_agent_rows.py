"""The questions about rows of the agent example, through the whole path."""

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from server.cli.main import command_line
from server.evaluation.questions import load_questions

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "examples/intent-templates/agent-template/questions-rows.yaml"


def test_there_are_questions_enough() -> None:
    questions, problems = load_questions(QUESTIONS)
    counts = Counter(question.template for question in questions)
    assert problems == ()
    assert counts["query_records"] >= 80
    assert counts[None] >= 20


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


def test_they_are_answered_or_left_alone(data: Path) -> None:
    shipped = ["--config", str(ROOT / "config" / "config.yaml"), "--data", str(data)]
    asked = ["--adapter", "intent-agent-example", "--questions", str(QUESTIONS)]
    done = CliRunner().invoke(command_line("eval"), ["eval", *shipped, *asked, "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["template_accuracy"] >= 0.9, report["confusions"]
    assert report["abstain_recall"] >= 0.95, report["confusions"]
    assert report["wrong_call_rate"] <= 0.02, report["confusions"]
    assert report["argument_accuracy"] >= 0.9, report["argument_mistakes"]
