"""What docs/quickstart.md says of a project of one's own works as it is written."""

import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from server.cli.main import command_line

PAGE = (Path(__file__).parents[2] / "docs" / "quickstart.md").read_text(encoding="utf-8")
SECTIONS = PAGE[PAGE.index("## 5.") : PAGE.index("## 7.")]
BLOCKS = re.findall(r"^```bash\n(.*?)^```", SECTIONS, re.DOTALL | re.MULTILINE)
LINES = [line for block in BLOCKS for line in block.splitlines()]
COMMANDS = command_line("new", "check", "eval", "ask")


def test_every_line_does_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = {}
    for line in LINES:
        words = re.findall(r'"[^"]*"|\S+', line.removeprefix("./bin/orbit.sh "))
        done = CliRunner().invoke(COMMANDS, [word.strip('"') for word in words])
        assert done.exit_code == 0, (line, done.output)
        said[words[0]] = done
    assert list(said) == ["new", "check", "eval", "ask"]
    assert "shop: no problems" in said["check"].stderr
    assert said["ask"].stdout == "That is **30**\n"
    for name in re.findall(r"^\| `(shop/[^`]+)`", SECTIONS, re.MULTILINE):
        assert (tmp_path / name).is_file(), name


def test_the_questions_shown_are_those_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(COMMANDS, ["new", "shop"])
    (shown,) = re.findall(r"^```yaml\n(.*?)^```", SECTIONS, re.DOTALL | re.MULTILINE)
    written = yaml.safe_load((tmp_path / "shop/adapters/shop/questions.yaml").read_text())
    assert all(one in written["questions"] for one in yaml.safe_load(shown)["questions"])
