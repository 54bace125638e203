"""How well a guard tells apart questions that people have labelled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from server.errors import Problem
from server.guards.guard import Guard
from server.settings.documents import read_yaml
from server.settings.fields import LibraryModel
from server.settings.validation import validate


class LabelledYaml(LibraryModel):
    """Questions by the category they belong to; one that is in none of the packs passes."""

    questions: dict[str, tuple[str, ...]] = Field(min_length=1)
    """Category name, and questions that belong to it."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One question: what its label asks for, and what the guard made of it."""

    question: str
    should_stop: bool
    stopped: bool
    category: str
    method: str


def load_labelled(
    path: Path, environ: Mapping[str, str]
) -> tuple[Mapping[str, tuple[str, ...]] | None, tuple[Problem, ...]]:
    """Return questions by label, or None, and what is wrong with the file."""
    document = read_yaml(path, environ)
    labelled, problems = validate(LabelledYaml, document)
    return labelled.questions if labelled else None, (*document.problems, *problems)


async def measure_guard(
    guard: Guard, labelled: Mapping[str, Sequence[str]]
) -> tuple[Measured, ...]:
    """Judge every question, counting nothing, or raise `ProviderError`."""
    actions = {c.name: c.action for c in guard.changed.guards.categories}
    rows = []
    for label, questions in labelled.items():
        for question in questions:
            verdict = (await guard.trial(question))["now"]
            should_stop = actions.get(label) in ("block", "route")
            stopped = verdict["outcome"] in ("block", "route")
            rows.append(
                Measured(question, should_stop, stopped, verdict["category"], verdict["method"])
            )
    return tuple(rows)


def figures(rows: Sequence[Measured]) -> dict[str, Any]:
    """Return false and missed blocks, in numbers and shares, and the questions themselves."""
    bad = [row for row in rows if row.should_stop]
    good = [row for row in rows if not row.should_stop]
    missed = [row for row in bad if not row.stopped]
    false = [row for row in good if row.stopped]
    by_method = {
        method: sum(row.stopped and row.method == method for row in bad)
        for method in ("regex", "semantic")
    }
    return {
        "questions": len(rows),
        "to_stop": len(bad),
        "to_pass": len(good),
        "missed_blocks": len(missed),
        "missed_block_rate": round(len(missed) / len(bad), 4) if bad else 0.0,
        "false_blocks": len(false),
        "false_block_rate": round(len(false) / len(good), 4) if good else 0.0,
        "stopped_by": by_method,
        "missed": [row.question for row in missed],
        "wrongly_stopped": [f"{row.question} ({row.category}, {row.method})" for row in false],
    }
