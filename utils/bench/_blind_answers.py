"""What comes of blind questions in whole turns, beside where the nearest example would lead."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from server.core.decision import Call, Clarify, Ending, Match, NoMatch, PendingConfirmation
from server.core.ports import Embedder
from server.evaluation.outcomes import outcome_of
from server.evaluation.questions import Question, load_questions
from server.evaluation.report import score
from server.library.model import Template
from utils.bench._blind import (
    NOTHING,
    BlindQuestion,
    Verdict,
    done_by,
    done_of,
    judge,
    judge_outcome,
)
from utils.bench._figures import Judged
from utils.bench._nearest import NearestExampleRouter
from utils.bench._turns import Opened


@dataclass(frozen=True, slots=True)
class Routed:
    """How near the nearest example is, and what its template is worth."""

    similarity: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Choice:
    """What a library chose: its template, and the arguments where there is one to judge."""

    wanted: str | None
    taken: str | None
    called: bool
    needless: bool
    arguments_right: bool | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what came of it.

    `judged` is the confidence in a call, made or refused, and whether it would have been right.
    `choice` is of libraries alone. `unasked` says why a model that should propose did not, so
    that the server decided by itself.
    """

    ask: str
    verdict: Verdict
    nothing_may_run: bool
    judged: Judged | None
    routed: Routed | None = None
    choice: Choice | None = None
    unasked: str = ""


async def ask_agent(
    opened: Opened, sets: Mapping[str, Sequence[BlindQuestion]], embedder: Embedder
) -> dict[str, list[Asked]]:
    """Put every question to the agent that ships."""
    router = await NearestExampleRouter.open(opened.adapter.library, embedder)
    return {
        name: [await _ask_agent(opened, router, one) for one in questions]
        for name, questions in sets.items()
    }


async def _ask_agent(
    opened: Opened, router: NearestExampleRouter, question: BlindQuestion
) -> Asked:
    templates = opened.adapter.library.templates

    async def worth_of(template_id: str) -> Verdict:
        """What a call of this template is worth, with the arguments that we read."""
        decision = opened.decide_for(template_id, question.ask)
        if not isinstance(decision, Call):
            return judge(question, NOTHING)
        outcome = await opened.run(decision, question.ask)
        execution = outcome.result.to_dict() if outcome.refusal is None else None
        return judge(question, done_of(decision, execution, templates))

    answer = await opened.ask(question.ask)
    verdict = judge(question, done_by(answer, templates))
    judged = None
    if found := _candidate(answer.decision):
        match, made = found
        would_be = verdict if made else await worth_of(match.template_id)
        right = would_be is Verdict.RIGHT and not question.nothing_may_run
        judged = Judged(match.confidence, right)
    nearest = await router.nearest(question.ask)
    routed = Routed(nearest.similarity, await worth_of(nearest.template_id))
    return Asked(question.ask, verdict, question.nothing_may_run, judged, routed)


def read_library_questions(
    path: Path, templates: Mapping[str, Template], say: Callable[[str], None]
) -> Sequence[Question]:
    """The questions of a library that can be used; `say` hears of the others."""
    questions, problems = load_questions(path, templates)
    for problem in problems:
        say(str(problem))
    return questions


async def ask_library(
    opened: Opened, questions: Sequence[Question], embedder: Embedder | None
) -> list[Asked]:
    """Put every question to a library; without an encoder, nothing is compared with it."""
    library = opened.adapter.library
    router = await NearestExampleRouter.open(library, embedder) if embedder else None
    return [await _ask_library(opened, router, one) for one in questions]


async def _ask_library(
    opened: Opened, router: NearestExampleRouter | None, question: Question
) -> Asked:
    templates = opened.adapter.library.templates
    answer = await opened.ask(question.ask)
    outcome = outcome_of(answer.decision, templates, latency_ms=0.0)
    verdict = judge_outcome(question, outcome)
    judged = None
    if found := _candidate(answer.decision):
        match, made = found
        would_be = verdict
        if not made:
            decision = opened.decide_for(match.template_id, question.ask)
            would_be = judge_outcome(question, outcome_of(decision, templates, latency_ms=0.0))
        right = would_be is Verdict.RIGHT and question.template is not None
        judged = Judged(match.confidence, right)
    routed = None
    if router is not None:
        nearest = await router.nearest(question.ask)
        right = nearest.template_id == question.template
        routed = Routed(nearest.similarity, Verdict.RIGHT if right else Verdict.WRONG)
    figures = score([question], [outcome])
    argued = question.arguments is not None and outcome.template == question.template
    choice = Choice(
        wanted=question.template,
        taken=outcome.template,
        called=outcome.called,
        needless=figures.wrong_call_rate == 1,
        arguments_right=figures.argument_accuracy == 1 if argued else None,
    )
    proposed = [stage.details for stage in answer.trace.stages if stage.name == "propose"]
    unasked = "".join(str(details.get("why", "")) for details in proposed)
    return Asked(question.ask, verdict, question.template is None, judged, routed, choice, unasked)


def _candidate(ending: Ending) -> tuple[Match, bool] | None:
    """The call that was made or refused, and whether it was made; None for any other ending."""
    match ending:
        case Call(match) | PendingConfirmation(match):
            return match, True
        case Clarify([first, *_]) | NoMatch(_, [first, *_]):
            return first, False
    return None
