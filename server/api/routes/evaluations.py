"""`/adapters/{name}/questions` and `/evaluations`: how well a library answers, while it serves."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from fastapi import APIRouter, Request
from pydantic import ConfigDict, Field
from starlette.responses import Response

from server.access.models import ADMIN
from server.api.auth import KeyHolder
from server.api.error_responses import FieldsInvalid
from server.api.large_json import large_json_response
from server.api.requests import ApiState, State, read_body
from server.api.routes.library import LibraryAdapter
from server.api.schemas import EXAMPLES, StrictModel, refusals, request_body
from server.api.streaming import EventStream
from server.chat.adapter import Adapter
from server.chat.sources import templates_open_to
from server.core.turn import Caller
from server.errors import KeyForeign, RequestInvalid
from server.evaluation.curves import Curves
from server.evaluation.live import MOST_QUESTIONS, Asked, LiveTrial
from server.evaluation.questions import Question, load_questions, usable_questions

router = APIRouter(
    prefix="/adapters/{name}",
    tags=["library"],
    responses=refusals(
        401,
        (403, "A good key, but of another adapter and of no admin; or tools without an admin's."),
        (404, "An admin's key, and no adapter of that name."),
        429,
        (503, "The adapter, or what it needs, is unavailable."),
    ),
)

Problems = list[dict[str, Any]]


class EvaluationRequest(StrictModel):
    """What to ask, and whether tools run."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["evaluation"]]})

    questions: list[Question] | None = Field(
        None,
        min_length=1,
        max_length=MOST_QUESTIONS,
        description="As `questions.yaml` has them; without it, those beside the domain.",
    )
    tools: bool = Field(
        default=False, description="Run the calls that read; for an admin's key alone."
    )


@router.get(
    "/questions",
    responses={304: {"description": "They are as `If-None-Match` says."}},
    summary="The questions that a library's author wrote down",
)
async def list_questions(request: Request, adapter: LibraryAdapter, caller: KeyHolder) -> Response:
    """Those of `questions.yaml` that expect what the key's role may run, or nothing."""
    return await large_json_response(request, lambda: _describe_questions(adapter, caller))


@router.post(
    "/evaluations",
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "What came of each question."},
        **refusals(
            (400, "The body is not JSON, or no question can be used."),
            (409, "The key evaluates already."),
            413,
            422,
        ),
    },
    summary="Ask a library its questions, and judge what comes of them",
    openapi_extra=request_body(EvaluationRequest, required=False),
)
async def evaluate(
    request: Request, state: State, adapter: LibraryAdapter, caller: KeyHolder
) -> Response:
    """Ask questions, one by one, as server-sent events. Nothing is written anywhere."""
    body = await request.body()
    asked = read_body(EvaluationRequest, body) if body else EvaluationRequest(questions=None)
    if asked.tools and caller.role != ADMIN:
        raise KeyForeign(f"tools run in an evaluation for a key of role {ADMIN!r} alone")
    if asked.questions is None:
        questions, problems = await asyncio.to_thread(_written_questions, adapter, caller)
    else:
        questions, problems = _given_questions(state, adapter, caller, asked.questions)
    if not questions:
        why = f": {problems[0]['what']}" if problems else "; send some as `questions`"
        raise RequestInvalid(f"there is no question that can be used{why}")
    events = _events(state, adapter, caller, questions, problems, tools=asked.tools)
    return EventStream(events, request.state.request_id, state.heartbeat_s)


async def _events(
    state: ApiState,
    adapter: Adapter,
    caller: Caller,
    questions: Sequence[Question],
    problems: Problems,
    *,
    tools: bool,
) -> AsyncGenerator[dict[str, Any], None]:
    evaluations = state.evaluations
    async with evaluations.run_of(caller):
        with adapter.leases.hold():
            yield {"status": "started", "total": len(questions), "problems": problems}
            trial = LiveTrial(
                adapter, caller, questions, state.turn_timeout_s, tools, evaluations.turns
            )
            async for found in trial.run():
                if isinstance(found, Asked):
                    yield {"status": "asked", **_row(found)}
                else:
                    report, drawn = found.report.to_dict(), _curves(found.curves)
                    yield {"status": "complete", "report": report, "curves": drawn}


def _row(asked: Asked) -> dict[str, Any]:
    outcome = asked.outcome
    row = {
        "number": asked.number,
        "ask": asked.question.ask,
        "expected": asked.question.template,
        "got": outcome.template,
        "called": outcome.called,
        "confidence": round(outcome.confidence, 4),
        "judged": asked.verdict,
        "failure": asked.failure,
        "latency_ms": round(outcome.latency_ms, 3),
        "arguments": dict(outcome.arguments),
        "asks": list(outcome.asked),
    }
    return row if outcome.nearest is None else {**row, "nearest": outcome.nearest}


def _curves(drawn: Curves) -> dict[str, Any]:
    shares = drawn.to_dict()
    return {
        "reliability": [
            {
                "from": each["low"],
                "to": each["high"],
                "count": each["calls"],
                "mean_confidence": each["confidence"],
                "share_right": each["right"],
            }
            for each in shares["reliability"]
        ],
        "calibration_error": shares["calibration_error"],
        "thresholds": [
            each | {"silent": round(max(0.0, 1 - each["right"] - each["wrong"]), 4)}
            for each in shares["thresholds"]
        ],
    }


def _describe_questions(adapter: Adapter, caller: Caller) -> dict[str, Any]:
    questions, problems = _written_questions(adapter, caller)
    rows = [
        each.model_dump(exclude_defaults=True) | {"template": each.template} for each in questions
    ]
    return {"questions": rows, "problems": problems}


def _written_questions(adapter: Adapter, caller: Caller) -> tuple[Sequence[Question], Problems]:
    """The questions beside the domain about what the caller may run, and what is wrong there."""
    path = adapter.questions_path
    if path is None or not path.is_file():
        return (), []
    # What the environment holds is not for everybody with a key.
    questions, problems = load_questions(path, adapter.library.templates, {})
    known = _open_ids(adapter, caller)
    told = [{"what": each.what, "kind": each.kind, "line": each.where.line} for each in problems]
    return [each for each in questions if each.template in (None, *known)], told


def _given_questions(
    state: ApiState, adapter: Adapter, caller: Caller, given: Sequence[Question]
) -> tuple[Sequence[Question], Problems]:
    most = state.max_message_chars
    long = [
        (f"questions.{place}.ask", f"has {len(each.ask)} characters; the most is {most}")
        for place, each in enumerate(given)
        if len(each.ask) > most
    ]
    if long:
        raise FieldsInvalid(long)
    questions, wrong = usable_questions(given, _open_ids(adapter, caller))
    return questions, [{"what": what, "ask": given[place].ask} for place, what in wrong]


def _open_ids(adapter: Adapter, caller: Caller) -> frozenset[str]:
    return frozenset(each.id for each in templates_open_to(adapter, caller))
