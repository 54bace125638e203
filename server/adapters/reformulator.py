"""An adapter's reformulator, which proposes what a conversation asks for."""

import logging
from collections.abc import Mapping
from typing import Final

from server.adapters.models import names_provider
from server.conversation.reformulation.loader import load_reformulation, reformulation_problems
from server.conversation.reformulation.mentions import Read
from server.conversation.reformulation.model import Reformulation
from server.conversation.reformulation.reformulator import Reformulator
from server.core.ports import Decider
from server.core.turn import Intent
from server.errors import Problem, ProviderUnavailable
from server.intents.detector import IntentDetector
from server.intents.pack import Pack
from server.library.model import Library
from server.llm.models import ModelOf, function_model_of, names_function_model
from server.retrievers.base import DeciderDependencies
from server.retrievers.reformulation import ReformulationDecider
from server.settings.models import AdapterSettings, Settings

_log = logging.getLogger(__name__)

_NO_READER: Final = (
    "nothing reads conversations for the reformulator; name a rule pack with intents, or a model "
    "with inference_model_provider"
)


def load_adapter_reformulation(
    adapter: AdapterSettings,
    library: Library | None,
    pack: Pack | None,
    environ: Mapping[str, str],
    settings: Settings | None = None,
) -> tuple[Reformulation | None, list[Problem]]:
    """Return what the adapter's `reformulator` names, if anything, and its problems."""
    config = adapter.config
    if config.reformulator is None:
        return None, []
    loaded = load_reformulation(config.reformulator, environ)
    problems = list(loaded.problems)
    pack_is_broken = pack is None and config.intents is not None
    if loaded.reformulation is not None and library is not None and not pack_is_broken:
        entities = None if pack is None else [entity.name for entity in pack.entities]
        problems += reformulation_problems(loaded.reformulation, library, entities)
    has_model = names_function_model(adapter) or names_provider(settings, environ)
    if config.intents is None and not has_model:
        problems.append(Problem(_NO_READER, adapter.where, "no-reader", "warning"))
    return loaded.reformulation, problems


def build_reformulation_decider(
    adapter: AdapterSettings,
    other: Decider,
    parts: DeciderDependencies,
    reformulation: Reformulation,
    pack: Pack | None,
    model_of: ModelOf,
    *,
    asks_model: bool,
) -> Decider:
    """Return what proposes what conversations ask for; rules alone read them without a model.

    `asks_model` says that settings or environment name a provider for all adapters. May raise
    PluginInvalid.
    """
    model = None
    if asks_model or names_function_model(adapter):
        try:
            model = function_model_of(adapter, model_of)
        except ProviderUnavailable as lacking:
            _log.warning("adapter %s reads conversations by rules alone: %s", adapter.name, lacking)
    read = None if pack is None else intent_reader(pack)
    return ReformulationDecider(other, parts, Reformulator(reformulation, read=read, model=model))


def intent_reader(pack: Pack) -> Read:
    """Return what reads texts by the rules of `pack`, with the places of what they name."""
    detector = IntentDetector(pack)

    def read(text: str) -> Intent:
        detection = detector.detect(text)
        return detection.intent._replace(places=detection.places(text))

    return read
