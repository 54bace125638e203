"""From an adapter's settings to an open adapter: the library is read, judged and indexed."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, Final

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
from server.guards.guard import Guard
from server.guards.keeper import GuardKeeper
from server.guards.opening import guard_problems, options_of
from server.intents.opening import Detect, detection_by
from server.intents.pack import Pack
from server.library.loading import load_library
from server.library.model import Library
from server.matching.background import background
from server.matching.matcher import Matcher
from server.matching.store import TemplateStore
from server.metrics.embedding import MeteredEmbedder
from server.metrics.metrics import Metrics
from server.packs import Reader, declaration_problems, read_pack
from server.policies import cage_of, settings_problems
from server.providers.embeddings.factory import build_embedder
from server.retrievers.base import RetrieverParts
from server.retrievers.directed import decide_for
from server.settings.models import AdapterSettings, Settings
from server.tools.catalogue import template_problems
from server.tools.executor import ToolExecutor
from server.tools.http.calls import HttpCalls
from server.tools.http.hosts import host_problems
from server.tools.policy.assembly import Guardrails, build_chain
from server.tools.python.calls import PythonCalls
from server.tools.python.functions import Function, find_functions
from server.tools.registry import ToolRegistry

_HARMLESS: Final = 300
"""Examples of a library that teach its guard what nobody has to be kept from."""


class Workshop:
    """What adapters share: an encoder for each provider and model, and one vector store."""

    def __init__(
        self, settings: Settings, environ: Mapping[str, str], metrics: Metrics | None = None
    ) -> None:
        self.settings = settings
        self.environ = environ
        make_private(settings.data_dir)
        self.metrics = metrics or Metrics()
        self.store = TemplateStore(settings.vector_store, settings.data_dir)
        self.guards = GuardKeeper(settings.database_url, settings.data_dir / "guards", self.metrics)
        self.elsewhere: Callable[[str], Adapter] | None = None
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
            self._embedders[key] = build_embedder(
                provider,
                model,
                self.settings.embeddings,
                metered=lambda made: MeteredEmbedder(made, self.metrics),
            )
        return self._embedders[key]

    async def close(self) -> None:
        await self.guards.close()
        await asyncio.gather(*(embedder.close() for embedder in self._embedders.values()))
        await self.store.close()
        if self._guardrails is not None:
            await self._guardrails.close()


@dataclass(frozen=True, slots=True)
class ReadLibrary:
    """A library with everything that is known against it, short of opening it.

    `library` and `registry` are None when they could not be made at all; `pack` also when
    the adapter names none.
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
    pack, amiss = read_pack(adapter, environ)
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
    if library is not None:
        problems += _foreign_templates(library, retriever)
        problems += template_problems(library, registry)
        reader = Reader(pack)
        problems += example_problems(library, Extractor(library.domain), reader)
        if pack is not None or adapter.config.intents is None:
            problems += declaration_problems(library, pack, reader)
    if library is None or settings is None:
        return ReadLibrary(library, registry, tuple(problems), pack=pack)
    python_tools = settings.python_tools
    functions, wrong = find_functions(library, python_tools.modules, python_tools.paths)
    problems += host_problems(library, cage_of(adapter))
    problems += settings_problems(adapter, library, pack, settings, environ)
    return ReadLibrary(library, registry, (*problems, *wrong), functions, pack)


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
    guard = await _guard(adapter, library, embedder, matcher, workshop)
    workshop.metrics.index_size(adapter.name, matcher.stats()["vectors"])
    return Adapter(
        name=adapter.name,
        library=library,
        retriever=_retriever(adapter, parts),
        chain=chain,
        composer=Composer(library),
        tool_timeout_s=adapter.config.agent.tool_timeout,
        detect=_detect(adapter, read.pack, embedder),
        rate_limits=policy.rate_limit,
        verbose=adapter.config.agent.verbose,
        metrics=workshop.metrics,
        guard=guard,
        to_template=partial(decide_for, parts),
        elsewhere=workshop.elsewhere,
        details=_details(adapter, library, embedder, matcher),
    )


def _detect(adapter: AdapterSettings, pack: Pack | None, embedder: Embedder) -> Detect | None:
    if pack is None:
        return None
    return detection_by(pack, embedder if adapter.config.intents_semantic else None)


async def _guard(
    adapter: AdapterSettings,
    library: Library,
    embedder: Embedder,
    matcher: Matcher,
    workshop: Workshop,
) -> Guard | None:
    examples = [text for t in library.templates.values() for text in t.nl_examples]
    settings = workshop.settings
    problems = guard_problems(adapter, library, settings, workshop.environ)
    if any(problem.severity == "error" for problem in problems):
        raise ConfigurationInvalid(problems)
    # The library's own questions and small talk: what a guard has to leave alone.
    every = max(1, -(-len(examples) // _HARMLESS))
    spoken = library.domain.response
    small_talk = background((spoken.default_language, *spoken.supported_languages), examples)
    return await workshop.guards.open(
        options_of(adapter, settings, workshop.environ),
        workshop.environ,
        embedder=embedder,
        readings=matcher.readings,
        harmless=[*small_talk, *examples[::every]],
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
