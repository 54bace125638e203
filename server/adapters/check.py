"""From an adapter's settings to its library, with everything that is known against it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from server import plugins
from server.adapters.intents import IntentReader, declaration_problems, read_pack
from server.adapters.models import read_prompts
from server.core.suggestions import did_you_mean
from server.errors import PluginInvalid, Problem
from server.intents.pack import Pack
from server.library.loader import load_library, templates_left_out
from server.library.model import Library
from server.settings.models import AdapterSettings, Settings
from server.tools.http.egress import EgressPolicy, host_problems
from server.tools.python import Function, find_functions
from server.tools.registry import ToolRegistry
from server.tools.template_lint import (
    intent_tools_problems,
    role_problems,
    template_problems,
)

if TYPE_CHECKING:
    from server.conversation.reformulation.model import Reformulation
    from server.llm.prompts import Prompts


def settings_problems(
    adapter: AdapterSettings, library: Library, pack: Pack | None
) -> list[Problem]:
    """What is wrong with an adapter's policy; `pack` is its rule pack, if that can be used."""
    policy = adapter.config.policy
    problems = intent_tools_problems(library, policy.intent_tools or {}, adapter.where)
    if adapter.config.intents is None and policy.intent_tools is not None:
        what = "intent_tools needs a rule pack that detects the intents; name one with intents"
        problems.append(Problem(what, adapter.where, "intent-pack-missing"))
    if pack is not None:
        for intent in policy.intent_tools or ():
            if intent not in pack.intents:
                what = f"intent_tools: unknown intent {intent!r}; "
                what += did_you_mean(intent, list(pack.intents))
                problems.append(Problem(what, adapter.where, "unknown-intent"))
    return problems


def egress_policy(adapter: AdapterSettings) -> EgressPolicy:
    """Where the adapter's calls over HTTP may go."""
    http = adapter.config.http
    return EgressPolicy(
        frozenset(host.lower() for host in http.allowed_hosts),
        frozenset(host.lower() for host in http.private_hosts),
    )


@dataclass(frozen=True, slots=True)
class LoadedAdapter:
    """A library with everything that is known against it, short of opening it.

    `library` has the templates that can be used; it is None when there are none. It and
    `registry` are None when they could not be made at all; `pack` and `reformulation` also
    when the adapter names none.
    """

    library: Library | None
    registry: ToolRegistry | None
    problems: tuple[Problem, ...]
    functions: Mapping[str, Function] = field(default_factory=dict)
    pack: Pack | None = None
    reformulation: "Reformulation | None" = None
    prompts: "Prompts | None" = None
    """What the adapter's models are told, where it has any."""

    @property
    def usable(self) -> bool:
        """Whether nothing is wrong that is not the matter of a template alone."""
        return self.library is not None and not any(
            problem.is_error and problem.template is None for problem in self.problems
        )


def load_adapter(
    adapter: AdapterSettings,
    tools: Mapping[str, str],
    environ: Mapping[str, str],
    settings: Settings | None = None,
) -> LoadedAdapter:
    """Read an adapter's domain and templates, and judge them against tools and extraction.

    Without the whole `settings`, what depends on them is not judged: roles, and the
    modules that Python templates may name. Examples are judged by
    `server.evaluation.example_check`, which a server has no use for.
    """
    loaded = load_library(
        adapter.config.domain_config_path, adapter.config.template_library_path, environ
    )
    problems = list(loaded.problems)
    prompts, amiss = read_prompts(adapter, environ, settings)
    problems += amiss
    pack, amiss = read_pack(adapter, environ)
    problems += amiss
    date_order = loaded.readable.domain.date_order if loaded.readable else "mdy"
    registry = None
    try:
        registry = ToolRegistry.build(tools, date_order=date_order)
    except PluginInvalid as invalid:
        problems.append(Problem(f"tools: {invalid}", adapter.where, "unknown-tool"))
    retriever = None
    try:
        retriever = plugins.resolve("retriever", adapter.implementation)
    except PluginInvalid as invalid:
        problems.append(Problem(str(invalid), adapter.where, "unknown-implementation"))
    judged: list[Problem] = []
    if loaded.readable is not None:
        judged += _foreign_templates(loaded.readable, retriever)
        if registry is not None:
            judged += template_problems(loaded.readable, registry)
    library, reader = loaded.library, IntentReader(pack)
    functions: Mapping[str, Function] = {}
    if library is not None and (pack is not None or adapter.config.intents is None):
        judged += declaration_problems(library, pack, reader)
    if library is not None and settings is not None:
        python_tools = settings.python_tools
        functions, wrong = find_functions(library, python_tools.modules, python_tools.paths)
        judged += wrong
        judged += host_problems(library, egress_policy(adapter))
        judged += role_problems(library, settings.access.roles.names)
    problems += judged
    if library is not None:
        library = _without_broken(library, judged, problems)
    if library is not None and settings is not None:
        problems += settings_problems(adapter, library, pack)
    reformulation = None
    if adapter.config.reformulator is not None:
        from server.adapters.reformulator import read_reformulation  # few adapters need it

        reformulation, amiss = read_reformulation(adapter, library, pack, environ)
        problems += amiss
    return LoadedAdapter(
        library, registry, tuple(problems), functions, pack, reformulation, prompts
    )


def _without_broken(
    library: Library, judged: Sequence[Problem], problems: Sequence[Problem]
) -> Library | None:
    """The library without the templates that were judged to have errors; None if all have.

    `problems` are all that are known, and say why templates are left out.
    """
    broken = {problem.template for problem in judged if problem.is_error}
    kept = {name: template for name, template in library.templates.items() if name not in broken}
    return Library(library.domain, kept, templates_left_out(problems)) if kept else None


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
            template=template.id,
        )
        for template in library.templates.values()
        if template.kind not in kinds
    ]
