"""docs/cli.md says of every command exactly what the command takes."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from server.cli import main

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


def commands() -> Iterator[tuple[str, Any]]:
    """Every command that does something, by the words that call it."""

    def below(command: Any, words: str) -> Iterator[tuple[str, Any]]:
        children = getattr(command, "commands", None)
        if children is None:
            yield words, command
            return
        for name, child in children.items():
            yield from below(child, f"{words} {name}".strip())

    yield from below(typer.main.get_command(main.command_line()), "")


COMMANDS = dict(commands())


def usage(words: str, command: Any) -> str:
    return " ".join(["orbit.sh", words, *(_usage_of(p) for p in command.params)])


def _usage_of(parameter: Any) -> str:
    name = (parameter.metavar or "").strip("[]…")
    many = parameter.nargs == -1 or getattr(parameter, "multiple", False)
    if parameter.param_type_name == "option":
        shown = f"{parameter.opts[0]} {name}".strip()
        shown = shown if parameter.required else f"[{shown}]"
        return f"{shown}..." if many else shown
    if many:
        name = f"{name} ..."
    return name if parameter.required else f"[{name}]"


def documented_usages() -> dict[str, str]:
    sections = re.findall(r"^### `([^`]+)`\n\n```\n(.*?)\n```$", DOCS.read_text(), re.M | re.S)
    return {words: " ".join(text.split()) for words, text in sections}


def test_no_command_is_left_out_and_none_is_made_up() -> None:
    assert list(documented_usages()) == list(COMMANDS)


@pytest.mark.parametrize("words", COMMANDS)
def test_the_usage_in_the_docs_is_that_of_the_command(words: str) -> None:
    assert documented_usages()[words] == usage(words, COMMANDS[words])


@pytest.mark.parametrize("words", COMMANDS)
def test_every_option_says_what_it_is_for(words: str) -> None:
    unexplained = [p.opts[0] for p in COMMANDS[words].params if not getattr(p, "help", None)]
    assert unexplained == []
