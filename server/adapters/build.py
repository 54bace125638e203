"""From an adapter's settings to an open adapter: the library is read, judged and indexed."""

import asyncio
import logging
from dataclasses import replace
from functools import partial
from typing import Any, Final

from server import plugins
from server.adapters.check import LoadedAdapter, egress_policy, load_adapter
from server.adapters.models import adapter_models, retriever_of
from server.adapters.resources import SharedResources
from server.chat.adapter import Adapter
from server.core.ports import Decider, Embedder
from server.errors import ConfigurationInvalid, Problem
from server.extraction.extractor import Extractor
from server.guards.guard import Guard
from server.guards.options import guard_problems, options_of
from server.intents.classifier import Detect, IntentClassifier
from server.intents.detector import IntentDetector
from server.intents.pack import Pack
from server.library.model import Library
from server.matching.matcher import Matcher
from server.retrievers.base import DeciderDependencies, decide_for_template
from server.retrievers.followups.decider import FollowUpDecider
from server.retrievers.implementations.intent.agent import PackQuestionDecider
from server.settings.models import AdapterSettings
from server.text.language import everyday_sentences
from server.tools.executor import ToolExecutor
from server.tools.http.engine import HttpCalls
from server.tools.policy.chain import PolicyChain, build_chain
from server.tools.python import PythonCalls

_log = logging.getLogger(__name__)

_HARMLESS: Final = 300
"""Examples of a library that teach its guard what nobody has to be kept from."""


async def build_adapter(adapter: AdapterSettings, workshop: SharedResources) -> Adapter:
    """Read, judge and index an adapter's library, and put what a turn needs together.

    Raises:
        ConfigurationInvalid: the library or the adapter's classes cannot be used.
        ProviderError: its templates could not be embedded.
        IndexUnavailable: the vector store cannot be reached.
    """
    settings = workshop.settings
    read = await asyncio.to_thread(
        load_adapter, adapter, settings.tools, workshop.environ, settings
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
    parts = DeciderDependencies(
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
    conversing = await asyncio.to_thread(workshop.conversing)
    policy = adapter.config.policy
    python = PythonCalls(read.functions)
    egress = egress_policy(adapter)
    chain = build_chain(
        adapter.name,
        library,
        registry,
        ToolExecutor(registry, http=HttpCalls.of(library, egress=egress), python=python),
        guardrails,
        intent_tools=policy.intent_tools,
        system=python.system,
    )
    decider = _deciders(adapter, parts, read, chain, workshop)
    models = adapter_models(adapter, library, read.prompts, workshop.chat_model)
    if models is not None and read.reformulation is not None:
        # What a model read is proposed, never filled into a call that then simply runs.
        models = replace(models, slot_filler=None)
    # Last, since from then on operators' changes go to this guard.
    guard = await _guard(adapter, library, embedder, matcher, workshop)
    for each in library.left_out:
        name = each.template or "a template"
        _log.warning("adapter %s: %s is left out: %s", adapter.name, name, each.why)
    workshop.metrics.index_size(adapter.name, matcher.stats()["vectors"])
    return Adapter(
        name=adapter.name,
        library=library,
        decider=decider,
        chain=chain,
        tool_timeout_s=adapter.config.agent.tool_timeout,
        detect=_detect(adapter, read.pack, embedder),
        rate_limits=policy.rate_limit,
        verbose=adapter.config.agent.verbose,
        metrics=workshop.metrics,
        guard=guard,
        to_template=partial(decide_for_template, parts),
        resolve_adapter=workshop.resolve_adapter,
        conversations=conversing.store if workshop.remembers else None,
        proposals=conversing.proposals,
        models=models,
        details=_details(adapter, library, embedder, matcher),
    )


def _detect(adapter: AdapterSettings, pack: Pack | None, embedder: Embedder) -> Detect | None:
    if pack is None:
        return None
    by_meaning = adapter.config.intents_semantic
    return IntentClassifier(IntentDetector(pack), embedder if by_meaning else None).detect


async def _guard(
    adapter: AdapterSettings,
    library: Library,
    embedder: Embedder,
    matcher: Matcher,
    workshop: SharedResources,
) -> Guard | None:
    examples = [text for t in library.templates.values() for text in t.nl_examples]
    settings = workshop.settings
    problems = guard_problems(adapter, library, settings, workshop.environ)
    if any(problem.is_error for problem in problems):
        raise ConfigurationInvalid(problems)
    # The library's own questions and small talk: what a guard has to leave alone.
    every = max(1, -(-len(examples) // _HARMLESS))
    spoken = library.domain.response
    small_talk = everyday_sentences(
        (spoken.default_language, *spoken.supported_languages), examples
    )
    return await workshop.guards.open(
        options_of(adapter, settings, workshop.environ),
        workshop.environ,
        embedder=embedder,
        readings=matcher.readings,
        harmless=[*small_talk, *examples[::every]],
    )


def _deciders(
    adapter: AdapterSettings,
    parts: DeciderDependencies,
    read: LoadedAdapter,
    chain: PolicyChain,
    workshop: SharedResources,
) -> Decider | FollowUpDecider:
    """The adapter's deciders in one chain, the last first: each asks the one made before it.

    Follow-ups, reformulation, what the rule pack asks back, a model's proposal, and the
    adapter's own implementation.
    """
    made = plugins.resolve("retriever", adapter.implementation)(parts)
    if not isinstance(made, Decider):
        what = f"{adapter.implementation!r} is no retriever: it needs `decide` and `close`"
        raise ConfigurationInvalid([Problem(what, adapter.where, "unknown-implementation")])
    model_of = workshop.chat_model
    decider = retriever_of(
        adapter, parts.library, chain, read.prompts, model_of, made, workshop.environ
    )
    if read.reformulation is not None:
        from server.adapters.reformulator import model_for, reformulating  # few adapters need it

        model = model_for(adapter, model_of)
        decider = reformulating(decider, parts, read.reformulation, read.pack, model)
    if read.pack is not None:
        decider = PackQuestionDecider(decider)
    if read.reformulation is not None:
        # A reformulator reads the whole conversation itself; two readers would contradict.
        return decider
    return FollowUpDecider(decider, parts.library, parts.extractor)


def _details(
    adapter: AdapterSettings, library: Library, embedder: Embedder, matcher: Matcher
) -> dict[str, Any]:
    left_out = [{"template": each.template, "why": each.why} for each in library.left_out]
    return {
        "kind": f"{adapter.type}/{adapter.datasource}/{adapter.adapter}",
        "domain": library.domain.name,
        "domain_version": library.domain.version,
        "templates": len(library.templates),
        **({"left_out": left_out} if left_out else {}),
        "embedder": embedder.name,
        **matcher.stats(),
    }
