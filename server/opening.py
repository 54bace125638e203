"""From an adapter's settings to an open adapter: the library is read, judged and indexed."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from server import plugins
from server.access.folders import make_private
from server.chat.adapter import Adapter
from server.chat.compose import Composer
from server.core.ports import Embedder, Retriever
from server.core.problems import Problem
from server.errors import ConfigurationInvalid, PluginInvalid
from server.extraction.extractor import Extractor
from server.extraction.lint import example_problems
from server.intents.opening import Detect, detection_by
from server.intents.pack import Pack
from server.library.loading import load_library
from server.library.model import Library
from server.matching.matcher import Matcher
from server.matching.store import TemplateStore
from server.packs import Reader, declaration_problems, read_pack
from server.providers.embeddings.factory import build_embedder
from server.retrievers.base import RetrieverParts
from server.settings.models import AdapterSettings, Settings
from server.tools.catalogue import template_problems
from server.tools.executor import ToolExecutor
from server.tools.http.calls import HttpCalls
from server.tools.registry import ToolRegistry


class Workshop:
    """What adapters share: an encoder for each provider and model, and one vector store."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self.settings = settings
        self.environ = environ
        make_private(settings.data_dir)
        self.store = TemplateStore(settings.vector_store, settings.data_dir)
        self._embedders: dict[tuple[str, str | None], Embedder] = {}

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


@dataclass(frozen=True, slots=True)
class ReadLibrary:
    """A library with everything that is known against it, short of opening it.

    `library` and `registry` are None when they could not be made at all; `pack` also when
    the adapter names none.
    """

    library: Library | None
    registry: ToolRegistry | None
    problems: tuple[Problem, ...]
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
    adapter: AdapterSettings, tools: Mapping[str, str], environ: Mapping[str, str]
) -> ReadLibrary:
    """Read an adapter's domain and templates, and judge them against tools and extraction."""
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
    return ReadLibrary(library, registry, tuple(problems), pack)


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
    read = await asyncio.to_thread(read_library, adapter, workshop.settings.tools, workshop.environ)
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
    )
    return Adapter(
        name=adapter.name,
        library=library,
        retriever=_retriever(adapter, parts),
        executor=ToolExecutor(registry, http=HttpCalls.of(library)),
        composer=Composer(library),
        tool_timeout_s=adapter.config.agent.tool_timeout,
        verbose=adapter.config.agent.verbose,
        detect=_detect(adapter, read.pack, embedder),
        details=_details(adapter, library, embedder, matcher),
    )


def _detect(adapter: AdapterSettings, pack: Pack | None, embedder: Embedder) -> Detect | None:
    if pack is None:
        return None
    return detection_by(pack, embedder if adapter.config.intents_semantic else None)


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
