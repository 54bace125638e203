"""Everything that is wrong with one adapter and its files, short of asking its examples."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from server.adapters.check import LoadedAdapter, load_adapter
from server.adapters.composite import composite_problems
from server.adapters.intents import PackReader
from server.adapters.library_folder import QUESTIONS, question_files, template_files
from server.adapters.library_lock import basis_of, lock_problem
from server.errors import Problem
from server.evaluation.example_check import example_problems
from server.evaluation.questions import load_questions, questions_digest
from server.evaluation.suggestions import suggestions
from server.extraction.extractor import Extractor
from server.guards.options import guard_problems
from server.library.model import Library
from server.settings.documents import read_yaml
from server.settings.models import AdapterSettings, Settings
from server.tools.sql.check import ask_database
from server.tools.sql.database import Database
from server.tools.sql.databases import open_database


class CheckedAdapter(NamedTuple):
    """What is wrong with an adapter; `askable` is it, where nothing keeps it from being asked."""

    problems: list[Problem]
    askable: LoadedAdapter | None = None


def check_adapter(
    adapter: AdapterSettings,
    environ: Mapping[str, str],
    settings: Settings | None = None,
    *,
    suggests: bool = True,
) -> CheckedAdapter:
    """Check settings, domain, templates, packs and questions, and templates with their database.

    Without `settings`, the adapter is checked as one that stands alone. Whether it `suggests`
    counter examples as well is most of the work. Blocks, and needs a thread without an event loop.
    """
    if adapter.config.child_adapters:
        return CheckedAdapter(list(composite_problems(adapter)))
    read, askable = load_adapter(adapter, environ, settings), None
    problems = list(read.problems)
    if read.library is not None and read.database is not None:
        problems += asyncio.run(_asked_and_closed(read.library, open_database(read.database)))
    if read.library is not None:
        extractor = Extractor(read.library.domain)
        problems += example_problems(read.library, extractor, PackReader(read.pack))
        if not any(problem.is_error for problem in problems):
            problems += suggestions(read.library, extractor) if suggests else []
            askable = read
        problems += _lock_problems(adapter, read, environ, named_by(adapter, settings))
    if settings is not None:
        problems += guard_problems(adapter, read.library, settings, environ)
    # Which templates there are is only known when all of them can be read.
    known = read.library.written if read.library else None
    folder = adapter.config.domain_config_path.parent
    if known is not None:
        known |= _template_ids_in(folder, environ)
    for path in question_files(folder):
        problems += load_questions(path, known, environ)[1]
    return CheckedAdapter(problems, askable)


def named_by(adapter: AdapterSettings, settings: Settings | None) -> str:
    """How other commands are told of an adapter, or of the library of a folder."""
    folder = adapter.config.domain_config_path.parent
    return str(folder) if settings is None else f"--adapter {adapter.name}"


async def _asked_and_closed(library: Library, database: Database) -> list[Problem]:
    try:
        return (await ask_database(library, database)).problems
    finally:
        await database.close()


def _lock_problems(
    adapter: AdapterSettings, read: LoadedAdapter, environ: Mapping[str, str], which: str
) -> list[Problem]:
    """Return what is not as it was judged any more, but for the encoder, which is not loaded."""
    if read.lock is None or read.library is None:
        return []
    path = adapter.config.domain_config_path
    asked, _ = load_questions(path.parent / f"{QUESTIONS}.yaml", read.library.templates, environ)
    digest = questions_digest(asked)
    now = basis_of(read.library, adapter.config, read.calibration, questions=digest)
    problem = lock_problem(path, read.lock.basis.changes(now), which)
    return [problem] if problem else []


def _template_ids_in(folder: Path, environ: Mapping[str, str]) -> frozenset[str]:
    """The ids in all template files of a folder: questions may be about more than is loaded."""
    found: set[str] = set()
    for path in template_files(folder, environ):
        data = read_yaml(path, environ, top=(dict, list)).data
        entries = data.get("templates") if isinstance(data, dict) else data
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and isinstance(entry.get("id"), str):
                found.add(entry["id"])
    return frozenset(found)
