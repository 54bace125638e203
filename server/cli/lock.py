"""`lock`: what a library was judged with, and how well it did, written down beside it."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from server.adapters.library_folder import QUESTIONS
from server.cli import options
from server.cli.output import fail, print_result, say

if TYPE_CHECKING:
    from server.evaluation.lock import Judged


def lock(
    place: options.Place = None,
    adapter: options.Adapter = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; exit with 1 when the lock does not fit."),
    ] = False,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Ask a library its questions, and write down with what and how well it answers them.

    No tool is run. `check` and `start` say when the library is no longer what was locked. With
    --check, the exit code is 1 when it is not, when a figure is worse, and when there is no lock.
    """
    found = options.configured_at(place, config, data=data)
    chosen = found.library_adapter(adapter)
    domain = chosen.config.domain_config_path
    from server.adapters.library_lock import lock_path, read_lock
    from server.evaluation.lock import judge_library, write_lock
    from server.evaluation.trial import LibraryTrial

    path = domain.parent / f"{QUESTIONS}.yaml"
    trial = LibraryTrial(found.settings, found.environ, chosen, path)
    if not check:
        judged = asyncio.run(judge_library(trial))
        written = write_lock(judged.lock, domain)
        _print(judged, [f"Written to {written}"], as_json=as_json)
        return
    known = read_lock(domain)
    if known.problem is not None:
        fail(str(known.problem))
    if known.lock is None:
        fail(f"there is no {lock_path(domain)}; run lock without --check to write it")
    judged = asyncio.run(judge_library(trial))
    amiss = [
        f"{what} changed since it was locked"
        for what in known.lock.basis.changes(judged.lock.basis)
    ]
    amiss += judged.fallen(known.lock)
    _print(judged, [] if amiss else ["The lock fits"], as_json=as_json)
    for line in amiss:
        say(line)
    if amiss:
        raise typer.Exit(1)


def _print(judged: "Judged", lines: list[str], *, as_json: bool) -> None:
    for problem in judged.measured.problems:
        say(str(problem))
    figures = {name: "–" if v is None else f"{v:.3f}" for name, v in judged.lock.figures.items()}
    shown = [f"{'questions':<18} {judged.lock.asked:>7}"]
    shown += [f"{name:<18} {value:>7}" for name, value in figures.items()]
    print_result(judged.lock.model_dump(mode="json"), [*shown, *lines], as_json=as_json)
