"""`--workers`: what may be given, what is said, and when a restart replaces workers alone."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from server.cli import sameness
from server.cli.launcher import ServerReadiness, serve_command
from server.cli.options import repeated, worker_count
from server.cli.runfile import Launch, Running
from server.cli.sameness import changed_variables, code_token
from server.cli.server_messages import say_status
from server.errors import ConfigurationInvalid
from server.workers import cores
from tests.support.configuring import adapter, configure, write_library

ROWS = [
    {"number": 1, "pid": 11, "state": "ready", "restarts": 0, "generation": 0},
    {"number": 2, "pid": 12, "state": "serving", "restarts": 2, "generation": 0},
]


@pytest.mark.parametrize(
    ("given", "taken"), [(None, None), ("1", "1"), ("08", "8"), ("256", "256"), ("auto", "auto")]
)
def test_a_number_or_auto_is_taken(given: str | None, taken: str | None) -> None:
    assert worker_count(given) == taken


@pytest.mark.parametrize("given", ["0", "257", "-1", "two", "1.5", ""])
def test_anything_else_is_refused_with_what_may_be_written(given: str) -> None:
    with pytest.raises(typer.BadParameter, match="write one from 1 to 256, or 'auto' for one"):
        worker_count(given)


@pytest.mark.parametrize(
    ("workers", "count", "alone"), [(1, 1, True), (3, 3, False), ("auto", cores(), cores() == 1)]
)
def test_the_setting_says_how_many(
    tmp_path: Path, workers: int | str, count: int, alone: bool
) -> None:
    sums = adapter("sums", write_library(tmp_path / "library"))
    settings = configure(tmp_path, [sums], server={"workers": workers}).settings
    assert (settings.worker_count, settings.one_process) == (count, alone)


@pytest.mark.parametrize("workers", [0, 257, "many"])
def test_no_other_setting_is_read(tmp_path: Path, workers: int | str) -> None:
    sums = adapter("sums", write_library(tmp_path / "library"))
    with pytest.raises((AssertionError, ConfigurationInvalid), match="workers"):
        configure(tmp_path, [sums], server={"workers": workers})


def test_what_was_asked_for_is_handed_on() -> None:
    wanted = Launch("127.0.0.1", 8000, Path("c"), Path("d"), 1.0, workers=2, asked_workers="auto")
    command = serve_command(wanted)
    assert command[command.index("--workers") + 1] == "auto"
    assert repeated(Path("c"), None, workers="2")[-2:] == ["--workers", "2"]


def test_status_names_each_worker(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    running = Running(1, "t", "127.0.0.1", 8000, "c", "then", 1.0, workers=2)
    workers = {"count": 2, "failed": "it is wrong", "processes": ROWS}
    readiness = ServerReadiness("ready", (), workers)
    say_status(tmp_path, running, readiness)
    assert capsys.readouterr().out.splitlines()[3:] == [
        "  worker 1 of 2 (pid 11): ready",
        "  worker 2 of 2 (pid 12): serving, replaced 2 times",
        "  the last replacement of workers was given up: it is wrong",
    ]
    assert readiness.missing_workers == 1


@pytest.fixture
def sleeper() -> Iterator[int]:
    sleeping = subprocess.Popen(
        [sys.executable, "-c", "input('ready')"],
        env={"PATH": "/bin", "OTHER": "1", "PWD": "/here"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert sleeping.stdout is not None
    sleeping.stdout.read(1)  # its environment can be read from then on
    yield sleeping.pid
    sleeping.communicate(b"\n")


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_variables_that_changed_are_named_but_for_those_of_a_shell(sleeper: int) -> None:
    now = {"PATH": "/bin", "NEW": "2", "PWD": "/there", "SSH_TTY": "/dev/pts/1"}
    assert changed_variables(sleeper, now) == ["NEW", "OTHER"]
    assert changed_variables(sleeper, now | {"OTHER": "1"}) == ["NEW"]


def test_it_cannot_be_told_of_a_process_that_is_gone() -> None:
    assert changed_variables(2**22 + 1) is None


def test_the_code_is_another_one_when_a_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sameness, "_PACKAGE", tmp_path)
    (tmp_path / "a.py").write_text("1")
    before = code_token()
    assert code_token() == before
    os.utime(tmp_path / "a.py", (1, 1))
    assert code_token() != before
