"""`detect`: what the rule engine alone makes of a question."""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from server.cli import options
from server.cli.output import fail, print_result, say

if TYPE_CHECKING:
    from server.intents.detector import Detection


def detect(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What somebody might ask.")],
    intents: Annotated[Path, typer.Option(metavar="PACK", help="Folder or file of the rule pack.")],
    now: Annotated[
        str | None, typer.Option(metavar="TIME", help="When it is asked, in ISO 8601; else now.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Show the intent and the entities of a question, by the rules of one pack.

    No model and no server takes part.
    """
    from server.errors import ConfigurationInvalid
    from server.intents.compiler import load_pack
    from server.intents.detector import IntentDetector

    try:
        asked_at = None if now is None else datetime.fromisoformat(now)
    except ValueError:
        fail(f"--now: expected a time such as 2025-03-12T10:00, got {now!r}")
    loaded = load_pack(intents, os.environ)
    if loaded.pack is None:
        raise ConfigurationInvalid(loaded.problems)
    for problem in loaded.problems:
        say(str(problem))
    detection = IntentDetector(loaded.pack).detect(question, asked_at)
    print_result(detection.result, _lines(detection), as_json=as_json)


def _lines(detection: "Detection") -> Iterator[str]:
    intent = detection.intent
    by = f"{intent.method} {detection.evidence!r}" if detection.evidence else intent.method
    yield f"{intent.name}  {intent.confidence:g}  by {by}"
    yield f"  {intent.explanation}"
    for name, value in intent.entities.items():
        words = detection.words.get(name)
        yield f"  {name}: {value}" + (f"  from {words!r}" if words else "")
    yield from (f"  {name}" for name, holds in intent.flags.items() if holds)
    if intent.route is not None:
        yield f"  leads to {intent.route}"
