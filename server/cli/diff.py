"""`diff`: which decisions change from one version of a library to another."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from server.adapters.library_folder import QUESTIONS
from server.cli import options
from server.cli.output import fail, print_result, say

if TYPE_CHECKING:
    from server.evaluation.decision_log import Replayed
    from server.evaluation.diff import Diff, Version
    from server.settings.models import AdapterSettings


def diff(
    old: Annotated[
        Path, typer.Argument(metavar="OLD", help="The folder of a project or library before.")
    ],
    new: Annotated[
        Path, typer.Argument(metavar="NEW", help="The folder of the same as it is now.")
    ],
    questions: Annotated[
        Path | None,
        options.option("Q", "Questions; else questions.yaml of NEW, or else of OLD."),
    ] = None,
    log: Annotated[
        Path | None,
        options.option("FILE", "Ask the questions of a decision log as well: lines of JSON."),
    ] = None,
    adapter: options.Adapter = None,
    fail_on_broken: Annotated[
        bool,
        typer.Option("--fail-on-broken", help="Exit with 1 when a decision that was right is not."),
    ] = False,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,  # noqa: ARG001  goes with every command; nothing is written here
    as_json: options.Json = False,
) -> None:
    """Ask two versions of a library the same questions, and show each decision that changes.

    Nothing is run. A change is fixed or broken where the question says what is expected.
    """
    versions = [options.configured_at(place, config) for place in (old, new)]
    chosen = [found.library_adapter(adapter) for found in versions]
    from server.evaluation.decision_log import adapters_of_log, read_decision_log
    from server.evaluation.diff import compare

    asked: list[Replayed] = []
    path = questions or _questions_beside(chosen)
    if path is not None:
        asked += _written(path, versions[1].environ)
    if log is not None:
        # A server writes the turns of all its adapters into one log.
        known = (each.name for each in reversed(chosen) if each.name in adapters_of_log(log))
        logged = read_decision_log(log, adapter or next(known, None))
        for note in logged.notes():
            say(f"{log}: {note}")
        written = {question.ask for question in asked}
        asked += [each for each in logged.questions if each.ask not in written]
    if not asked:
        fail(
            "there is no question to ask: write questions.yaml beside the domain, or name "
            "--questions or --log"
        )
    before, after = (_ask(found, one, asked) for found, one in zip(versions, chosen, strict=True))
    found_out: Diff = compare(asked, before, after)
    print_result(found_out.to_dict(), [found_out.to_text()], as_json=as_json)
    if fail_on_broken and found_out.counts["broken"]:
        raise typer.Exit(1)


def _questions_beside(chosen: "Sequence[AdapterSettings]") -> Path | None:
    folders = [each.config.domain_config_path.parent for each in reversed(chosen)]
    paths = (folder / f"{QUESTIONS}.yaml" for folder in folders)
    return next((path for path in paths if path.is_file()), None)


def _written(path: Path, environ: Mapping[str, str]) -> "Sequence[Replayed]":
    from server.evaluation.questions import load_questions

    found, problems = load_questions(path, None, environ)
    for problem in problems:
        say(str(problem))
    return found


def _ask(
    found: options.Configured, adapter: "AdapterSettings", asked: "Sequence[Replayed]"
) -> "Version":
    from server.evaluation.diff import ask_version
    from server.evaluation.rehearsals import open_rehearsals

    async def ask(settings_of: options.Configured) -> "Version":
        settings, environ = settings_of.settings, settings_of.environ
        async with open_rehearsals(settings, environ, adapter) as rehearsals:
            return await ask_version(rehearsals, asked)

    with TemporaryDirectory(prefix="orbit-diff-") as scratch:
        placed = found.with_data_dir(Path(scratch))
        return asyncio.run(ask(placed))
