"""From an adapter's settings to an open adapter: the library is read, judged and indexed."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from server import plugins
from server.access.audit.opening import open_sink
from server.access.audit.trail import Trail
from server.access.folders import make_private
from server.access.limits import RateLimits
from server.chat.adapter import Adapter
from server.chat.compose import Composer
from server.core.ports import Embedder, Retriever
from server.core.problems import Problem
from server.errors import ConfigurationInvalid, PluginInvalid
from server.extraction.extractor import Extractor
from server.extraction.lint import example_problems
from server.intents.pack import Pack
from server.library.loading import load_library
from server.library.model import Library
from server.matching.matcher import Matcher
from server.matching.store import TemplateStore
from server.policies import cage_of, detect_with, read_policy
from server.providers.embeddings.factory import build_embedder
from server.retrievers.base import RetrieverParts
from server.settings.models import AdapterSettings, Settings
from server.tools.catalogue import template_problems
from server.tools.executor import ToolExecutor
from server.tools.http.calls import HttpCalls
from server.tools.http.hosts import host_problems
from server.tools.policy.assembly import Guardrails, build_chain
from server.tools.python.calls import PythonCalls
from server.tools.python.functions import Function, find_functions
from server.tools.registry import ToolRegistry


class Workshop:
    """What adapters share: an encoder for each provider and model, and one vector store."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self.settings = settings
        self.environ = environ
        make_private(settings.data_dir)
        self.store = TemplateStore(settings.vector_store, settings.data_dir)
        self._embedders: dict[tuple[str, str | None], Embedder] = {}
        self._guardrails: Guardrails | None = None
        self._making = Lock()

    def guardrails(self) -> Guardrails:
        """Rate limits, audit and roles, made on first use. Blocks.

        Raises:
            StoreUnavailable: what counts or what is written to cannot be used.
            ConfigurationInvalid: the secret of the installation cannot be used.
        """
        with self._making:
            if self._guardrails is None:
                access = self.settings.access
                opened = open_sink(self.settings)
                trail = Trail(opened[0]) if opened is not None else None
                storage = access.rate_limits.storage
                limits = RateLimits(
                    storage.get_secret_value() if storage else None, access.rate_limits.window
                )
                self._guardrails = Guardrails(limits, trail, access)
            return self._guardrails

    def embedder(self, provider: str, model: str | None) -> Embedder:
        """The encoder of that name, made on first use.

        Raises:
            ProviderUnavailable, PluginInvalid: there is no such provider, or it lacks
                something that has to be installed.
        """
        key = (provider, model)
        if key not in self._embedders:
            self._embedders[key] = build_embedder(provider, model, self.settings.embeddings)
        return self._embedders[key]

    async def close(self) -> None:
        await asyncio.gather(*(embedder.close() for embedder in self._embedders.values()))
        await self.store.close()
        if self._guardrails is not None:
            await self._guardrails.close()


@dataclass(frozen=True, slots=True)
class ReadLibrary:
    """A library with everything that is known against it, short of opening it.

    `library` and `registry` are None when they could not be made at all.
    """

    library: Library | None
    registry: ToolRegistry | None
    problems: tuple[Problem, ...]
    functions: Mapping[str, Function] = field(default_factory=dict)
    pack: Pack | None = None

    @property
    def usable(self) -> bool:
        return self.library is not None and not any(
            problem.severity == "error" for problem in self.problems
        )


def unused_models(adapter: AdapterSettings) -> list[Problem]:
    """A warning for each model that is named but speaks in no answer of this version."""
    agent = adapter.config.agent
    named = []
    if agent.synthesize_response and (adapter.inference_model_provider or adapter.inference_model):
        named.append("inference_model: answers are composed from templates")
    if agent.function_model_provider or agent.function_model:
        named.append("agent.function_model: arguments are read from the question alone")
    return [
        Problem(
            f"{what}; this version calls no chat model", adapter.where, "model-unused", "warning"
        )
        for what in named
    ]


def read_library(
    adapter: AdapterSettings,
    tools: Mapping[str, str],
    environ: Mapping[str, str],
    settings: Settings | None = None,
) -> ReadLibrary:
    """Read an adapter's domain and templates, and judge them against tools and extraction.

    Without the whole `settings`, what depends on them is not judged: roles, and the
    modules that Python templates may name.
    """
    loaded = load_library(
        adapter.config.domain_config_path, adapter.config.template_library_path, environ
    )
    library, problems = loaded.library, [*loaded.problems, *unused_models(adapter)]
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
    if library is not None:
        problems += _foreign_templates(library, retriever)
        problems += template_problems(library, registry)
        problems += example_problems(library, Extractor(library.domain))
    if library is None or settings is None:
        return ReadLibrary(library, registry, tuple(problems))
    python_tools = settings.python_tools
    functions, wrong = find_functions(library, python_tools.modules, python_tools.paths)
    problems += host_problems(library, cage_of(adapter))
    pack, amiss = read_policy(adapter, library, settings, environ)
    return ReadLibrary(library, registry, (*problems, *wrong, *amiss), functions, pack)


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


async def open_adapter(adapter: AdapterSettings, workshop: Workshop) -> Adapter:
    """Read, judge and index an adapter's library, and put what a turn needs together.

    Raises:
        ConfigurationInvalid: the library or the adapter's classes cannot be used.
        ProviderError: its templates could not be embedded.
        IndexUnavailable: the vector store cannot be reached.
    """
    settings = workshop.settings
    read = await asyncio.to_thread(
        read_library, adapter, settings.tools, workshop.environ, settings
    )
    library, registry = read.library, read.registry
    if not read.usable or library is None or registry is None:
        raise ConfigurationInvalid(read.problems)
    matching = workshop.settings.matching
    embedder = workshop.embedder(adapter.embedding_provider, adapter.embedding_model)
    matcher = await Matcher.open(
        adapter.name,
        library,
        embedder,
        workshop.store,
        search=matching.search,
        resident_max_vectors=matching.resident_max_vectors,
        state_dir=workshop.settings.data_dir / "heads",
    )
    parts = RetrieverParts(
        adapter=adapter.name,
        library=library,
        matcher=matcher,
        extractor=Extractor(library.domain),
        confidence_threshold=adapter.config.confidence_threshold,
        max_templates=adapter.config.max_templates,
        clarify_margin=matching.clarify_margin,
        intent_tools=adapter.config.policy.intent_tools,
    )
    guardrails = await asyncio.to_thread(workshop.guardrails)
    policy = adapter.config.policy
    python = PythonCalls(read.functions)
    cage = cage_of(adapter)
    chain = build_chain(
        adapter.name,
        library,
        registry,
        ToolExecutor(registry, http=HttpCalls.of(library, cage=cage), python=python),
        guardrails,
        intent_tools=policy.intent_tools,
        system=python.system,
    )
    return Adapter(
        name=adapter.name,
        library=library,
        retriever=_retriever(adapter, parts),
        chain=chain,
        composer=Composer(library),
        tool_timeout_s=adapter.config.agent.tool_timeout,
        detect=detect_with(read.pack) if read.pack is not None else None,
        rate_limits=policy.rate_limit,
        verbose=adapter.config.agent.verbose,
        details=_details(adapter, library, embedder, matcher),
    )


def _retriever(adapter: AdapterSettings, parts: RetrieverParts) -> Retriever:
    made = plugins.resolve("retriever", adapter.implementation)(parts)
    if not isinstance(made, Retriever):
        what = f"{adapter.implementation!r} is no retriever: it needs `decide` and `close`"
        raise ConfigurationInvalid([Problem(what, adapter.where, "unknown-implementation")])
    return made


def _details(
    adapter: AdapterSettings, library: Library, embedder: Embedder, matcher: Matcher
) -> dict[str, Any]:
    return {
        "kind": f"{adapter.type}/{adapter.datasource}/{adapter.adapter}",
        "domain": library.domain.name,
        "domain_version": library.domain.version,
        "templates": len(library.templates),
        "embedder": embedder.name,
        **matcher.stats(),
    }
