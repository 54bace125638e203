"""`detect`: what the rule engine alone makes of a question."""

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from server.cli.options import JsonOption
from server.cli.output import fail, failures_as_messages, print_json, print_text, say

if TYPE_CHECKING:
    from server.intents.detector import Detection, IntentDetector


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
            print_text(_in_words(detection))


def _detector(pack: Path) -> "IntentDetector":
    # Here, so that other commands do not pay for it.
    from server.errors import ConfigurationInvalid
    from server.intents.compiler import load_pack
    from server.intents.detector import IntentDetector

    loaded = load_pack(pack, os.environ)
    if loaded.pack is None:
        raise ConfigurationInvalid(loaded.problems)
    for problem in loaded.problems:
        say(str(problem))
    return IntentDetector(loaded.pack)


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        fail(f"--now: expected a time such as 2025-03-12T10:00, got {text!r}")


def _in_words(detection: "Detection") -> str:
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
