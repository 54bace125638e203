"""Questions about rows: frames with nouns, filters and values in their places."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from server.authoring.databases.words import words_of_columns
from server.authoring.sentences import ExampleQuestion

MOST_EXAMPLES: Final = 12

Words = Mapping[str, str]
Saying = tuple[Words, Mapping[str, Any]]
"""The words of one turn, and the arguments that they give; one that is None is not tested."""


def write(
    frames: Iterable[str], say: Callable[[int], Saying | None], *, most: int = MOST_EXAMPLES
) -> tuple[ExampleQuestion, ...]:
    """Fill frames in turn, each with the words of its turn, until there are enough or no new."""
    written: dict[str, ExampleQuestion] = {}
    kept = list(frames)
    for turn in range(3 * most):
        if len(written) == most or not kept:
            break
        said = say(turn)
        if said is None:
            continue
        frame = kept[turn % len(kept)]
        words, arguments = said
        text = fill(frame, words)
        if text:
            written.setdefault(text.lower(), ExampleQuestion(text, dict(arguments)))
    return tuple(written.values())


def fill(frame: str, words: Words) -> str:
    """One sentence; empty where the frame has a place that nothing fills."""
    text = frame
    for name, value in words.items():
        text = text.replace("{" + name + "}", value)
    if "{" in text:
        return ""
    return " ".join(re.sub(r"\s+([?,.])", r"\1", text).split())


def frames(name: str) -> tuple[str, ...]:
    return words_of_columns().frames.get(name, ())


def test_frames(name: str) -> tuple[str, ...]:
    return words_of_columns().questions.get(name, ())
