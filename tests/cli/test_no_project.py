"""Where there is no project, an installed `orbit` asks the example that ships with it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from server.cli import options
from server.cli.main import command_line
from server.core.installation import EXAMPLE_CONFIG

TOLD = "No project here (config/config.yaml): this is Orbit's example. For your own: orbit new DIR"


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    for name in ("ORBIT_HOME", "ORBIT_COMMAND", "ORBIT_DATA"):
        monkeypatch.delenv(name, raising=False)
    options.say_if_example.cache_clear()
    yield folder
    options.say_if_example.cache_clear()


def run(*words: str) -> Result:
    return CliRunner().invoke(command_line(words[0]), list(words), prog_name="orbit")


def test_the_example_is_asked_and_said_to_be_one(empty: Path, tmp_path: Path) -> None:
    asked = run("ask", "What is 15% of 200?")
    assert (asked.exit_code, asked.stdout) == (0, "15% of 200 is **30**\n")
    assert asked.stderr.splitlines() == [TOLD]
    assert list(empty.iterdir()) == []
    assert (tmp_path / "xdg" / "orbit" / "orbit.db").is_file()


@pytest.mark.parametrize("given", ["option", "variable"])
def test_its_data_goes_where_it_is_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    data, words = str(tmp_path / "mine"), ["--data", str(tmp_path / "mine")]
    if given == "variable":
        monkeypatch.setenv("ORBIT_DATA", data)
        words = []
    shown = run("status", *words)
    assert (shown.exit_code, shown.stdout) == (3, f"Orbit is not running (data folder {data})\n")


def test_a_project_where_it_is_typed_comes_first(empty: Path) -> None:
    assert run("new", ".", "--name", "shop").exit_code == 0
    shown = run("status")
    assert shown.stdout == f"Orbit is not running (data folder {empty / '.orbit'})\n"
    assert shown.stderr == ""


def test_the_script_never_takes_the_example_for_its_own_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert options.chosen_config(options.DEFAULT_CONFIG) == EXAMPLE_CONFIG
    monkeypatch.setenv("ORBIT_HOME", str(tmp_path))
    assert options.chosen_config(options.DEFAULT_CONFIG) == options.DEFAULT_CONFIG
