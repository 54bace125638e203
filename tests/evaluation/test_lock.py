"""A lock says with what a library was judged, and is told when that is no longer so."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from server.adapters.check import load_adapter
from server.adapters.library_lock import FILE_NAME, Basis, lock_path, read_lock
from server.adapters.local import open_adapter
from server.cli.check import check_library_folder
from server.cli.launcher import lock_lines
from server.cli.main import command_line
from server.library.templates import decision_digest
from tests.support.configuring import NOW, PERCENTAGE, adapter, configure, write_library

pytestmark = pytest.mark.slow

COMMANDS = command_line("lock")
QUESTIONS: list[dict[str, Any]] = [
    {
        "ask": "What is 15% of 300?",
        "template": PERCENTAGE["id"],
        "arguments": {"value": 300, "percentage": 15},
    },
    {"ask": "what time is it now", "template": NOW["id"]},
    {"ask": "tell me a joke about penguins", "template": None},
]


def write_questions(folder: Path, *more: Any) -> None:
    written = {"questions": [*QUESTIONS, *more]}
    (folder / "questions.yaml").write_text(yaml.safe_dump(written))


def lock(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(COMMANDS, ["lock", str(folder), *options])


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = write_library(tmp_path / "sums")
    write_questions(folder)
    assert lock(folder).exit_code == 0
    return folder


def another_example(folder: Path) -> None:
    more = {**NOW, "nl_examples": [*NOW["nl_examples"], "tell me the time"]}
    write_library(folder, [PERCENTAGE, more])


def synonyms(folder: Path) -> None:
    domain = {
        "domain": {"name": "sums", "version": "1.0"},
        "vocabulary": {"synonyms": {"time": ["clock"]}},
    }
    write_library(folder, domain=domain)


def another_question(folder: Path) -> None:
    write_questions(folder, {"ask": "sing a song", "template": None})


def changed_lock(**basis: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / FILE_NAME
        data = json.loads(path.read_text())
        data["basis"] |= basis
        path.write_text(json.dumps(data))

    return change


def better_before(folder: Path) -> None:
    path = folder / FILE_NAME
    data = json.loads(path.read_text())
    data["figures"] |= {"argument_accuracy": 1.1, "wrong_call_rate": -0.1}
    path.write_text(json.dumps(data))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (another_example, "the library"),
        (synonyms, "the library"),
        (another_question, "the questions"),
        (changed_lock(threshold=0.123), "the threshold"),
        (changed_lock(verifier="other"), "how the server weighs matches"),
        (changed_lock(calibration="other"), "the calibration"),
    ],
)
def test_what_changed_is_named_by_check_and_fails_the_lock(
    library: Path, change: Callable[[Path], None], named: str
) -> None:
    assert check_library_folder(library) == []
    assert lock(library, "--check").exit_code == 0
    change(library)
    (problem,) = check_library_folder(library)
    assert (problem.kind, problem.severity) == ("old-lock", "warning")
    assert f"by a change of {named}; run: orbit lock {library}" in problem.what
    again = lock(library, "--check")
    assert (again.exit_code, f"{named} changed" in again.stderr) == (1, True)
    assert lock(library).exit_code == 0
    assert check_library_folder(library) == []


def test_another_encoder_is_told_when_examples_are_asked(library: Path) -> None:
    changed_lock(encoder="local:other")(library)
    assert check_library_folder(library) == []  # no encoder is loaded for that
    done = CliRunner().invoke(command_line("check"), ["check", str(library), "--json"])
    assert [p["what"] for p in json.loads(done.stdout) if p["kind"] == "old-lock"] == [
        f"no longer what was judged, by a change of the encoder; run: orbit lock {library}"
    ]


def test_a_figure_that_fell_fails_the_lock(library: Path) -> None:
    better_before(library)
    done = lock(library, "--check")
    assert done.exit_code == 1
    assert "argument_accuracy is 1, and was 1.1" in done.stderr
    assert "wrong_call_rate is 0, and was -0.1" in done.stderr


def test_without_a_lock_there_is_nothing_to_check(tmp_path: Path) -> None:
    folder = write_library(tmp_path)
    write_questions(folder)
    done = lock(folder, "--check")
    assert (done.exit_code, "there is no" in done.stderr) == (1, True)
    assert not lock_path(folder / "domain.yaml").exists()


def test_a_lock_that_cannot_be_read_is_a_warning_and_stops_nothing(library: Path) -> None:
    (library / FILE_NAME).write_text("{}")
    (problem,) = check_library_folder(library)
    assert (problem.kind, problem.severity) == ("bad-lock", "warning")
    assert read_lock(library / "domain.yaml").lock is None


@pytest.mark.anyio
async def test_an_open_adapter_says_whether_it_is_what_was_locked(
    library: Path, tmp_path: Path
) -> None:
    found = configure(tmp_path, [adapter("sums", library)])
    said = []
    for change in (lambda _: None, another_example):
        change(library)
        async with open_adapter(found.settings, {}, found.settings.adapters[0]) as opened:
            said.append(opened.details["lock"])
    assert said == [{"fits": True, "changed": []}, {"fits": False, "changed": ["the library"]}]
    assert [lock_lines({"details": {"lock": each}}) for each in said] == [
        (),
        ("changed since it was locked: the library",),
    ]


def test_the_words_of_answers_do_not_count(library: Path, tmp_path: Path) -> None:
    def digest(folder: Path) -> str:
        found = configure(tmp_path, [adapter("sums", folder)])
        read = load_adapter(found.settings.adapters[0], {}, found.settings)
        assert read.library is not None
        return decision_digest(read.library)

    before = digest(library)
    write_library(library, [{**PERCENTAGE, "response_template": "{{ result }}!"}, NOW])
    assert digest(library) == before


def test_what_is_not_known_counts_as_the_same() -> None:
    known = Basis(
        library="l",
        encoder="e",
        verifier="v",
        calibration=None,
        threshold=0.6,
        max_wrong=0.03,
        questions="q",
    )
    assert known.changes(known.model_copy(update={"encoder": None, "questions": None})) == []
