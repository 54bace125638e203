"""Questions and outcomes to one report."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from server.evaluation.outcomes import Outcome, auroc, equal, percentile, share
from server.evaluation.questions import Question
from server.evaluation.report import Confusion, Mistake, Report


def score(questions: Sequence[Question], outcomes: Sequence[Outcome]) -> Report:
    """Judge each outcome by its question.

    A question that went to the wrong template has its arguments and answer wrong too. `auroc` tells
    rightly answered questions from those that nothing should answer.
    """
    pairs = list(zip(questions, outcomes, strict=True))
    inside = [(q, o) for q, o in pairs if q.template is not None]
    outside = [(q, o) for q, o in pairs if q.template is None]
    argued = [(q, o) for q, o in inside if q.arguments is not None]
    answered = [(q, o) for q, o in pairs if q.answer is not None]
    confused = [(q, o) for q, o in pairs if o.template != q.template]
    latencies = [o.latency_ms for o in outcomes]
    return Report(
        questions=len(pairs),
        template_accuracy=share(o.template == q.template for q, o in inside),
        abstain_recall=share(not o.called for _, o in outside),
        wrong_call_rate=share(_called_wrongly(q, o) for q, o in pairs),
        argument_accuracy=share(_arguments_right(q, o) for q, o in argued),
        answer_accuracy=share(_answer_right(q, o) for q, o in answered),
        auroc=auroc(
            [o.confidence for q, o in inside if o.template == q.template],
            [o.confidence for _, o in outside],
        ),
        latency_p50_ms=percentile(latencies, 50),
        latency_p99_ms=percentile(latencies, 99),
        confusions=tuple(
            Confusion(q.ask, q.template, o.template, o.confidence, o.called, o.nearest)
            for q, o in confused
        ),
        confusion_counts=Counter((q.template, o.template) for q, o in confused),
        argument_mistakes=tuple(
            Mistake(q.ask, _arguments(q.arguments or {}, q.asks), _arguments(o.arguments, o.asked))
            for q, o in argued
            if o.template == q.template and not _arguments_right(q, o)
        ),
        answer_mistakes=tuple(
            Mistake(q.ask, q.answer, o.answer)
            for q, o in answered
            if o.template == q.template and not _answer_right(q, o)
        ),
    )


def _called_wrongly(question: Question, outcome: Outcome) -> bool:
    return outcome.called and (outcome.template != question.template or bool(question.asks))


def _arguments_right(question: Question, outcome: Outcome) -> bool:
    """Return whether the arguments are the expected ones; defaults need not be spelt out."""
    if outcome.template != question.template or set(outcome.asked) != set(question.asks):
        return False
    expected = question.arguments or {}
    unforeseen = outcome.arguments.keys() - expected.keys() - outcome.defaulted
    return not unforeseen and all(
        name in outcome.arguments and equal(value, outcome.arguments[name])
        for name, value in expected.items()
    )


def _answer_right(question: Question, outcome: Outcome) -> bool:
    return question.answer is not None and question.answer.strip() == outcome.answer.strip()


def _arguments(given: Mapping[str, Any], asked: Sequence[str]) -> Mapping[str, Any]:
    return {"arguments": dict(given), **({"asks": list(asked)} if asked else {})}


async def evaluate(
    ask: Callable[[str], Awaitable[Outcome]], questions: Sequence[Question]
) -> Report:
    return score(questions, [await ask(question.ask) for question in questions])
