"""`detect`: what the rule engine alone makes of a question."""

import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from server.cli.options import JsonOption
from server.cli.output import fail, failures_as_messages, print_json, print_text, say

if TYPE_CHECKING:
    from server.intents.detector import Detector
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
    from server.intents.compiler import load_pack
    from server.intents.detector import Detector

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
    from server.core.json import to_json

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


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(detect)


def detect(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What somebody might ask.")],
    intents: Annotated[
        Path,
        typer.Option("--intents", metavar="PACK", help="Folder or file of the rule pack."),
    ],
    now: Annotated[
        str | None,
        typer.Option("--now", metavar="TIME", help="When it is asked, in ISO 8601; else now."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show the intent and the entities of a question, by the rules of one pack.

    No model and no server takes part.
    """
    with failures_as_messages():
        detection = _detector(intents).detect(question, _moment(now))
        if json:
            print_json(detection.result)
        else:
            print_text(in_words(detection))


def _detector(pack: Path) -> "Detector":
    # Here, so that other commands do not pay for it.
    from server.errors import ConfigurationInvalid
    from server.intents.compiler import load_pack
    from server.intents.detector import Detector

    loaded = load_pack(pack, os.environ)
    if loaded.pack is None:
        raise ConfigurationInvalid(loaded.problems)
    for problem in loaded.problems:
        say(str(problem))
    return Detector(loaded.pack)


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        fail(f"--now: expected a time such as 2025-03-12T10:00, got {text!r}")
