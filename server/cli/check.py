"""`check`: everything that is wrong with what an author wrote, at once."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import DEFAULT_CONFIG, ConfigOption, DataOption, JsonOption
from server.cli.output import failures_as_messages, print_json, print_text, say


def check(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PATH]",
            help="A configuration, a folder with a domain.yaml, or one of its files.",
        ),
    ] = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,  # noqa: ARG001  goes with every command; nothing is written here
    as_json: JsonOption = False,
) -> None:
    """Find every problem of configuration and libraries, each as `what @ file:line`.

    The exit code is 1 when there is an error; warnings alone leave it at 0.
    """
    with failures_as_messages():
        from server.cli.checking import check_path

        problems = list(dict.fromkeys(check_path(path or config)))
        if as_json:
            print_json([asdict(problem) for problem in problems])
        for problem in problems if not as_json else ():
            print_text(str(problem))
        errors = sum(problem.severity == "error" for problem in problems)
        warnings = len(problems) - errors
        say(_summary(path or config, errors, warnings))
        if errors:
            raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    app.command()(check)


def _summary(path: Path, errors: int, warnings: int) -> str:
    if not errors and not warnings:
        return f"{path}: no problems"
    counted = [(errors, "error"), (warnings, "warning")]
    return f"{path}: " + ", ".join(f"{n} {name}{'s' * (n != 1)}" for n, name in counted if n)
