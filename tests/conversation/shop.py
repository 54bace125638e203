"""The shipped shop: its reformulator, its rule pack, and models that say what they are told."""

from functools import cache
from pathlib import Path
from typing import Any

from server.adapters.reformulator import intent_reader
from server.conversation.reformulation.loader import load_reformulation
from server.conversation.reformulation.mentions import Read
from server.conversation.reformulation.model import Reformulation
from server.intents.compiler import load_pack

RETAIL = Path(__file__).parents[2] / "examples" / "intent-templates" / "retail"

History = list[dict[str, str]]


@cache
def reformulation() -> Reformulation:
    loaded = load_reformulation(RETAIL / "reformulator.yaml", {})
    assert loaded.problems == ()
    assert loaded.reformulation is not None
    return loaded.reformulation


@cache
def rules() -> Read:
    loaded = load_pack(RETAIL / "pack.yaml", {})
    assert loaded.problems == ()
    assert loaded.pack is not None
    return intent_reader(loaded.pack)


def said(*texts: str) -> History:
    """A conversation, the customer first and in turns."""
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]


def proposed(intent: str, target: str | None) -> dict[str, Any]:
    return {"status": "PROPOSED", "intent": intent, "target": target}


AMBIGUOUS = {"status": "AMBIGUOUS", "intent": None, "target": None}
