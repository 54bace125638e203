"""How good a library is: questions and outcomes to one report, as data and as text."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from server.core.json import to_json
from server.evaluation.outcomes import Outcome, auroc, equal_arguments, percentile, share
from server.evaluation.questions import Question

Pair = tuple[str | None, str | None]
"""The template that was meant, and the one that was chosen."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """A question that went to another template than its author meant.

    `got` is None when the system abstained; `nearest` is then the template it leaned to.
    """

    ask: str
    expected: str | None
    got: str | None
    confidence: float
    called: bool
    nearest: str | None


@dataclass(frozen=True, slots=True)
class Mistake:
    """Arguments or an answer other than the question expects, by the right template."""

    ask: str
    expected: Any
    got: Any


@dataclass(frozen=True, slots=True)
class TemplateRow:
    """How the questions of one template fared, and how many of others it took."""

    template: str
    questions: int
    right: int
    right_arguments: int
    asked_back: int
    silent: int
    taken_from_others: int


@dataclass(frozen=True, slots=True)
class Report:
    """Shares are 0 to 1, and None where no question bears on them."""

    questions: int
    template_accuracy: float | None
    abstain_recall: float | None
    wrong_call_rate: float | None
    argument_accuracy: float | None
    answer_accuracy: float | None
    auroc: float | None
    latency_p50_ms: float | None
    latency_p99_ms: float | None
    asked_back_rate: float | None = None
    tool_success_rate: float | None = None
    templates: tuple[TemplateRow, ...] = ()
    confusions: tuple[Confusion, ...] = ()
    confusion_counts: Mapping[Pair, int] = field(default_factory=dict)
    argument_mistakes: tuple[Mistake, ...] = ()
    answer_mistakes: tuple[Mistake, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        counts = sorted(self.confusion_counts.items(), key=lambda item: (-item[1], str(item[0])))
        return {
            "questions": self.questions,
            **{name: _rounded(getattr(self, name)) for name in _FIGURES},
            "latency_ms": {
                "p50": _rounded(self.latency_p50_ms, 3),
                "p99": _rounded(self.latency_p99_ms, 3),
            },
            "templates": [asdict(row) for row in self.templates],
            "confusions": [
                asdict(confusion) | {"confidence": _rounded(confusion.confidence)}
                for confusion in self.confusions
            ],
            "confusion_counts": [
                {"expected": expected, "got": got, "count": count}
                for (expected, got), count in counts
            ],
            "argument_mistakes": [json.loads(to_json(asdict(m))) for m in self.argument_mistakes],
            "answer_mistakes": [json.loads(to_json(asdict(m))) for m in self.answer_mistakes],
        }

    def to_text(self) -> str:
        return "\n".join(_lines(self))


_FIGURES: Final[Mapping[str, str]] = {
    "template_accuracy": "right template, of questions that have one",
    "abstain_recall": "nothing ran, of questions that nothing should answer",
    "wrong_call_rate": "wrong or needless calls, of all questions",
    "asked_back_rate": "asked back without need, of all questions",
    "argument_accuracy": "right arguments, of questions that give them",
    "answer_accuracy": "right answer, of questions that give one",
    "tool_success_rate": "tools that did their work, of right calls that were made",
    "auroc": "confidence tells the two kinds of question apart",
}


def _lines(report: Report) -> Iterator[str]:
    yield f"{'questions':<18} {report.questions:>7}"
    for name, meaning in _FIGURES.items():
        yield f"{name:<18} {_figure(getattr(report, name)):>7}  {meaning}"
    for name, value in (("p50", report.latency_p50_ms), ("p99", report.latency_p99_ms)):
        yield f"{'latency ' + name:<18} {_figure(value, 1):>7}  milliseconds"
    weak = [row for row in report.templates if row.right < row.questions or row.taken_from_others]
    if weak:
        yield from ("", "template                          asked  right  args  back  silent  took")
        for row in weak:
            yield (
                f"{row.template:<32}  {row.questions:5}  {row.right:5}  {row.right_arguments:4}  "
                f"{row.asked_back:4}  {row.silent:6}  {row.taken_from_others:4}"
            )
    if report.confusions:
        yield from ("", "Another template than was meant")
        for c in report.confusions:
            leaning = f", nearest {c.nearest}" if c.got is None and c.nearest else ""
            yield f"  {c.ask}"
            route = f"{c.expected or 'nothing'} → {c.got or 'nothing'}"
            yield f"    {route} ({c.confidence:.2f}{leaning})"
    for title, mistakes in (
        ("Other arguments than were meant", report.argument_mistakes),
        ("Another answer than was meant", report.answer_mistakes),
    ):
        if mistakes:
            yield from ("", title)
        for m in mistakes:
            yield f"  {m.ask}"
            yield f"    {to_json(m.expected)} → {to_json(m.got)}"


def _figure(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _rounded(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(value, digits)


def score(questions: Sequence[Question], outcomes: Sequence[Outcome]) -> Report:
    """Judge each outcome by its question.

    A question that went to the wrong template has its arguments and answer wrong too. `auroc` takes
    every question that has a template, answered rightly or not, beside those that have none.
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
        argument_accuracy=share(is_right(q, o) for q, o in argued),
        answer_accuracy=share(_answer_right(q, o) for q, o in answered),
        asked_back_rate=share(_asked_back(q, o) for q, o in pairs),
        tool_success_rate=share(
            o.tool_succeeded
            for q, o in inside
            if o.template == q.template and o.tool_succeeded is not None
        ),
        templates=_rows(pairs),
        auroc=auroc(
            [o.confidence for _, o in inside],
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
            if o.template == q.template and not is_right(q, o)
        ),
        answer_mistakes=tuple(
            Mistake(q.ask, q.answer, o.answer)
            for q, o in answered
            if o.template == q.template and not _answer_right(q, o)
        ),
    )


def _called_wrongly(question: Question, outcome: Outcome) -> bool:
    return outcome.called and (outcome.template != question.template or bool(question.asks))


def _asked_back(question: Question, outcome: Outcome) -> bool:
    """Whether an answer was possible, or none was due, and a question came back instead."""
    return bool(outcome.asked) and set(outcome.asked) != set(question.asks)


def _rows(pairs: Sequence[tuple[Question, Outcome]]) -> tuple[TemplateRow, ...]:
    names = dict.fromkeys(q.template for q, _ in pairs if q.template is not None)
    names |= dict.fromkeys(o.template for _, o in pairs if o.template is not None)
    rows = []
    for name in names:
        own = [(q, o) for q, o in pairs if q.template == name]
        right = [(q, o) for q, o in own if o.template == name]
        rows.append(
            TemplateRow(
                template=str(name),
                questions=len(own),
                right=len(right),
                right_arguments=sum(q.arguments is None or is_right(q, o) for q, o in right),
                asked_back=sum(_asked_back(q, o) for q, o in own),
                silent=sum(o.template is None for _, o in own),
                taken_from_others=sum(o.template == name != q.template for q, o in pairs),
            )
        )
    return tuple(sorted(rows, key=lambda row: row.template))


def is_right(question: Question, outcome: Outcome) -> bool:
    """Return whether the arguments are the expected ones; defaults need not be spelt out."""
    if outcome.template != question.template:
        return False
    return equal_arguments(question.arguments or {}, question.asks, outcome)


def failure_of(question: Question, outcome: Outcome) -> str | None:
    """Return what was expected and what came, or None where that is the same."""
    if outcome.template != question.template:
        if question.template is None and not outcome.called:
            return None
        return f"expected {question.template or 'nothing'}, got {outcome.template or 'nothing'}"
    if question.arguments is not None and not is_right(question, outcome):
        expected = _arguments(question.arguments, question.asks)
        got = _arguments(outcome.arguments, outcome.asked)
        return f"expected {to_json(expected)}, got {to_json(got)}"
    if question.template is not None and set(outcome.asked) != set(question.asks):
        return f"asked for {', '.join(outcome.asked) or 'nothing'}"
    if question.answer is not None and not _answer_right(question, outcome):
        return f"expected the answer {question.answer!r}, got {outcome.answer!r}"
    if outcome.tool_succeeded is False:
        return f"the tool failed: {outcome.answer}"
    return None


Verdict = Literal["right", "silent", "asked", "wrong"]
"""What became of a question: `asked` is a question back that was not due."""


def verdict(question: Question, outcome: Outcome) -> Verdict:
    """Return what became of a question; one that did nothing when nothing was due is right."""
    if failure_of(question, outcome) is None:
        return "right"
    if outcome.called:
        return "wrong"
    return "asked" if outcome.asked or outcome.clarified else "silent"


def _answer_right(question: Question, outcome: Outcome) -> bool:
    return question.answer is not None and question.answer.strip() == outcome.answer.strip()


def _arguments(given: Mapping[str, Any], asked: Sequence[str]) -> Mapping[str, Any]:
    return {"arguments": dict(given), **({"asks": list(asked)} if asked else {})}


async def evaluate(
    ask: Callable[[str], Awaitable[Outcome]], questions: Sequence[Question]
) -> Report:
    return score(questions, [await ask(question.ask) for question in questions])
