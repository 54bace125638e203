"""How blind questions are answered, beside what a simple router and a small model make of them.

`python -m utils.bench.blind [--agent FILE.jsonl …] [--library FOLDER …] [--model [NAME]]
[--provider P] [--today DAY] [--threshold T]
[--hebrew FILE.jsonl …] [--study FILE.jsonl …] [--guards FILE.jsonl …] [--shop FILE.jsonl …]
[--json]`

Whole turns in this process, with default settings. `--agent` are files of questions for the agent
that ships, whose services are the stand-ins on a loopback port. `--library` are folders with
`domain.yaml`, templates and `questions.yaml`, whose calls are decided and never made. Writes of
both are rehearsed.

`--hebrew`, `--study`, `--guards` and `--shop` are files of questions for the adapters
`gov-decisions`, `study` and `retail`, and for the guarded help desk in `examples/guards/litecoin`.
Their tools run, writes included, on stand-ins and data that begin anew with each file. `wrote` is
the share of the study questions that must not write and did, `falsely_blocked` that of the
questions that should pass the guard and did not.

Right, silent and wrong are shares of all questions; a call with a wrong argument is wrong. Of
libraries, `template`, `arguments` (where the template is right), `abstain` and `wrong_call` (calls
of the wrong template, or where nothing should run) are counted as `eval` counts them.
`calibration` is how far the confidence is from how often the call would have been right, over
calls made and refused. Intervals are of 95 %.

`nearest` is the template of the nearest example, by the same encoder: over the cosine that
`--threshold` names, and over the one that would have been best for these very questions. It
chooses templates alone; for the agent's questions it is given the arguments that the server
reads. `--model` lets a chat model propose the calls of 40 questions of the first library.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any, Final

from server.core.ports import Embedder
from server.core.suggestions import join_words
from server.providers.embeddings.factory import build_embedder
from server.settings.models import EmbeddingsSettings
from utils.bench._blind import Verdict, read_blind
from utils.bench._blind_answers import Asked, ask_agent, ask_library, read_library_questions
from utils.bench._blind_lines import Scored
from utils.bench._blind_shipped import KINDS, Kind, score_files
from utils.bench._figures import CalibrationError, Share
from utils.bench._machine import describe_machine
from utils.bench._nearest import USUAL_THRESHOLD, best_threshold
from utils.bench._turns import open_agent, open_library

SAMPLE: Final = 40
"""Questions that a model is asked: each takes it many seconds."""
MODEL_TIMEOUT_S: Final = 300.0
FIGURES: Final = (
    *("right", "silent", "wrong"),
    *("template", "arguments", "abstain", "wrong_call"),
    "calibration",
    *("wrote", "falsely_blocked"),
)

Figure = Share | CalibrationError
Figures = dict[str, Figure]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; figures that do not apply are left out."""

    questions: str
    by: str
    count: int
    figures: Mapping[str, Figure] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        figures = {name: figure.to_dict() for name, figure in self.figures.items()}
        return {"set": self.questions, "by": self.by, "questions": self.count, **figures}

    def to_text(self, names: Sequence[str]) -> str:
        cells = (str(self.figures.get(name, "–")) for name in names)
        return f"{self.questions:<16} {self.by:<20} {self.count:>5}" + "".join(
            f" {cell:>18}" for cell in cells
        )


def table_of(rows: Sequence[Row]) -> str:
    """The rows below each other, with the figures that any of them has."""
    names = [name for name in FIGURES if any(name in row.figures for row in rows)]
    header = f"{'set':<16} {'by':<20} {'asked':>5}" + "".join(f" {name:>18}" for name in names)
    return "\n".join((header, *(row.to_text(names) for row in rows)))


# ── asking ───────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Bench:
    """What all sets of questions share."""

    folder: Path
    embedder: Embedder
    today: date | None

    async def ask_agents(self, files: Sequence[Path]) -> dict[str, list[Asked]]:
        sets = {path.stem: read_blind(path) for path in files}
        if not sets:
            return {}
        async with open_agent(self.folder / "agent") as opened:
            return await ask_agent(opened, sets, self.embedder)

    async def ask_libraries(self, folders: Sequence[Path]) -> dict[str, list[Asked]]:
        return {name_of(folder): await self._ask_library(folder) for folder in folders}

    async def _ask_library(self, folder: Path) -> list[Asked]:
        data = self.folder / f"library-{name_of(folder)}"
        async with open_library(folder, data, today=self.today) as opened:
            templates = opened.adapter.library.templates
            questions = read_library_questions(folder / "questions.yaml", templates, say)
            return await ask_library(opened, questions, self.embedder)

    async def ask_model(self, folder: Path, provider: str, model: str | None) -> list[Asked]:
        """Let a model propose the calls of some questions, drawn alike every time."""
        settings: dict[str, Any] = {
            "inference_model_provider": provider,
            "inference_model": model,
            "config": {
                "policy": {"mode": "llm_first"},
                "agent": {"model_timeout": MODEL_TIMEOUT_S, "synthesize_response": False},
            },
        }
        data = self.folder / "model"
        async with open_library(folder, data, today=self.today, **settings) as opened:
            templates = opened.adapter.library.templates
            questions = read_library_questions(folder / "questions.yaml", templates, say)
            sample = [questions[place] for place in sample_of(len(questions))]
            asked = await ask_library(opened, sample, None)
        if unasked := [one.unasked for one in asked if one.unasked]:
            say(f"the server decided {len(unasked)} itself, since the model failed: {unasked[0]}")
        return asked


def name_of(folder: Path) -> str:
    return folder.absolute().name


def sample_of(count: int) -> list[int]:
    """The places of the questions that a model is asked, the same ones every time."""
    return sorted(random.Random(7).sample(range(count), min(SAMPLE, count)))


def say(text: str) -> None:
    print(text, file=sys.stderr)


# ── figures ──────────────────────────────────────────────────────────────────────────


def own_row(questions: str, by: str, asked: Sequence[Asked]) -> Row:
    """What whole turns came to."""
    verdicts = [one.verdict for one in asked]
    choices = [one.choice for one in asked if one.choice is not None]
    figures: Figures = {
        verdict.value: Share.of_all(each is verdict for each in verdicts) for verdict in Verdict
    }
    if choices and len(choices) == len(asked):
        argued = [c.arguments_right for c in choices if c.arguments_right is not None]
        figures["template"] = Share.of_all(c.taken == c.wanted for c in choices if c.wanted)
        figures["arguments"] = Share.of_all(argued)
        figures["abstain"] = Share.of_all(not c.called for c in choices if not c.wanted)
        figures["wrong_call"] = Share.of_all(c.needless for c in choices)
    judged = [one.judged for one in asked if one.judged is not None]
    if any(one.confidence for one in judged):  # a model's proposals have none
        figures["calibration"] = CalibrationError.of_all(judged)
    return Row(questions, by, len(asked), figures)


def router_rows(questions: str, asked: Sequence[Asked], usual: float) -> list[Row]:
    """What the nearest example leads to: over the usual threshold, and over the best one."""
    routed = [(one, one.routed) for one in asked if one.routed is not None]
    best = best_threshold(
        [route.similarity for _, route in routed],
        [route.verdict is Verdict.RIGHT for _, route in routed],
        [one.nothing_may_run for one, _ in routed],
    )
    rows = []
    for name, threshold in (("nearest", usual), ("nearest, best", best)):
        verdicts = [
            route.verdict if route.similarity >= threshold else silence(one)
            for one, route in routed
        ]
        figures: Figures
        if any(one.choice is not None for one in asked):
            inside = [
                v for (one, _), v in zip(routed, verdicts, strict=True) if not one.nothing_may_run
            ]
            outside = [
                v for (one, _), v in zip(routed, verdicts, strict=True) if one.nothing_may_run
            ]
            figures = {
                "template": Share.of_all(v is Verdict.RIGHT for v in inside),
                "abstain": Share.of_all(v is Verdict.RIGHT for v in outside),
                "wrong_call": Share.of_all(v is Verdict.WRONG for v in verdicts),
            }
        else:
            figures = {
                verdict.value: Share.of_all(each is verdict for each in verdicts)
                for verdict in Verdict
            }
        rows.append(Row(questions, f"{name} {threshold:.2f}", len(routed), figures))
    return rows


def silence(asked: Asked) -> Verdict:
    return Verdict.RIGHT if asked.nothing_may_run else Verdict.SILENT


def rows_of(sets: Mapping[str, Sequence[Asked]], pooled: str, usual: float) -> list[Row]:
    """Three rows a set, and three of all together where there are several."""
    every = dict(sets)
    if len(sets) > 1:
        every[pooled] = list(chain.from_iterable(sets.values()))
    return [
        row
        for name, asked in every.items()
        for row in (own_row(name, "whole turns", asked), *router_rows(name, asked, usual))
    ]


def kind_rows(name: str, kind: Kind, sets: Mapping[str, Sequence[Scored]]) -> list[Row]:
    """One row for each file of a kind, and one of all together where there are several."""
    every = dict(sets)
    if len(sets) > 1:
        every[f"all {name} files"] = list(chain.from_iterable(sets.values()))
    return [
        Row(file, "whole turns", len(scored), kind.figures(scored))
        for file, scored in every.items()
    ]


# ── the command ──────────────────────────────────────────────────────────────────────


async def measure(given: argparse.Namespace) -> list[Row]:
    embedder = build_embedder("local", None, EmbeddingsSettings())
    with tempfile.TemporaryDirectory(prefix="orbit-blind-") as folder:
        bench = Bench(Path(folder), embedder, given.today)
        agents = await bench.ask_agents(given.agent)
        libraries = await bench.ask_libraries(given.library)
        rows = rows_of(agents, "all agent files", given.threshold)
        rows += rows_of(libraries, "all libraries", given.threshold)
        if agents and libraries:
            everything = list(chain(*agents.values(), *libraries.values()))
            rows.append(own_row("everything", "whole turns", everything))
        if given.model is not None and libraries:
            name, asked = next(iter(libraries.items()))
            sample = [asked[place] for place in sample_of(len(asked))]
            by_model = await bench.ask_model(given.library[0], given.provider, given.model or None)
            rows.append(own_row(f"{name}, sample", "whole turns", sample))
            rows.append(own_row(f"{name}, sample", given.model or given.provider, by_model))
        for name, kind in KINDS.items():
            sets = await score_files(kind, getattr(given, name), Path(folder) / name)
            rows += kind_rows(name, kind, sets)
    await embedder.close()
    return rows


def main() -> None:
    lines = __doc__.splitlines()
    parser = argparse.ArgumentParser(description=lines[0])
    parser.add_argument("--agent", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--library", type=Path, nargs="+", default=[], metavar="FOLDER")
    for name, kind in KINDS.items():
        asked = f"questions for {kind.adapter}"
        parser.add_argument(
            f"--{name}", type=Path, nargs="+", default=[], metavar="FILE", help=asked
        )
    parser.add_argument("--model", nargs="?", const="", metavar="NAME")
    parser.add_argument("--provider", default="llama_cpp")
    parser.add_argument("--today", type=date.fromisoformat, metavar="DAY", help="for libraries")
    parser.add_argument("--threshold", type=float, default=USUAL_THRESHOLD, metavar="T")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    sources = ("agent", "library", *KINDS)
    if not any(getattr(given, name) for name in sources):
        parser.error(f"name what to ask with {join_words([f'--{name}' for name in sources])}")
    rows = asyncio.run(measure(given))
    if given.json:
        found = {"machine": describe_machine(), "rows": [row.to_dict() for row in rows]}
        print(json.dumps(found, indent=2))
        return
    print(table_of(rows))


if __name__ == "__main__":
    main()
