"""An adapter's reformulator: from its settings to what an open adapter reads conversations with."""

import logging
from collections.abc import Mapping
from typing import Final

from server.conversation.reformulation.loader import load_reformulation, reformulation_problems
from server.conversation.reformulation.mentions import Read
from server.conversation.reformulation.model import Reformulation
from server.conversation.reformulation.reformulator import Reformulator
from server.core.ports import ChatModel, Decider
from server.core.turn import Intent
from server.errors import Problem, ProviderUnavailable
from server.intents.detector import IntentDetector
from server.intents.pack import Pack
from server.library.model import Library
from server.llm.models import ModelOf, function_model_of, names_function_model
from server.retrievers.base import DeciderDependencies
from server.retrievers.reformulation import ReformulationDecider
from server.settings.adapters import AdapterSettings

_log = logging.getLogger(__name__)

_NO_READER: Final = (
    "nothing reads conversations for the reformulator; name a rule pack with intents, or a model "
    "with inference_model_provider"
)


def read_reformulation(
    adapter: AdapterSettings,
    library: Library | None,
    pack: Pack | None,
    environ: Mapping[str, str],
) -> tuple[Reformulation | None, list[Problem]]:
    """What the adapter's `reformulator` names, if anything, and all that is wrong with it.

    A library or a pack that cannot be used has problems of its own, and is not judged against.
    """
    config = adapter.config
    path = config.reformulator
    if path is None:
        return None, []
    loaded = load_reformulation(path, environ)
    problems = list(loaded.problems)
    unread = pack is None and config.intents is not None
    if loaded.reformulation is not None and library is not None and not unread:
        entities = None if pack is None else [entity.name for entity in pack.entities]
        problems += reformulation_problems(loaded.reformulation, library, entities)
    if config.intents is None and not names_function_model(adapter):
        problems.append(Problem(_NO_READER, adapter.where, "no-reader", "warning"))
    return loaded.reformulation, problems


def reformulating(
    other: Decider,
    parts: DeciderDependencies,
    reformulation: Reformulation,
    pack: Pack | None,
    model: ChatModel | None,
) -> Decider:
    """A retriever that proposes what conversations ask for, and leaves the rest to `other`."""
    read = None if pack is None else reading_by(pack)
    return ReformulationDecider(other, parts, Reformulator(reformulation, read=read, model=model))


def model_for(adapter: AdapterSettings, model_of: ModelOf) -> ChatModel | None:
    """The model that reads what rules leave open: the function model, else the inference model.

    None when the adapter names neither, or what the provider needs is not installed: then
    the rules alone have the word.

    Raises:
        PluginInvalid: there is no such provider.
    """
    if not names_function_model(adapter):
        return None
    try:
        return function_model_of(adapter, model_of)
    except ProviderUnavailable as lacking:
        _log.warning("adapter %s reads conversations by rules alone: %s", adapter.name, lacking)
        return None


def reading_by(pack: Pack) -> Read:
    """Texts read by the rules of `pack`, with the places of what they name."""
    detector = IntentDetector(pack)

    def read(text: str) -> Intent:
        detection = detector.detect(text)
        return detection.intent._replace(places=detection.places(text))

    return read
