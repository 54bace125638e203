"""Detecting without the rest of the command line: what is asked plainly is answered at once.

Importing Typer takes as long as a pack takes to be compiled, so a command line that says
no more than question, pack, time and `--json` is read here. Everything else (help, a
mistake, a pack with problems) is left to the command itself, which knows how to say so.
"""

import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from server.intents.result import Detection


class Asked(NamedTuple):
    question: str
    pack: Path
    now: datetime | None = None
    json: bool = False


def answered(words: Sequence[str]) -> bool:
    """Print what `detect` with these words prints; False when that is not for here."""
    asked = asked_plainly(words)
    if asked is None:
        return False
    from server.intents.detector import Detector
    from server.intents.loading import load_pack

    loaded = load_pack(asked.pack, os.environ)
    if loaded.pack is None or loaded.problems:
        return False
    detection = Detector(loaded.pack).detect(asked.question, asked.now)
    try:
        sys.stdout.write((as_json if asked.json else in_words)(detection) + "\n")
        sys.stdout.flush()
    except (UnicodeEncodeError, BrokenPipeError):
        return False
    return True


def asked_plainly(words: Sequence[str]) -> Asked | None:
    """What is asked, or None when the words are not plain."""
    question, pack, now, json = None, None, None, False
    rest = list(words)
    while rest:
        word, rest = rest[0], rest[1:]
        if word == "--json":
            json = True
        elif word in {"--intents", "--now"} and rest and not rest[0].startswith("-"):
            value, rest = rest[0], rest[1:]
            if word == "--intents":
                pack = Path(value)
            else:
                try:
                    now = datetime.fromisoformat(value)
                except ValueError:
                    return None
        elif question is None and not word.startswith("-"):
            question = word
        else:
            return None
    if question is None or pack is None:
        return None
    return Asked(question, pack, now, json)


def as_json(detection: "Detection") -> str:
    """The result alone, for machines."""
    from server.core.jsonable import to_json

    return to_json(detection.result, indent=2)


def in_words(detection: "Detection") -> str:
    """The detection, for people."""
    intent = detection.intent
    by = f"{intent.method} {detection.evidence!r}" if detection.evidence else intent.method
    lines = [f"{intent.name}  {intent.confidence:g}  by {by}", f"  {intent.explanation}"]
    for name, value in intent.entities.items():
        words = detection.words.get(name)
        lines.append(f"  {name}: {value}" + (f"  from {words!r}" if words else ""))
    lines += [f"  {name}" for name, holds in intent.flags.items() if holds]
    if intent.route is not None:
        lines.append(f"  leads to {intent.route}")
    return "\n".join(lines)
