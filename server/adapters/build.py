"""From an adapter's settings to an open adapter: the library is read, checked and indexed."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Final

from server.adapters.check import LoadedAdapter, egress_policy, load_adapter, without_broken
from server.adapters.composite import build_composite
from server.adapters.library_lock import basis_of, lock_problem
from server.adapters.models import call_mode, names_provider
from server.adapters.reformulator import build_reformulation_decider
from server.adapters.resources import SharedResources
from server.adapters.snapshots import Snapshots
from server.adapters.types import AdapterType
from server.chat.adapter import Adapter, Deciders
from server.core.ports import Decider, Embedder
from server.errors import ConfigurationInvalid, PluginInvalid, Problem
from server.extraction.data_questions.questions import DataQuestions
from server.extraction.extractor import Extractor
from server.guards.guard import Guard
from server.guards.options import guard_problems, options_of
from server.intents.classifier import IntentClassifier
from server.intents.detector import IntentDetector
from server.library.composed_sql import DATA_TEMPLATE
from server.library.model import Library
from server.library.templates import decision_digest
from server.llm.models import AdapterModels, build_llm_decider, build_models
from server.matching.matcher import Matcher
from server.retrievers.base import DeciderDependencies, decide_for_template
from server.retrievers.choice import least_confidence
from server.retrievers.courtesy import Following, with_courtesy
from server.retrievers.data_values import DataValuesDecider
from server.retrievers.followups.decider import FollowUpDecider
from server.retrievers.implementations.intent.agent import PackQuestionDecider
from server.retrievers.requests import write_objection
from server.retrievers.verifier import shipped_verifier
from server.settings.models import AdapterSettings
from server.text.language import everyday_sentences
from server.tools.executor import ToolExecutor
from server.tools.http.engine import HttpCalls
from server.tools.policy.chain import PolicyChain, build_chain
from server.tools.python import PythonCalls
from server.tools.sql.check import ask_database
from server.tools.sql.data_names import DataNames
from server.tools.sql.database import Database
from server.tools.sql.databases import open_database
from server.tools.sql.engine import SqlCalls, SqlLimits
from server.tools.sql.proven import ProvenSql
from server.tools.sql.schema import DatabaseSchema
from server.tools.sql.vocabulary import DatabaseValues, VocabularyLimits

_log = logging.getLogger(__name__)

_MOST_HARMLESS: Final = 300
"""Examples of a library that teach its guard which questions are harmless."""


async def build_adapter(
    adapter: AdapterSettings,
    resources: SharedResources,
    *,
    calibrated: bool = True,
    changed: Callable[[Library], Library] | None = None,
    snapshots: Snapshots | None = None,
    replaces: bool = False,
) -> Adapter:
    """Read, check and index an adapter's library, and put together what a turn needs.

    Without `calibrated`, what the library's own questions say of how sure to be is left out.
    `changed` gives another library in its place, to try something out. In `snapshots` its files
    are kept; what is kept there stands in for one that cannot be read, unless the adapter
    `replaces` an open one, which is better than that. May raise ConfigurationInvalid,
    ProviderError or IndexUnavailable.
    """
    if adapter.config.child_adapters:
        return await build_composite(adapter, resources)
    with _plugin_problems(adapter, "unknown-provider"):
        loaded = await _load(adapter, resources, snapshots, replaces=replaces)
        if changed is not None and loaded.library is not None:
            # What it was judged with is no longer its own.
            loaded = replace(loaded, library=changed(loaded.library), lock=None)
        built = await _build(adapter, resources, loaded, calibrated=calibrated)
    if snapshots is not None and not built.library.stand_ins:
        await asyncio.to_thread(snapshots.keep, adapter, loaded.texts)
    return built


async def _load(
    adapter: AdapterSettings,
    resources: SharedResources,
    snapshots: Snapshots | None,
    *,
    replaces: bool,
) -> LoadedAdapter:
    earlier = None
    if snapshots is not None and not replaces:
        earlier = await asyncio.to_thread(snapshots.of, adapter)
    settings, environ = resources.settings, resources.environ
    loaded = await asyncio.to_thread(load_adapter, adapter, environ, settings, earlier)
    if not loaded.usable or (replaces and loaded.unreadable):
        raise ConfigurationInvalid(loaded.problems)
    return loaded


@contextmanager
def _plugin_problems(adapter: AdapterSettings, kind: str) -> Iterator[None]:
    try:
        yield
    except PluginInvalid as invalid:
        problem = Problem(str(invalid), adapter.where, kind)
        raise ConfigurationInvalid([problem]) from None


async def _build(
    adapter: AdapterSettings, resources: SharedResources, loaded: LoadedAdapter, *, calibrated: bool
) -> Adapter:
    database = _open_database(adapter, loaded)
    try:
        return await _assemble(adapter, resources, loaded, database, calibrated=calibrated)
    except BaseException:
        if database is not None:
            await database.close()
        raise


async def _assemble(
    adapter: AdapterSettings,
    resources: SharedResources,
    loaded: LoadedAdapter,
    database: Database | None,
    *,
    calibrated: bool,
) -> Adapter:
    settings, config = resources.settings, adapter.config
    kind, library, registry = loaded.kind, loaded.library, loaded.registry
    if kind is None or library is None or registry is None:
        raise ConfigurationInvalid(loaded.problems)
    schema = None
    if database is not None:
        proven = ProvenSql(resources.heads_dir / f"{adapter.name}.sql")
        library, schema = await _fitting(library, database, adapter, loaded.problems, proven)
    embedder = resources.embedder(adapter.embedding_provider, adapter.embedding_model)
    extractor = Extractor(library.domain)
    matcher = await _open_matcher(adapter, library.matched, extractor, embedder, resources)
    data = None
    if library.domain.data is not None and DATA_TEMPLATE in library.templates:
        data = DataQuestions(library.domain.data)
    verifier = await asyncio.to_thread(shipped_verifier)
    calibration = loaded.calibration if calibrated else None
    if calibration is not None:
        verifier = calibration.applied(verifier)
    parts = DeciderDependencies(
        adapter=adapter.name,
        library=library,
        matcher=matcher,
        extractor=extractor,
        confidence_threshold=least_confidence(config, verifier, calibration),
        max_templates=config.max_templates,
        clarify_margin=settings.matching.clarify_margin,
        intent_tools=config.policy.intent_tools,
        data=data,
        verifier=verifier,
    )
    python = PythonCalls(loaded.functions)
    calls = partial(HttpCalls.of, egress=egress_policy(adapter), readers=resources.readers)
    http = await asyncio.to_thread(calls, library)
    sql = SqlCalls.of(library, database, _sql_limits(adapter))
    executor = ToolExecutor(registry, http=http, python=python, sql=sql)
    chain = build_chain(
        adapter.name,
        library,
        registry,
        executor,
        resources.guardrails,
        intent_tools=config.policy.intent_tools,
        system={
            **python.system,
            **(sql.system if sql is not None else {}),
            **(http.system if http is not None else {}),
        },
        exporter=executor if sql is not None else None,
    )
    values = None
    if database is not None and adapter.config.sql.vocabulary.enabled:
        limits = _vocabulary_limits(adapter)
        names = None
        if data is not None:
            names = DataNames(
                data.model, database, data.learn, limits.allows_column, limits.timeout_s
            )
        values = DatabaseValues(library, database, limits, extractor.learn_values, schema, names)
    asking = partial(_deciders, adapter, kind, loaded=loaded, chain=chain, resources=resources)
    decider = await asyncio.to_thread(_with_head, asking(parts), library, values)
    models = _build_models(adapter, library, loaded, resources)
    detects_by = embedder if config.intents_semantic else None
    pack = loaded.pack
    detect = IntentClassifier(IntentDetector(pack), detects_by).detect if pack else None
    # Last, since from then on operators' changes go to this guard.
    guard = await _open_guard(adapter, library, embedder, matcher, resources)
    for each in library.left_out:
        left_out = each.template or "a template", each.why
        _log.warning("adapter %s: %s is left out: %s", adapter.name, *left_out)
    for file in library.stand_ins:
        told = adapter.name, file.version, file.file, file.why
        _log.warning("adapter %s serves the version of %s of %s: %s", *told)
    details = _details(kind, library, embedder, matcher)
    matcher.when_learnt(lambda: details.update(matcher.stats()))
    if calibrated:
        details |= _lock_details(adapter, loaded, library, embedder)
    resources.metrics.index_size(adapter.name, matcher.stats()["vectors"])
    if values is not None:
        # After the index, so that what is learned of the library does not depend on its data.
        await values.open()
        details["values"] = values.state
    fingerprint = ""
    if resources.decision_log is not None:
        fingerprint = await asyncio.to_thread(decision_digest, library)
    return Adapter(
        name=adapter.name,
        library=library,
        decider=decider,
        chain=chain,
        tool_timeout_s=config.agent.tool_timeout,
        detect=detect,
        rate_limits=config.policy.rate_limit,
        verbose=config.agent.verbose,
        show_notes=config.agent.show_notes,
        metrics=resources.metrics,
        guard=guard,
        to_template=partial(decide_for_template, parts),
        limits=resources.guardrails.limits,
        resolve_adapter=resources.adapters.get if resources.adapters is not None else None,
        conversations=resources.conversation.store if resources.remembers else None,
        proposals=resources.conversation.proposals,
        inbox=resources.conversation.inbox if resources.remembers else None,
        downloads=resources.conversation.downloads if resources.remembers else None,
        usage=resources.usage,
        decision_log=resources.decision_log,
        fingerprint=fingerprint,
        csv=config.sql.csv,
        models=models,
        details=details,
        encoder=resources.watched(adapter.embedding_provider, adapter.embedding_model),
        index_name=matcher.index_name,
        matcher=matcher,
        at_threshold=partial(_at_threshold, parts, asking, values),
        questions_path=config.domain_config_path.parent / "questions.yaml",
    )


async def _open_matcher(
    adapter: AdapterSettings,
    library: Library,
    extractor: Extractor,
    embedder: Embedder,
    resources: SharedResources,
) -> Matcher:
    """Open the library's index, and make the extractor ready."""
    settings = resources.settings
    templates = tuple(library.templates.values())
    if len(templates) >= settings.matching.large_from:
        matcher = await Matcher.open_large(
            adapter.name,
            library,
            embedder,
            state_dir=resources.heads_dir,
            telling=extractor.telling_words_of,
            coordination=resources.coordination,
        )
        await asyncio.to_thread(extractor.prepare_large, library.templates, matcher.vocabulary)
        return matcher
    await asyncio.to_thread(extractor.prepare, templates)
    return await Matcher.open(
        adapter.name,
        library,
        embedder,
        resources.store,
        search=settings.matching.search,
        resident_max_vectors=settings.matching.resident_max_vectors,
        state_dir=resources.heads_dir,
        telling=extractor.telling_words(),
        coordination=resources.coordination,
    )


def _with_head(
    asking: Decider | FollowUpDecider, library: Library, values: DatabaseValues | None
) -> Deciders:
    """The deciders with those that stand before all others."""
    deciders: Following = asking
    if values is not None:
        deciders = DataValuesDecider(asking, library, values)
    return with_courtesy(deciders, library)


@asynccontextmanager
async def _at_threshold(
    parts: DeciderDependencies,
    asking: Callable[[DeciderDependencies], Decider | FollowUpDecider],
    values: DatabaseValues | None,
    threshold: float,
) -> AsyncIterator[Deciders]:
    changed = replace(parts, confidence_threshold=threshold)
    deciders = await asyncio.to_thread(asking, changed)
    try:
        yield await asyncio.to_thread(_with_head, deciders, parts.library, values)
    finally:
        await deciders.close()  # what knows the values of the data goes on with the adapter


def _open_database(adapter: AdapterSettings, loaded: LoadedAdapter) -> Database | None:
    library = loaded.library
    if library is None or all(each.kind != "sql" for each in library.templates.values()):
        return None  # nothing would ask it
    if loaded.database is None:
        return None
    return open_database(loaded.database, pool_size=adapter.config.sql.connections)


def _sql_limits(adapter: AdapterSettings) -> SqlLimits:
    sql = adapter.config.sql
    streams = max(1, sql.connections // 2)
    return SqlLimits(sql.max_rows, sql.max_bytes, sql.max_cell_chars, streams)


def _vocabulary_limits(adapter: AdapterSettings) -> VocabularyLimits:
    vocabulary = adapter.config.sql.vocabulary
    return VocabularyLimits(
        vocabulary.refresh_s,
        vocabulary.max_values,
        vocabulary.timeout_s,
        only=frozenset(map(str.lower, vocabulary.only)),
        never=frozenset(map(str.lower, vocabulary.never)),
    )


async def _fitting(
    library: Library,
    database: Database,
    adapter: AdapterSettings,
    known: Sequence[Problem],
    proven: ProvenSql,
) -> tuple[Library, DatabaseSchema | None]:
    """The library without templates that its database cannot answer, and the database's schema.

    A database that is down is asked when a question needs it.
    """
    problems, schema = await ask_database(library, database, proven=proven)
    for problem in problems:
        if not problem.is_error:
            _log.warning("adapter %s: %s", adapter.name, problem.what)
    fitting = without_broken(library, problems, [*known, *problems])
    if fitting is None:
        raise ConfigurationInvalid(problems)
    return fitting, schema


def _deciders(
    adapter: AdapterSettings,
    kind: AdapterType,
    parts: DeciderDependencies,
    *,
    loaded: LoadedAdapter,
    chain: PolicyChain,
    resources: SharedResources,
) -> Decider | FollowUpDecider:
    """Return the adapter's deciders in one chain, the last first: each asks the one before it."""
    model_of = resources.chat_model
    with _plugin_problems(adapter, "unknown-implementation"):
        decider = kind.build(parts)
    if loaded.prompts is not None and call_mode(adapter, resources.environ) == "llm_first":
        decider = build_llm_decider(
            adapter,
            parts.library,
            chain.open_to,
            loaded.prompts,
            model_of,
            decider,
            partial(write_objection, parts.extractor),
        )
    if loaded.reformulation is not None:
        decider = build_reformulation_decider(
            adapter,
            decider,
            parts,
            loaded.reformulation,
            loaded.pack,
            model_of,
            asks_model=names_provider(resources.settings, resources.environ),
        )
    if loaded.pack is not None:
        decider = PackQuestionDecider(decider)
    if loaded.reformulation is not None:
        # A reformulator reads the whole conversation itself; two readers would contradict.
        return decider
    return FollowUpDecider(decider, parts.library, parts.extractor)


def _build_models(
    adapter: AdapterSettings, library: Library, loaded: LoadedAdapter, resources: SharedResources
) -> AdapterModels | None:
    if loaded.prompts is None:
        return None
    models = build_models(adapter, library, loaded.prompts, resources.chat_model)
    if models is not None and loaded.reformulation is not None:
        # What a model read is proposed, never filled into a call that then simply runs.
        return replace(models, slot_filler=None)
    return models


async def _open_guard(
    adapter: AdapterSettings,
    library: Library,
    embedder: Embedder,
    matcher: Matcher,
    resources: SharedResources,
) -> Guard | None:
    settings, environ = resources.settings, resources.environ
    problems = guard_problems(adapter, library, settings, environ)
    if any(problem.is_error for problem in problems):
        raise ConfigurationInvalid(problems)
    # The library's own questions and small talk, which a guard has to let through.
    examples = [text for t in library.templates.values() for text in t.nl_examples]
    every = max(1, -(-len(examples) // _MOST_HARMLESS))
    response = library.domain.response
    languages = (response.default_language, *response.supported_languages)
    return await resources.guards.open(
        options_of(adapter, settings, environ),
        environ,
        embedder=embedder,
        readings=matcher.readings,
        harmless=[*everyday_sentences(languages, examples), *examples[::every]],
    )


def _details(
    kind: AdapterType, library: Library, embedder: Embedder, matcher: Matcher
) -> dict[str, Any]:
    left_out = [{"template": each.template, "why": each.why} for each in library.left_out]
    earlier = [asdict(each) for each in library.stand_ins]
    return {
        "kind": kind.label,
        "domain": library.domain.name,
        "domain_version": library.domain.version,
        "templates": len(library.templates),
        **({"left_out": left_out} if left_out else {}),
        **({"earlier": earlier} if earlier else {}),
        "embedder": embedder.name,
        **matcher.stats(),
    }


def _lock_details(
    adapter: AdapterSettings, loaded: LoadedAdapter, library: Library, embedder: Embedder
) -> dict[str, Any]:
    """Whether the library is what was judged, which is logged where it is not."""
    if loaded.lock is None:
        return {}
    config, fingerprint = adapter.config, embedder.fingerprint
    changes = loaded.lock.basis.changes(
        basis_of(library, config, loaded.calibration, encoder=fingerprint)
    )
    problem = lock_problem(config.domain_config_path, changes, f"--adapter {adapter.name}")
    if problem is not None:
        _log.warning("adapter %s: %s", adapter.name, problem.what)
    return {"lock": {"fits": not changes, "changed": changes}}
