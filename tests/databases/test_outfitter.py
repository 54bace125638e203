"""A library in the public style over a database: what people ask, and what comes of it."""

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from server.evaluation.outcomes import outcome_of
from server.evaluation.questions import load_questions
from tests.databases.outfitter_data import make_database
from utils.bench._blind import Verdict, judge_outcome
from utils.bench._turns import open_library

pytestmark = pytest.mark.anyio

FOLDER = Path(__file__).parent / "outfitter"
TODAY = date(2026, 11, 22)


async def test_most_questions_are_answered_rightly_and_hardly_any_wrongly(tmp_path: Path) -> None:
    make_database(tmp_path / "shop.db")
    more: dict[str, Any] = {
        "database": str(tmp_path / "shop.db"),
        "implementation": "retrievers.implementations.intent.IntentSQLRetriever",
    }
    async with open_library(FOLDER, tmp_path / "data", today=TODAY, **more) as opened:
        templates = opened.adapter.library.templates
        questions, problems = load_questions(FOLDER / "questions.yaml", templates)
        verdicts = Counter[Verdict]()
        for question in questions:
            answer = await opened.ask(question.ask)
            outcome = outcome_of(answer.decision, templates, latency_ms=0.0)
            verdicts[judge_outcome(question, outcome)] += 1
    assert not problems
    assert verdicts[Verdict.RIGHT] >= 0.9 * len(questions)
    assert verdicts[Verdict.WRONG] <= 0.04 * len(questions)
