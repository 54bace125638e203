"""What docs/quickstart.md says of a project of one's own works as it is written."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import yaml
from typer.testing import CliRunner

from server.cli.main import command_line
from tests.support.ports import free_port

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
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


OWN_API = PAGE[PAGE.index("## 8.") :]
TEN = [
    line
    for block in re.findall(r"^```bash\n(.*?)^```", OWN_API, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]
LAUNCHER = """#!/bin/sh
exec "{python}" -m server "$@"
"""
"""In place of the launcher, which would install Orbit first."""


@pytest.mark.slow
def test_an_api_of_ones_own_is_tested_and_served_in_ten_commands(tmp_path: Path) -> None:
    assert len(TEN) == 10
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    launcher = tmp_path / "bin" / "orbit.sh"
    launcher.parent.mkdir()
    launcher.write_text(LAUNCHER.format(python=sys.executable))
    launcher.chmod(0o755)
    service, port = free_port(), free_port()
    # What was said of each line goes to a file of its own, and the first that fails ends it.
    script = ["set -e", "trap 'kill %1' EXIT"]
    for number, line in enumerate(TEN):
        here = line.replace("8901", str(service)).replace("8000", str(port))
        if here.endswith("&"):
            waits = f"until curl -s http://127.0.0.1:{service}/openapi.json; do sleep 0.1; done"
            script += [f"{here.replace('.py', f'.py {service}')}", f"{waits} >said.0"]
        elif here.startswith("KEY="):
            script.append(f"{here} 2>said.{number}")
        else:
            script.append(f"{here} >said.{number} 2>&1")
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "ORBIT_PORT": str(port)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    said = {path.suffix[1:]: path.read_text() for path in tmp_path.glob("said.*")}
    assert done.returncode == 0, (list(said.items())[-2:], done.stderr)
    (shown,) = re.findall(r"^```\n(warning.*?)^```", OWN_API, re.DOTALL | re.MULTILINE)
    assert " ".join(shown.split()) in " ".join(said["2"].split())
    assert "vans: no problems" in said["4"]
    answer = json.loads(said["8"])
    assert answer["metadata"]["template_id"] == "list_vans"
    assert re.findall("[A-Z]{2}[0-9]{3}", answer["content"]) == ["KV079", "RT604"]
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/health")
