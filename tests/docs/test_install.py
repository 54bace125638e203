"""docs/install.md names commands, variables and arguments that there are."""

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from server.cli.main import COMMANDS, command_line
from server.settings.loader import load_settings
from utils.dockerfile import read_dockerfile
from utils.lock import ROOT

PAGE = (ROOT / "docs" / "install.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)\n```$", PAGE, re.M | re.S)
DOTENV = next(text for kind, text in BLOCKS if kind == "" and "COMPOSE_PROFILES" in text)


def command_lines() -> Iterator[str]:
    """Yield what follows `orbit` in each line to paste, also where a container runs it."""
    for kind, text in BLOCKS:
        for line in text.replace("\\\n", " ").splitlines() if kind == "bash" else ():
            words = shlex.split(line, comments=True)
            for program, command in pairwise(words):
                if program.split("/")[-1] in ("orbit", "orbit-server") and command in COMMANDS:
                    yield shlex.join(words[words.index(command) :])


def options_of(words: list[str]) -> set[str]:
    command: Any = typer.main.get_command(command_line(words[0]))
    for word in words:
        children = getattr(command, "commands", None)
        command = children[word] if children is not None else command
    return {name for parameter in command.params for name in parameter.opts}


def test_the_page_has_commands_of_each_way() -> None:
    named = {line.split()[0] for line in command_lines()}
    assert {"ask", "start", "new", "check", "keys", "install-service"} <= named


@pytest.mark.parametrize("line", list(command_lines()))
def test_every_command_has_the_options_that_it_is_given(line: str) -> None:
    words = shlex.split(line)
    assert {word for word in words if word.startswith("--")} <= options_of(words)


def test_what_a_project_writes_for_compose_is_right(tmp_path: Path) -> None:
    (written,) = (text for kind, text in BLOCKS if kind == "yaml")
    (tmp_path / "config.yaml").write_text(written)
    variables = dict(line.split("=", 1) for line in DOTENV.splitlines())
    for environ in ({}, variables):
        assert load_settings(tmp_path / "config.yaml", environ).problems == ()
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    used = set(re.findall(r"\$\{(\w+)", str(compose["services"])))
    assert set(variables) - {"COMPOSE_PROFILES"} <= used
    services = {each for one in compose["services"].values() for each in one.get("profiles", [])}
    assert variables["COMPOSE_PROFILES"] in services
    for name in ("postgres", "redis"):  # by the names that they have beside it
        assert name in compose["services"]
        assert any(f"{name}/" in v or f"//{name}:" in v for v in variables.values())


def test_the_build_arguments_are_those_of_the_dockerfile() -> None:
    listed = dict(re.findall(r"^\| `([A-Z]+)` \| `([^`]+)` \|", PAGE, re.M))
    arguments = (step.text for step in read_dockerfile(ROOT / "Dockerfile") if step.name == "ARG")
    assert listed == {
        name: default.strip('"') for name, _, default in (each.partition("=") for each in arguments)
    }
