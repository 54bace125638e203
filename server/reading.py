"""From an adapter's settings to its library, with everything that is known against it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from server import plugins
from server.core.problems import Problem
from server.errors import PluginInvalid
from server.extraction.extractor import Extractor
from server.extraction.lint import example_problems
from server.intents.pack import Pack
from server.library.loading import load_library
from server.library.model import Library
from server.packs import Reader, declaration_problems, read_pack
from server.policies import cage_of, settings_problems
from server.settings.models import AdapterSettings, Settings
from server.tools.catalogue import template_problems
from server.tools.http.hosts import host_problems
from server.tools.python.functions import Function, find_functions
from server.tools.registry import ToolRegistry
from server.voices import read_prompts

if TYPE_CHECKING:
    from server.chat.speaking.prompting import Prompts
    from server.conversation.reformulation.model import Reformulation


@dataclass(frozen=True, slots=True)
class ReadLibrary:
    """A library with everything that is known against it, short of opening it.

    `library` and `registry` are None when they could not be made at all; `pack` and
    `reformulation` also when the adapter names none.
    """

    library: Library | None
    registry: ToolRegistry | None
    problems: tuple[Problem, ...]
    functions: Mapping[str, Function] = field(default_factory=dict)
    pack: Pack | None = None
    reformulation: "Reformulation | None" = None
    prompts: "Prompts | None" = None
    """What the adapter's models are told, where it has any."""
    extractor: Extractor | None = None

    @property
    def usable(self) -> bool:
        return self.library is not None and not any(
            problem.severity == "error" for problem in self.problems
        )


def read_library(
    adapter: AdapterSettings,
    tools: Mapping[str, str],
    environ: Mapping[str, str],
    settings: Settings | None = None,
    *,
    errors_only: bool = False,
) -> ReadLibrary:
    """Read an adapter's domain and templates, and judge them against tools and extraction.

    Without the whole `settings`, what depends on them is not judged: roles, and the
    modules that Python templates may name. With `errors_only` examples are not looked
    through for what is merely worth a warning, which a server has no use for.
    """
    loaded = load_library(
        adapter.config.domain_config_path, adapter.config.template_library_path, environ
    )
    library, problems = loaded.library, list(loaded.problems)
    prompts, amiss = read_prompts(adapter, environ, settings)
    problems += amiss
    pack, amiss = read_pack(adapter, environ)
    problems += amiss
    reformulation = None
    if adapter.config.reformulator is not None:
        from server.reformulating import read_reformulation  # few adapters need it

        reformulation, amiss = read_reformulation(adapter, library, pack, environ)
        problems += amiss
    date_order = library.domain.date_order if library else "mdy"
    try:
        registry = ToolRegistry.build(tools, date_order=date_order)
    except PluginInvalid as invalid:
        problems.append(Problem(f"tools: {invalid}", adapter.where, "unknown-tool"))
        return ReadLibrary(library, None, tuple(problems))
    retriever = None
    try:
        retriever = plugins.resolve("retriever", adapter.implementation)
    except PluginInvalid as invalid:
        problems.append(Problem(str(invalid), adapter.where, "unknown-implementation"))
    if loaded.readable is not None:
        problems += _foreign_templates(loaded.readable, retriever)
        problems += template_problems(loaded.readable, registry)
    extractor = None
    if library is not None:
        extractor = Extractor(library.domain)
        reader = Reader(pack)
        problems += example_problems(library, extractor, reader, errors_only=errors_only)
        if pack is not None or adapter.config.intents is None:
            problems += declaration_problems(library, pack, reader)
    if library is None or settings is None:
        return ReadLibrary(
            library,
            registry,
            tuple(problems),
            pack=pack,
            reformulation=reformulation,
            prompts=prompts,
            extractor=extractor,
        )
    python_tools = settings.python_tools
    functions, wrong = find_functions(library, python_tools.modules, python_tools.paths)
    problems += host_problems(library, cage_of(adapter))
    problems += settings_problems(adapter, library, pack, settings)
    return ReadLibrary(
        library,
        registry,
        (*problems, *wrong),
        functions,
        pack,
        reformulation,
        prompts,
        extractor,
    )


def _foreign_templates(library: Library, retriever: Any) -> list[Problem]:
    """Templates of a kind that the retriever does not answer; one that names no kinds takes all."""
    kinds = getattr(retriever, "template_kinds", None)
    if kinds is None:
        return []
    return [
        Problem(
            f"{template.id!r} is a {template.kind} template, which {retriever.__name__} does not "
            f"answer; it answers {' and '.join(sorted(kinds))} templates",
            template.where,
            "foreign-template",
        )
        for template in library.templates.values()
        if template.kind not in kinds
    ]
