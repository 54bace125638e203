"""An adapter with others behind it: what is checked of it, and how it is opened."""

import asyncio
from collections.abc import Iterator
from typing import Final

from server.adapters.resources import SharedResources
from server.adapters.types import AdapterType
from server.chat.adapter import Adapter
from server.conversation.followups.lexicon import shipped_lexicon
from server.core.sources import SourceName
from server.errors import ConfigurationInvalid, PluginInvalid, Problem
from server.library.model import Domain, Library
from server.retrievers.implementations.intent.composite import IntentCompositeRetriever
from server.settings.models import AdapterSettings
from server.tools.executor import ToolExecutor
from server.tools.policy.chain import build_chain
from server.tools.registry import ToolRegistry

_OF_THE_CHILDREN: Final = (
    "embedding_provider",
    "embedding_model",
    "inference_model_provider",
    "inference_model",
    "guards",
)


def composite_problems(adapter: AdapterSettings) -> Iterator[Problem]:
    """Yield what is wrong with the settings of an adapter that has others behind it.

    Whether these are there, `server.settings.loader` tells, which knows all adapters.
    """
    for name in _OF_THE_CHILDREN:
        if name in adapter.model_fields_set:
            what = f"{name!r} goes with the adapters that child_adapters names, not with this"
            yield Problem(what, adapter.where, "foreign-key")
    try:
        _type_of(adapter)
    except PluginInvalid as invalid:
        yield Problem(str(invalid), adapter.where, "unknown-implementation")


async def build_composite(adapter: AdapterSettings, resources: SharedResources) -> Adapter:
    """Open an adapter that asks others; it is open whether they are or not.

    Raises:
        ConfigurationInvalid: its settings are not those of such an adapter.
    """
    problems = list(composite_problems(adapter))
    if problems:
        raise ConfigurationInvalid(problems)
    # Read here, so that no question waits for the words of all languages.
    await asyncio.to_thread(shipped_lexicon)
    config, settings = adapter.config, resources.settings
    library = Library(Domain(adapter.name), {})
    registry = ToolRegistry.build()
    decider = _type_of(adapter)(
        clarify_margin=settings.matching.clarify_margin,
        aliases={child.adapter: child.aliases for child in config.child_adapters},
    )
    names = [child.adapter for child in config.child_adapters]
    return Adapter(
        name=adapter.name,
        library=library,
        decider=decider,
        chain=build_chain(
            adapter.name, library, registry, ToolExecutor(registry), resources.guardrails
        ),
        tool_timeout_s=config.agent.tool_timeout,
        rate_limits=config.policy.rate_limit,
        verbose=config.agent.verbose,
        metrics=resources.metrics,
        resolve_adapter=resources.adapters.get if resources.adapters is not None else None,
        composite=decider,
        sources=tuple(
            SourceName(child.adapter, child.label or child.adapter)
            for child in config.child_adapters
        ),
        conversations=resources.conversation.store if resources.remembers else None,
        proposals=resources.conversation.proposals,
        inbox=resources.conversation.inbox if resources.remembers else None,
        downloads=resources.conversation.downloads if resources.remembers else None,
        usage=resources.usage,
        decision_log=resources.decision_log,
        details={"kind": AdapterType.of(adapter).label, "child_adapters": names},
    )


def _type_of(adapter: AdapterSettings) -> type[IntentCompositeRetriever]:
    found = AdapterType.of(adapter).decider
    if isinstance(found, type) and issubclass(found, IntentCompositeRetriever):
        return found
    how = "write implementation: retrievers.implementations.intent.IntentCompositeRetriever"
    raise PluginInvalid(f"{adapter.implementation!r} does not ask child_adapters; {how}")
