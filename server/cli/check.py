"""`check`: everything that is wrong with what an author wrote, at once."""

import asyncio
import os
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from server.adapters.library_folder import (
    DOMAIN,
    adapters_of,
    library_adapter,
    project_around,
    template_files,
)
from server.cli import options
from server.cli.output import print_result, say
from server.core.installation import refuse_shipped
from server.errors import Location, Problem
from server.settings.adapters import AdapterSettings
from server.settings.documents import read_yaml
from server.settings.fields import expand
from server.settings.loader import load_settings, root_of, with_env_file
from server.settings.models import Settings

if TYPE_CHECKING:
    from server.adapters.check import LoadedAdapter
    from server.library.model import Library


def check(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PATH]",
            help="A configuration, a folder with a domain.yaml, or one of its files.",
        ),
    ] = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,  # noqa: ARG001  goes with every command; nothing is written here
    quick: Annotated[
        bool, typer.Option("--quick", help="Ask no examples, which is most of the work.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Count examples that fail as errors, not as warnings.")
    ] = False,
    fix: Annotated[
        bool,
        typer.Option("--fix", help="Mend in the files what is certain, and say what was changed."),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Find every problem of configuration and libraries, each as `what @ file:line`.

    Every example is asked while it is left out: what is not understood then would not be
    understood from others either. The exit code is 1 when there is an error; warnings alone
    leave it at 0.
    """
    if path is None:
        options.say_if_example(config)
    found: list[Checked] = []
    problems = list(dict.fromkeys(check_path(path or config, found)))
    for _ in range(_MOST_ROUNDS if fix else 0):
        if not fix_files(problems):
            break
        found.clear()
        problems = list(dict.fromkeys(check_path(path or config, found)))
    if not quick and not any(problem.is_error for problem in problems):
        problems += dict.fromkeys(asyncio.run(ask_all(found, strict=strict)))
    print_result([asdict(problem) for problem in problems], map(str, problems), as_json=as_json)
    errors = sum(problem.is_error for problem in problems)
    counted = [(errors, "error"), (len(problems) - errors, "warning")]
    summary = ", ".join(f"{n} {name}{'s' * (n != 1)}" for n, name in counted if n)
    say(f"{path or config}: {summary or 'no problems'}")
    if errors:
        raise typer.Exit(1)


_MOST_ROUNDS: Final = 5
"""A mended file may show what it hid: so often it is looked at again."""
_KINDS: Final = {
    "templates": "templates",
    "domain": "domain",
    "domain_name": "domain",
    "categories": "guards",
    "questions": "questions",
}
"""What a file is, by a key at its top."""


class Checked(NamedTuple):
    """An adapter without errors, whose examples can be asked."""

    adapter: AdapterSettings
    loaded: "LoadedAdapter"
    library: "Library"
    environ: Mapping[str, str]
    settings: Settings | None


def check_path(path: Path, checked: list[Checked] | None = None) -> list[Problem]:
    """Return every problem of a configuration, a library folder, or one file of a library.

    What can be asked is put into `checked`; nothing is asked here.
    """
    checked = [] if checked is None else checked
    if path.is_dir():
        for config in (path / "config" / "config.yaml", path / "config.yaml"):
            if config.is_file():
                return check_configuration(config, checked)
        return check_library_folder(path, checked)
    if not path.exists():
        return [Problem("there is no such file or folder", Location(str(path)), "not-found")]
    environ, problems = _environ(path)
    match _kind_of(path, environ):
        case "templates":
            return problems + _check_library(path.parent, [path], environ, checked)
        case "domain":
            files = template_files(path.parent, environ)
            return problems + _check_library(path.parent, files, environ, checked)
        case "guards":
            from server.guards.pack import load_guards

            return problems + list(load_guards([path], environ).problems)
        case "questions":
            from server.evaluation.questions import load_questions

            return problems + list(load_questions(path, None, environ)[1])
        case _:
            return check_configuration(path, checked)


def fix_files(problems: Sequence[Problem]) -> bool:
    """Write into the files what mends problems, say so, and return whether there was anything."""
    from server.settings.fixes import apply_fixes, described

    by_file: dict[str, list[Problem]] = {}
    for problem in problems:
        if problem.fix is not None:
            by_file.setdefault(problem.where.file, []).append(problem)
    changed = False
    for file, found in by_file.items():
        raw = Path(file).read_bytes()
        mark = BOM_UTF8 if raw.startswith(BOM_UTF8) else b""
        text, mended = apply_fixes(raw.removeprefix(mark).decode(), found)
        if mended:
            refuse_shipped(Path(file))
            Path(file).write_bytes(mark + text.encode())
            changed = True
        for problem in mended:
            if problem.fix is not None:
                say(f"fixed: {described(problem.fix)} @ {problem.where}")
    return changed


def check_configuration(config: Path, checked: list[Checked] | None = None) -> list[Problem]:
    """Return the problems of settings, and of the library and questions of enabled adapters."""
    loaded = load_settings(config, os.environ)
    problems = list(loaded.problems)
    for adapter in loaded.settings.adapters if loaded.settings is not None else ():
        if adapter.enabled:
            problems += _check_adapter(adapter, loaded.environ, loaded.settings, checked)
    return problems


def check_library_folder(folder: Path, checked: list[Checked] | None = None) -> list[Problem]:
    """Return the problems of a `domain.yaml` and the template and question files beside it."""
    environ, problems = _environ(folder / DOMAIN)
    return problems + _check_library(folder, template_files(folder, environ), environ, checked)


def _check_library(
    folder: Path,
    templates: list[Path],
    environ: Mapping[str, str],
    checked: list[Checked] | None = None,
) -> list[Problem]:
    domain = folder / DOMAIN
    if not domain.is_file():
        what = f"holds no {DOMAIN}, so there is no library to check"
        return [Problem(what, Location(str(folder)), "not-found")]
    if not templates:
        what = "holds no template file: one whose top is `templates:`"
        return [Problem(what, Location(str(folder)), "empty-library")]
    around = project_around(folder)
    project = load_settings(around, os.environ) if around is not None else None
    if project is not None and project.settings is not None:
        own = adapters_of(folder, project.settings)
        if own:
            # Its tools, its rule pack and its thresholds belong to it.
            return [
                problem
                for adapter in own
                for problem in _check_adapter(
                    _with_templates(adapter, templates), project.environ, project.settings, checked
                )
            ]
    return _check_adapter(library_adapter(folder, templates), environ, None, checked)


def _with_templates(adapter: AdapterSettings, templates: list[Path]) -> AdapterSettings:
    """The adapter with those of its templates alone that stand in some files."""
    named = {path.absolute() for path in templates}
    own = adapter.config.template_library_path
    files = [file for path in own for file in expand(path) if file in named] or templates
    config = adapter.config.model_copy(update={"template_library_path": tuple(files)})
    return adapter.model_copy(update={"config": config, "enabled": True})


async def ask_all(found: Sequence[Checked], *, strict: bool) -> list[Problem]:
    """Ask the examples of each adapter, and return what is said of those that fail."""
    from server.adapters.library_lock import lock_problem
    from server.evaluation.asked_examples import ask_examples
    from server.evaluation.example_report import KINDS, problems_of, summary
    from server.evaluation.library_check import named_by
    from server.evaluation.rehearsals import open_rehearsals

    problems: list[Problem] = []
    for one in found:
        with TemporaryDirectory(prefix="orbit-check-") as scratch:
            settings = (one.settings or Settings()).model_copy(update={"data_dir": Path(scratch)})
            async with open_rehearsals(settings, one.environ, one.adapter) as rehearsals:
                asked = await ask_examples(one.library, rehearsals)
                encoder = rehearsals.encoder.fingerprint
        say(f"{one.adapter.name}: {summary(asked)}")
        problems += problems_of(one.library, asked)
        locked = one.loaded.lock
        if locked is not None and locked.basis.encoder != encoder:
            path = one.adapter.config.domain_config_path
            changed = lock_problem(path, ["the encoder"], named_by(one.adapter, one.settings))
            problems += [changed] if changed else []
    failing = frozenset(KINDS.values()) if strict else frozenset[str]()
    return [replace(p, severity="error") if p.kind in failing else p for p in problems]


def _check_adapter(
    adapter: AdapterSettings,
    environ: Mapping[str, str],
    settings: Settings | None = None,
    checked: list[Checked] | None = None,
) -> list[Problem]:
    from server.evaluation.library_check import check_adapter  # too much to import for `--help`

    found = check_adapter(adapter, environ, settings)
    if checked is not None and found.askable is not None and found.askable.library is not None:
        loaded, library = found.askable, found.askable.library
        checked.append(Checked(adapter, loaded, library, environ, settings))
    return found.problems


def _kind_of(path: Path, environ: Mapping[str, str]) -> str:
    data = read_yaml(path, environ, top=(dict, list)).data
    if not isinstance(data, dict):
        return "configuration"
    return next((kind for key, kind in _KINDS.items() if key in data), "configuration")


def _environ(path: Path) -> tuple[Mapping[str, str], list[Problem]]:
    environ, problems = with_env_file(root_of(path) / ".env", os.environ)
    return environ, list(problems)
