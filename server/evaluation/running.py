"""Ask every question of a library, and judge what comes back."""

from collections.abc import Awaitable, Callable, Sequence

from server.evaluation.outcome import Outcome
from server.evaluation.questions import Question
from server.evaluation.report import Report
from server.evaluation.scoring import score


async def evaluate(
    ask: Callable[[str], Awaitable[Outcome]], questions: Sequence[Question]
) -> Report:
    """Put the questions one at a time, so that each latency is that of a question alone."""
    return score(questions, [await ask(question.ask) for question in questions])
