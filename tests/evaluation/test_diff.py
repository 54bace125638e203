"""Two versions of a library are asked the same, and each decision that changes is shown."""

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from server.cli.main import command_line
from server.evaluation.decided import Decided
from server.evaluation.decision_log import LoggedQuestion, read_decision_log
from tests.support.configuring import NOW, PERCENTAGE, write_library

COMMANDS = command_line("diff")
PART = {"ask": "What is 15% of 300?", "template": PERCENTAGE["id"]}
TIME = {"ask": "what time is it now", "template": NOW["id"]}
NO_TIME = {"ask": "What time is it?", "template": None}


def library(folder: Path, templates: Sequence[Any], questions: Sequence[Any] = ()) -> Path:
    write_library(folder, templates)
    if questions:
        (folder / "questions.yaml").write_text(yaml.safe_dump({"questions": list(questions)}))
    return folder


def diff(*args: object) -> Result:
    return CliRunner().invoke(COMMANDS, ["diff", *map(str, args)])


@pytest.fixture
def versions(tmp_path: Path) -> tuple[Path, Path]:
    old = library(tmp_path / "old", [PERCENTAGE, NOW])
    return old, library(tmp_path / "new", [PERCENTAGE], [PART, TIME, NO_TIME])


def test_changes_are_fixed_or_broken_by_what_is_expected(versions: tuple[Path, Path]) -> None:
    done = diff(*versions, "--json")
    said = json.loads(done.stdout)
    assert (done.exit_code, said["asked"], said["broken"], said["fixed"]) == (0, 3, 1, 1)
    broken, fixed = said["changes"]
    assert (broken["ask"], broken["how"]) == (TIME["ask"], "broken")
    assert broken["old"] == {"decision": "call", "template": NOW["id"]}
    assert broken["new"]["decision"] == "declined"
    assert (fixed["ask"], fixed["how"]) == (NO_TIME["ask"], "fixed")
    assert diff(*versions, "--fail-on-broken").exit_code == 1


def test_the_same_version_changes_nothing(versions: tuple[Path, Path]) -> None:
    done = diff(versions[1], versions[1], "--fail-on-broken")
    assert (done.exit_code, done.stdout) == (0, "None of 3 decisions changes\n")


def test_people_read_the_old_and_the_new_decision(versions: tuple[Path, Path]) -> None:
    lines = diff(*versions).stdout.splitlines()
    assert lines[:3] == [
        "Broken: was as expected, and is not any more",
        f"  {TIME['ask']}",
        "    current_time()",
    ]
    assert lines[3].startswith("    → declined (")
    assert lines[-1] == "2 of 3 decisions change (1 broken, 1 fixed)"


def test_logged_questions_are_replayed_and_nobody_said_what_is_right(tmp_path: Path) -> None:
    log = tmp_path / "decisions.jsonl"
    lines: list[Any] = [
        {"question": "what time is it", "adapter": "sums", "decision": {"template": "x"}},
        {"question": "what time is it", "adapter": "sums", "decision": {}},
        {"question": "", "adapter": "sums", "masked": True},
    ]
    log.write_text("\n".join([*map(json.dumps, lines), "no JSON"]))
    old = library(tmp_path / "old", [PERCENTAGE, NOW])
    new = library(tmp_path / "new", [PERCENTAGE])
    done = diff(old, new, "--log", log, "--json")
    said = json.loads(done.stdout)
    assert (said["asked"], said["changed"], said["broken"]) == (1, 1, 0)
    assert "1 line left out, masked" in done.stderr
    assert "1 line left out, unusable" in done.stderr


@pytest.mark.parametrize(
    ("line", "adapter", "kept", "left_out"),
    [
        ({"question": "a", "adapter": "x", "decision": {}}, None, ("a",), (0, 0, 0)),
        ({"question": "a", "adapter": "x", "decision": {}}, "x", ("a",), (0, 0, 0)),
        ({"question": "a", "adapter": "x", "decision": {}}, "y", (), (0, 0, 1)),
        ({"question": "a", "more": 1}, "y", ("a",), (0, 0, 0)),
        ({"question": "a", "masked": True}, None, (), (1, 0, 0)),
        ({"question": "a", "adapter": "x", "answered_by": "y"}, "y", ("a",), (0, 0, 0)),
        ({"question": 5}, None, (), (0, 1, 0)),
        ({"question": " "}, None, (), (0, 1, 0)),
        (["question"], None, (), (0, 1, 0)),
    ],
)
def test_lines_of_a_log(
    tmp_path: Path,
    line: Any,
    adapter: str | None,
    kept: tuple[str, ...],
    left_out: tuple[int, int, int],
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(line) + "\n\n")
    found = read_decision_log(log, adapter)
    assert found.questions == tuple(map(LoggedQuestion, kept))
    assert (found.masked, found.unusable, found.elsewhere) == left_out


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"question": "and Ana?", "alone": False}, "1 line left out, of conversations"),
        ({"question": "yes", "kind": "confirmation"}, "1 line left out, confirmations or calls"),
        ({"question": "", "masked": True}, "1 line left out, masked"),
    ],
)
def test_what_cannot_be_asked_by_itself_is_told(
    tmp_path: Path, line: dict[str, Any], told: str
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(line))
    found = read_decision_log(log)
    assert (found.questions, [note.startswith(told) for note in found.notes()]) == ((), [True])


def test_without_a_question_there_is_nothing_to_compare(tmp_path: Path) -> None:
    old = library(tmp_path / "old", [PERCENTAGE])
    done = diff(old, old)
    assert (done.exit_code, "no question to ask" in done.stderr) == (1, True)
    assert "cannot be read" in diff(old, old, "--log", tmp_path / "none.jsonl").stderr


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (
            Decided("call", "t", {"a": 1, "b": "x"}),
            Decided("call", "t", {"b": "x", "a": Decimal("1.0")}),
            True,
        ),
        (Decided("call", "t", {"a": 1}), Decided("call", "t", {"a": 2}), False),
        (Decided("call", "t"), Decided("asks", "t", asked=("a",)), False),
        (Decided("unclear", options=("a", "b")), Decided("unclear", options=("b", "a")), True),
        (Decided("declined", why="36%"), Decided("declined", why="37%", unread=("x",)), True),
        (Decided("call", "t"), Decided("call", "t", more=(Decided("call", "u"),)), False),
    ],
)
def test_decisions_are_the_same_when_the_same_would_be_done(
    one: Decided, other: Decided, same: bool
) -> None:
    assert (one.same(other), other.same(one)) == (same, same)
