"""An adapter's reformulator: from its settings to what an open adapter reads conversations with."""

from collections.abc import Mapping
from dataclasses import replace

from server.conversation.reformulation.loading import load_reformulation, reformulation_problems
from server.conversation.reformulation.mentions import Read
from server.conversation.reformulation.model import Reformulation
from server.core.intent import Intent
from server.core.problems import Problem
from server.intents.detector import Detector
from server.intents.pack import Pack
from server.library.model import Library
from server.settings.adapters import AdapterSettings


def read_reformulation(
    adapter: AdapterSettings, library: Library | None, pack: Pack | None, environ: Mapping[str, str]
) -> tuple[Reformulation | None, list[Problem]]:
    """What `config.reformulator` names, if anything, and all that is wrong with it.

    A library or a pack that cannot be used has problems of its own, and is not judged against.
    """
    path = adapter.config.reformulator
    if path is None:
        return None, []
    loaded = load_reformulation(path, environ)
    problems = list(loaded.problems)
    unread = pack is None and adapter.config.intents is not None
    if loaded.reformulation is not None and library is not None and not unread:
        entities = None if pack is None else [entity.name for entity in pack.entities]
        problems += reformulation_problems(loaded.reformulation, library, entities, adapter.where)
    return loaded.reformulation, problems


def reading_by(pack: Pack) -> Read:
    """Texts read by the rules of `pack`, with the places of what they name."""
    detector = Detector(pack)

    def read(text: str) -> Intent:
        detection = detector.detect(text)
        return replace(detection.intent, places=detection.places(text))

    return read
