"""Questions of a decision log: JSON lines, of which each has the question of one turn."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from server.errors import RequestInvalid
from server.evaluation.questions import Question


class _Line(BaseModel):
    """What is read of a line; whatever else it holds is for others."""

    model_config = ConfigDict(extra="ignore")

    question: str = Field(default="")
    adapter: str | None = None
    answered_by: str | None = None
    masked: bool = False
    alone: bool = True
    kind: str = "question"

    def concerns(self, adapter: str) -> bool:
        """Whether it came to that adapter, or was answered by it; or names none."""
        return self.adapter is None or adapter in (self.adapter, self.answered_by)


class LoggedQuestion(NamedTuple):
    """A question that somebody asked: nobody wrote down what should come of it."""

    ask: str


Replayed = Question | LoggedQuestion


class DecisionLog(NamedTuple):
    """The questions of a log that can be asked again, each once, in their order.

    `masked` counts lines whose words were taken out, `dependent` those of turns that went on with
    what was said before, `unasked` those of confirmations and calls by name, `unusable` those that
    cannot be read, and `elsewhere` those of other adapters.
    """

    questions: tuple[LoggedQuestion, ...]
    masked: int = 0
    unusable: int = 0
    elsewhere: int = 0
    dependent: int = 0
    unasked: int = 0

    def notes(self) -> list[str]:
        """Return in words what is not asked again, and why."""
        counted = (
            (self.masked, "masked: their words were not kept, so they cannot be asked again"),
            (self.dependent, "of conversations: by themselves they would mean something else"),
            (self.unasked, "confirmations or calls by name: nothing was asked"),
            (self.unusable, "unusable: no JSON with a `question`"),
            (self.elsewhere, "of other adapters"),
        )
        return [f"{n} line{'s' * (n != 1)} left out, {why}" for n, why in counted if n]


def read_decision_log(path: Path, adapter: str | None = None) -> DecisionLog:
    """Read a log; with `adapter`, only lines of that one and those that name none.

    Raises `RequestInvalid` where the file cannot be read.
    """
    found: dict[str, LoggedQuestion] = {}
    left_out = Counter[str]()
    for line in _lines(path):
        why = _why_not(line, adapter)
        if why:
            left_out[why] += 1
        elif line is not None:
            found.setdefault(line.question, LoggedQuestion(line.question))
    return DecisionLog(tuple(found.values()), **left_out)


def adapters_of_log(path: Path) -> frozenset[str]:
    """Return the adapters that a log names. Raises as `read_decision_log`."""
    lines = [line for line in _lines(path) if line is not None]
    named = (name for line in lines for name in (line.adapter, line.answered_by))
    return frozenset(name for name in named if name is not None)


def _lines(path: Path) -> Iterator[_Line | None]:
    """Yield the lines of a log, None for one that cannot be read."""
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for text in filter(str.strip, lines):
                yield _read(text)
    except OSError as failed:
        raise RequestInvalid(f"{path} cannot be read: {failed.strerror or failed}") from failed


def _why_not(line: _Line | None, adapter: str | None) -> str:
    """Why a line is not asked again, as `DecisionLog` counts it; empty where it is."""
    if line is None:
        return "unusable"
    if adapter is not None and not line.concerns(adapter):
        return "elsewhere"
    if line.kind != "question":
        return "unasked"
    if line.masked:
        return "masked"
    if not line.question.strip():
        return "unusable"
    return "" if line.alone else "dependent"


def _read(text: str) -> _Line | None:
    try:
        return _Line.model_validate(json.loads(text))
    except (ValueError, ValidationError, RecursionError):
        return None
