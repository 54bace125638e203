"""From an adapter's settings to its library, with every problem that is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from server.adapters.intents import PackReader, intent_tool_problems, load_adapter_pack
from server.adapters.library_lock import LibraryLock, read_lock
from server.adapters.models import load_adapter_prompts
from server.adapters.reformulator import load_adapter_reformulation
from server.adapters.types import AdapterType
from server.conversation.reformulation.model import Reformulation
from server.core.installation import command
from server.errors import Location, PluginInvalid, Problem
from server.intents.pack import Pack
from server.library.earlier import EarlierTexts
from server.library.http_model import parse_endpoint
from server.library.loader import load_library, templates_left_out
from server.library.model import Library
from server.library.placeholders import PlaceholderInvalid
from server.library.templates import library_digest
from server.llm.prompts import Prompts
from server.retrievers.calibration import (
    Calibration,
    calibration_path,
    read_calibration,
    verifier_digest,
)
from server.retrievers.verifier import shipped_verifier
from server.settings.documents import shown_path
from server.settings.models import AdapterSettings, Settings
from server.tools.http.egress import EgressPolicy, host_problems
from server.tools.python import Function, find_functions
from server.tools.registry import ToolRegistry
from server.tools.sql.address import AddressInvalid, DatabaseAddress, read_address
from server.tools.sql.check import sql_problems
from server.tools.sql.databases import check_driver
from server.tools.template_lint import role_problems, template_problems


@dataclass(frozen=True, slots=True)
class LoadedAdapter:
    """What an adapter's settings name, read and checked, short of opening it.

    Parts are None when they cannot be used, and some when the adapter names none. `library`
    has the templates that can be used; `texts` are the files of domain and templates that could
    be read.
    """

    problems: tuple[Problem, ...]
    kind: AdapterType | None = None
    library: Library | None = None
    registry: ToolRegistry | None = None
    functions: Mapping[str, Function] = field(default_factory=dict)
    pack: Pack | None = None
    prompts: Prompts | None = None
    reformulation: Reformulation | None = None
    calibration: Calibration | None = None
    texts: Mapping[Path, bytes] = field(default_factory=dict, repr=False)
    unreadable: tuple[Problem, ...] = ()
    database: DatabaseAddress | None = None
    """What its SQL asks."""
    lock: LibraryLock | None = None
    """What the library was judged with, if somebody locked it."""

    @property
    def usable(self) -> bool:
        """Whether no error concerns more than single templates."""
        return self.library is not None and not any(
            problem.is_error and problem.template is None for problem in self.problems
        )


def egress_policy(adapter: AdapterSettings) -> EgressPolicy:
    http = adapter.config.http
    allowed, private = (
        frozenset(map(str.lower, hosts)) for hosts in (http.allowed_hosts, http.private_hosts)
    )
    return EgressPolicy(allowed, private)


def load_adapter(
    adapter: AdapterSettings,
    environ: Mapping[str, str],
    settings: Settings | None = None,
    earlier: EarlierTexts | None = None,
) -> LoadedAdapter:
    """Read an adapter's domain and templates, and check them against tools and extraction.

    `earlier` texts may stand in for files of them that cannot be read.
    Without `settings`, roles and the modules of Python templates are not checked. Examples
    are checked by `server.evaluation.example_check`, which a server has no use for.
    """
    config = adapter.config
    base_url, base_url_problems = _base_url(adapter)
    loaded = load_library(
        config.domain_config_path,
        config.template_library_path,
        environ,
        base_url=base_url,
        earlier=earlier,
    )
    prompts, prompt_problems = load_adapter_prompts(adapter, environ, settings)
    pack, intent_problems = load_adapter_pack(adapter, environ)
    problems = [*base_url_problems, *loaded.problems, *prompt_problems, *intent_problems]
    registry = kind = None
    date_order = loaded.readable.domain.date_order if loaded.readable else "mdy"
    try:
        registry = ToolRegistry.build(settings.tools if settings else {}, date_order=date_order)
    except PluginInvalid as invalid:
        problems.append(Problem(f"tools: {invalid}", adapter.where, "unknown-tool"))
    try:
        kind = AdapterType.of(adapter)
    except PluginInvalid as invalid:
        problems.append(Problem(str(invalid), adapter.where, "unknown-implementation"))

    of_templates: list[Problem] = []
    if loaded.readable is not None and kind is not None:
        of_templates += kind.template_problems(loaded.readable)
    if loaded.readable is not None and registry is not None:
        of_templates += template_problems(loaded.readable, registry)
    library = loaded.library
    functions: Mapping[str, Function] = {}
    if library is not None and (pack is not None or config.intents is None):
        of_templates += PackReader(pack).template_problems(library)
    if library is not None and settings is not None:
        python_tools = settings.python_tools
        functions, wrong = find_functions(library, python_tools.modules, python_tools.paths)
        of_templates += wrong
        of_templates += host_problems(library, egress_policy(adapter))
        of_templates += role_problems(library, settings.access.roles.names)
    database, of_database = _database(adapter, kind, library if settings is not None else None)
    problems += of_database
    if library is not None and not of_database:
        of_templates += sql_problems(library, database.kind if database is not None else None)
    problems += of_templates
    if library is not None:
        library = without_broken(library, of_templates, problems)
    if library is not None and settings is not None:
        problems += intent_tool_problems(adapter, library, pack)
    reformulation, amiss = load_adapter_reformulation(adapter, library, pack, environ, settings)
    calibration, unfit = _calibration(adapter, library, settings)
    locked = read_lock(config.domain_config_path)
    unfit = (*unfit, *([locked.problem] if locked.problem else ()))
    return LoadedAdapter(
        problems=(*problems, *amiss, *unfit),
        kind=kind,
        library=library,
        registry=registry,
        functions=functions,
        pack=pack,
        prompts=prompts,
        reformulation=reformulation,
        calibration=calibration,
        texts=loaded.texts,
        unreadable=loaded.unreadable,
        database=database,
        lock=locked.lock,
    )


def _database(
    adapter: AdapterSettings, kind: AdapterType | None, library: Library | None
) -> tuple[DatabaseAddress | None, Sequence[Problem]]:
    """What the SQL of an adapter's templates asks; a problem where that is nothing."""
    written = adapter.database or adapter.config.database
    if written is None:
        asking = [t for t in library.templates.values() if t.kind == "sql"] if library else []
        if not asking:
            return None, ()
        what = (
            f"{asking[0].id!r} asks a database, and the adapter names none; write "
            "database: PATH, or a URL such as postgresql://HOST/DATABASE"
        )
        return None, [Problem(what, adapter.where, "no-database")]
    try:
        address = read_address(written, adapter.datasource, kind.datasource if kind else "")
        check_driver(address)
    except AddressInvalid as invalid:
        return None, [Problem(f"database: {invalid}", adapter.where, "bad-database")]
    return address, ()


def _base_url(adapter: AdapterSettings) -> tuple[str, Sequence[Problem]]:
    base_url = adapter.config.http.base_url.strip()
    try:
        if base_url:
            parse_endpoint(base_url)
    except PlaceholderInvalid as invalid:
        return "", [Problem(f"http.base_url: {invalid}", adapter.where, "bad-endpoint")]
    return base_url, ()


def _calibration(
    adapter: AdapterSettings, library: Library | None, settings: Settings | None
) -> tuple[Calibration | None, Sequence[Problem]]:
    """The calibration beside the domain, and whether it is broken or of something else."""
    domain = adapter.config.domain_config_path
    found = read_calibration(domain)
    if found.problem is not None:
        return None, (found.problem,)
    calibration = found.calibration
    if calibration is None or library is None:
        return calibration, ()
    if calibration.library != library_digest(library):
        changed = "the library has changed"
    elif calibration.verifier != verifier_digest(shipped_verifier()):
        changed = "the server weighs matches differently"
    else:
        return calibration, ()
    which = f"--adapter {adapter.name}" if settings else "--domain D --templates T"
    again = f"{command('eval', '--calibrate')} {which}"
    what = f"{changed} since it was calibrated; run: {again}"
    where = Location(shown_path(calibration_path(domain)))
    return calibration, (Problem(what, where, "old-calibration", "warning"),)


def without_broken(
    library: Library, of_templates: Sequence[Problem], problems: Sequence[Problem]
) -> Library | None:
    """Return the library without templates that have errors; `problems` say why. None if all."""
    broken = {problem.template for problem in of_templates if problem.is_error}
    kept = {name: template for name, template in library.templates.items() if name not in broken}
    left_out = templates_left_out(problems)
    return replace(library, templates=kept, left_out=left_out) if kept else None
