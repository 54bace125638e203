"""Questions of a decision log: JSON lines, of which each has the question of one turn."""

import json
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
    masked: bool = False


class LoggedQuestion(NamedTuple):
    """A question that somebody asked: nobody wrote down what should come of it."""

    ask: str


Replayed = Question | LoggedQuestion


class DecisionLog(NamedTuple):
    """The questions of a log that can be asked again, each once, in their order.

    `masked` counts lines whose words were taken out, `unusable` those that cannot be read, and
    `elsewhere` those of other adapters.
    """

    questions: tuple[LoggedQuestion, ...]
    masked: int = 0
    unusable: int = 0
    elsewhere: int = 0

    def notes(self) -> list[str]:
        """Return in words what is not asked again, and why."""
        counted = (
            (self.masked, "masked: their words were not kept, so they cannot be asked again"),
            (self.unusable, "unusable: no JSON with a `question`"),
            (self.elsewhere, "of other adapters"),
        )
        return [f"{n} line{'s' * (n != 1)} left out, {why}" for n, why in counted if n]


def read_decision_log(path: Path, adapter: str | None = None) -> DecisionLog:
    """Read a log; with `adapter`, only lines of that one and those that name none.

    Raises `RequestInvalid` where the file cannot be read.
    """
    found: dict[str, LoggedQuestion] = {}
    masked = unusable = elsewhere = 0
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for text in filter(str.strip, lines):
                line = _read(text)
                if line is not None and line.masked:
                    masked += 1
                elif line is None or not line.question.strip():
                    unusable += 1
                elif adapter is not None and line.adapter not in (None, adapter):
                    elsewhere += 1
                else:
                    found.setdefault(line.question, LoggedQuestion(line.question))
    except OSError as failed:
        raise RequestInvalid(f"{path} cannot be read: {failed.strerror or failed}") from failed
    return DecisionLog(tuple(found.values()), masked, unusable, elsewhere)


def _read(text: str) -> _Line | None:
    try:
        return _Line.model_validate(json.loads(text))
    except (ValueError, ValidationError, RecursionError):
        return None
