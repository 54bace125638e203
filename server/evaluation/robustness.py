"""What mistyping and dressing up questions costs, by way."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from server.evaluation.outcomes import Outcome
from server.evaluation.questions import Question
from server.evaluation.report import Report, score


@dataclass(frozen=True, slots=True)
class Way:
    """How questions fared that were changed in one way; shares as in a report."""

    way: str
    questions: int
    template_accuracy: float | None
    abstain_recall: float | None
    wrong_call_rate: float | None


@dataclass(frozen=True, slots=True)
class Robustness:
    """All changed questions together, and each way."""

    every: Way
    ways: tuple[Way, ...]

    def to_dict(self) -> dict[str, Any]:
        return {**_rounded(self.every), "ways": [_rounded(way) for way in self.ways]}

    def to_text(self) -> str:
        return "\n".join(_lines(self))


def robustness(
    ways: Sequence[str], questions: Sequence[Question], outcomes: Sequence[Outcome]
) -> Robustness:
    """`ways` says of each question how it was changed."""
    pairs = list(zip(ways, questions, outcomes, strict=True))
    rows = []
    for way in dict.fromkeys(ways):
        some = [(q, o) for name, q, o in pairs if name == way]
        rows.append(_way(way, score([q for q, _ in some], [o for _, o in some])))
    return Robustness(_way("all changed", score(questions, outcomes)), tuple(rows))


def _way(name: str, report: Report) -> Way:
    figures = report.template_accuracy, report.abstain_recall, report.wrong_call_rate
    return Way(name, report.questions, *figures)


def _rounded(way: Way) -> dict[str, Any]:
    return {k: round(v, 4) if isinstance(v, float) else v for k, v in asdict(way).items()}


def _lines(found: Robustness) -> Iterator[str]:
    yield "questions changed      asked  template  abstain  wrong"
    for way in (found.every, *found.ways):
        shares = (way.template_accuracy, way.abstain_recall, way.wrong_call_rate)
        shown = "  ".join("    –" if share is None else f"{share:5.3f}" for share in shares)
        yield f"{way.way:<20} {way.questions:7}     {shown}"
