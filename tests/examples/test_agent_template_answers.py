"""The agent example through the whole path: encoder, index, matching, arguments, tools, words."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from server.cli.main import command_line

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config" / "config.yaml"
EXAMPLE = "intent-agent-example"

COMMANDS = command_line("ask", "eval")


Figures = dict[str, Any]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh data folder: the example is indexed and learnt once for all of these."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def report(data: Path) -> Figures:
    return run(data, "eval")


def run(data: Path, *args: str) -> Figures:
    """What a command prints as JSON, over the shipped configuration."""
    shipped = ["--config", str(CONFIG), "--adapter", EXAMPLE, "--data", str(data)]
    done = CliRunner().invoke(COMMANDS, [*args, *shipped, "--json"])
    assert done.exit_code == 0, done.output
    printed: Figures = json.loads(done.stdout)
    return printed


def test_the_example_chooses_the_right_template(report: Figures) -> None:
    assert report["template_accuracy"] >= 0.95, report["confusions"]


def test_the_example_stays_silent_when_nothing_fits(report: Figures) -> None:
    assert report["abstain_recall"] >= 0.9, report["confusions"]
    assert report["wrong_call_rate"] <= 0.02, report["confusions"]


def test_the_example_reads_arguments_and_words_answers(report: Figures) -> None:
    assert report["argument_accuracy"] >= 0.95, report["argument_mistakes"]
    assert report["answer_accuracy"] >= 0.95, report["answer_mistakes"]


def test_the_example_knows_when_it_knows(report: Figures) -> None:
    assert report["auroc"] >= 0.95


def test_the_first_question_of_the_documentation_is_answered(data: Path) -> None:
    answer = run(data, "ask", "What is 15% of 200?")
    assert answer["content"] == "15% of 200 is **30**"
    assert answer["metadata"]["template_id"] == "calculate_percentage"
    execution = answer["metadata"]["tool_execution"]
    assert execution["parameters"] == {"value": 200, "percentage": 15}
    assert execution["result"]["result"] == 30


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ('filter price > 2 [{"price":3},{"price":1}]', [{"price": 3}]),
        ('keep rows where ok equals true [{"ok":true},{"ok":false}]', [{"ok": True}]),
        ('only those whose city is Rome [{"city":"Rome"},{"city":"Oslo"}]', [{"city": "Rome"}]),
    ],
)  # fmt: skip
def test_rows_are_kept_by_numbers_and_truth_as_well_as_by_text(
    data: Path, question: str, kept: list[Any]
) -> None:
    execution = run(data, "ask", question)["metadata"]["tool_execution"]
    assert (execution["status"], execution["result"]["result"]) == ("success", kept)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("cancel my task 3", "cancel"),
        ("mark task 3 as done", "mark"),
        ("rename task 3 to groceries", "rename"),
        ("list my tasks", "list"),
        ("cancel my last notification", "cancel"),
        ("show my notifications", "show"),
        ("snooze the notification by 10 minutes", "snooze"),
    ],
)
def test_what_tasks_and_notifications_cannot_do_is_declined_by_name(
    data: Path, question: str, word: str
) -> None:
    answer = run(data, "ask", question)
    assert answer["metadata"]["template_id"] is None
    assert f"“{word}”" in answer["content"]
    assert "task" in answer["content"] or "notification" in answer["content"]


def test_a_question_of_blanks_is_refused(data: Path) -> None:
    done = CliRunner().invoke(COMMANDS, ["ask", "  ", "--config", str(CONFIG), "--data", str(data)])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "error: the question is empty\n"
