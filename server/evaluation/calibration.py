"""How sure to be of a library's calls, from its own questions: two numbers, and a curve of risk.

A few questions change little: the numbers are held near those that leave all as it is, and the
curve is mixed with the one that ships.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Final, NamedTuple

import numpy as np

from server.errors import Problem
from server.evaluation.outcomes import Outcome, equal_arguments
from server.evaluation.questions import Question
from server.evaluation.report import Report
from server.retrievers.calibration import Calibration, verifier_digest
from server.retrievers.verifier import Verifier, probability

LEAST_QUESTIONS: Final = 30
"""With fewer, the numbers would say more about the questions than about the library."""

_SCALE_DOUBT: Final = 0.3
_SHIFT_DOUBT: Final = 0.5
"""Standard deviations of what libraries need, about a scale of one and a shift of none."""
_LEAST_SCALE: Final = 0.2
_WORTH: Final = 100.0
"""How many of a library's questions count as much as the curve that ships."""
_FOLDS: Final = 5
_STEPS: Final = 50
_SUREST: Final = 1 - 1e-9
_THRESHOLDS: Final = tuple(round(0.05 + 0.01 * step, 2) for step in range(95))


class ScoredCall(NamedTuple):
    """What a question would be answered with if nothing were too unsure.

    `score` is the verifier's logarithm of odds, None where nothing could be called. `runs` is
    False where arguments would be asked for, which goes wrong for nobody.
    """

    score: float | None
    right: bool
    runs: bool


@dataclass(frozen=True, slots=True)
class Expected:
    """Shares of all questions, at one threshold."""

    right: float
    wrong: float


_COMPARED: Final = (
    "template_accuracy", "abstain_recall", "wrong_call_rate", "argument_accuracy", "auroc",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What was written, and what it changes for the questions it was learnt from.

    `held_out` is what to expect of other questions, `thresholds` are those before and after.
    """

    calibration: Calibration
    written_to: str
    max_wrong: float
    before: Report
    after: Report
    thresholds: tuple[float, float]
    held_out: Expected
    never_abstains: bool = False
    """Whether no question is for nothing, so that none says when to abstain."""
    problems: Sequence[Problem] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "written_to": self.written_to,
            "questions": self.calibration.questions,
            "scale": self.calibration.scale,
            "shift": self.calibration.shift,
            "max_wrong": self.max_wrong,
            "before": {"threshold": self.thresholds[0], **self.before.to_dict()},
            "after": {"threshold": self.thresholds[1], **self.after.to_dict()},
            "held_out": {
                "answered_rightly": round(self.held_out.right, 4),
                "answered_wrongly": round(self.held_out.wrong, 4),
            },
        }

    def to_text(self) -> str:
        """The figures side by side, for people."""
        said = self.to_dict()
        lines = [f"{'':20} {'before':>7} {'after':>7}"]
        for name in ("threshold", *_COMPARED):
            shown = (_shown(said[when][name]) for when in ("before", "after"))
            lines.append(f"{name:20} " + " ".join(f"{value:>7}" for value in shown))
        lines += [
            "",
            f"Of other questions like these, {self.held_out.right:.1%} would be answered rightly, "
            f"{self.held_out.wrong:.1%} wrongly, and the rest not at all",
            f"(each fifth judged by what the others say; {self.max_wrong:.1%} may go wrong).",
            f"Written to {self.written_to}, from {self.calibration.questions} questions: "
            f"scale {self.calibration.scale:g}, shift {self.calibration.shift:g}.",
        ]
        return "\n".join(lines)


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def scored_call(question: Question, outcome: Outcome, *, by_verifier: bool) -> ScoredCall:
    """Judge what would come of a question; `by_verifier` says whether its odds were weighed."""
    right = outcome.template is not None and outcome.template == question.template
    if right and question.arguments is not None:
        right = equal_arguments(question.arguments, question.asks, outcome)
    share = outcome.confidence
    if outcome.template is None or not by_verifier or share <= 0:
        return ScoredCall(None, right, outcome.called)
    share = min(share, _SUREST)
    return ScoredCall(log(share / (1 - share)), right, outcome.called)


def calibrate(
    calls: Sequence[ScoredCall], verifier: Verifier, *, library: str, max_wrong: float | None
) -> Calibration:
    """Return what the questions say of how sure to be; `verifier` is the one that ships."""
    scale, shift = fit(calls)
    own = _risk(calls, scale, shift)
    share = len(calls) / (len(calls) + _WORTH)
    risk = tuple(
        (at, round(share * wrong + (1 - share) * _shipped_risk(verifier, at), 4))
        for at, wrong in zip(_THRESHOLDS, own, strict=True)
    )
    return Calibration(
        questions=len(calls),
        scale=round(scale, 4),
        shift=round(shift, 4),
        max_wrong=max_wrong,
        library=library,
        verifier=verifier_digest(verifier),
        risk=risk,
    )


def fit(calls: Sequence[ScoredCall]) -> tuple[float, float]:
    """Return the scale and the shift of the odds under which the outcomes are likeliest.

    The likelihood is concave in both, so that Newton's method finds them.
    """
    known = [call for call in calls if call.score is not None]
    scores = np.array([call.score for call in known], np.float64)
    right = np.array([call.right for call in known], np.float64)
    rows = np.stack([scores, np.ones_like(scores)], axis=1)
    expected = np.array([1.0, 0.0])
    precision = np.diag([1 / _SCALE_DOUBT**2, 1 / _SHIFT_DOUBT**2])
    at = expected.copy()
    for _ in range(_STEPS):
        shares = 1 / (1 + np.exp(-np.clip(rows @ at, -30, 30)))
        gradient = rows.T @ (right - shares) - precision @ (at - expected)
        bend = (rows * (shares * (1 - shares))[:, None]).T @ rows + precision
        step = np.clip(np.linalg.solve(bend, gradient), -0.5, 0.5)
        at += step
        if float(np.abs(step).max()) < 1e-7:
            break
    return max(float(at[0]), _LEAST_SCALE), float(at[1])


def expected(
    calls: Sequence[ScoredCall], threshold: float, scale: float = 1.0, shift: float = 0.0
) -> Expected:
    """Return how many questions are answered rightly and wrongly at a threshold."""
    over = [c for c in calls if _share(c, scale, shift) >= threshold and c.score is not None]
    right = sum(call.right for call in over)
    wrong = sum(call.runs and not call.right for call in over)
    return Expected(right / max(1, len(calls)), wrong / max(1, len(calls)))


def held_out(calls: Sequence[ScoredCall], verifier: Verifier, max_wrong: float) -> Expected:
    """Return what to expect of other questions: each is judged by what the others say."""
    right = wrong = 0.0
    for turn in range(_FOLDS):
        others = [call for n, call in enumerate(calls) if n % _FOLDS != turn]
        asked = [call for n, call in enumerate(calls) if n % _FOLDS == turn]
        found = calibrate(others, verifier, library="", max_wrong=None)
        least = found.applied(verifier).threshold(max_wrong)
        part = expected(asked, least, found.scale, found.shift)
        right += part.right * len(asked)
        wrong += part.wrong * len(asked)
    return Expected(right / max(1, len(calls)), wrong / max(1, len(calls)))


def _risk(calls: Sequence[ScoredCall], scale: float, shift: float) -> list[float]:
    return [expected(calls, at, scale, shift).wrong for at in _THRESHOLDS]


def _share(call: ScoredCall, scale: float, shift: float) -> float:
    return 0.0 if call.score is None else probability(scale * call.score + shift)


def _shipped_risk(verifier: Verifier, threshold: float) -> float:
    """The share that goes wrong over a threshold, between those of the curve that ships."""
    ats, wrongs = zip(*verifier.risk, strict=True)
    return float(np.interp(threshold, ats, wrongs))
