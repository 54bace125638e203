"""Packs, opened once, and questions with what they mean."""

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from server.intents.compiler import load_pack
from server.intents.detector import IntentDetector
from server.intents.pack import LoadedPack
from server.settings.documents import read_yaml

PACKS = Path(__file__).parents[2] / "examples" / "intent-packs"
QUESTIONS = Path(__file__).parent / "questions"
DECISIONS = PACKS / "gov-decisions-he"
STUDY = PACKS / "study-assistant"
BOOKINGS = QUESTIONS / "bookings"

NOW = datetime.fromisoformat("2025-03-12T10:00:00+00:00")
"""A Wednesday."""


@cache
def detector(pack: Path) -> IntentDetector:
    loaded = load_pack(pack, {})
    assert loaded.pack is not None, "\n".join(map(str, loaded.problems))
    assert loaded.problems == ()
    return IntentDetector(loaded.pack)


def result(pack: Path, question: Any) -> dict[str, Any]:
    return dict(detector(pack).detect(question, NOW).result)


def entities(pack: Path, question: str) -> dict[str, Any]:
    return dict(detector(pack).detect(question, NOW).intent.entities)


@cache
def questions(name: str) -> tuple[dict[str, Any], ...]:
    document = read_yaml(QUESTIONS / f"{name}.yaml", {})
    assert document.problems == ()
    return tuple(document.data["questions"])


def pack_of(folder: Path, text: str) -> LoadedPack:
    """The pack that `text` makes, written into `folder`."""
    file = folder / "pack.yaml"
    file.write_text(text, encoding="utf-8")
    return load_pack(folder, {})
