"""How well questions find their templates, out of 150 intents and beside questions for none.

`python -m utils.bench.clinc150 DATA_DIR [--every N] [--values] [--typos] [--json]`

DATA_DIR holds `train_10shot.jsonl`, `validation.jsonl` and `oos_validation.jsonl`, each
line `{"text": …, "intent": …}`. Every intent is a template with its ten examples, and nothing is
set that a user would not find set. Each question is a whole turn, and is put to the matcher alone
as well, which chooses by likeness over a threshold of its own.

`--every N` asks every Nth question. `--values` adds to each a value that no template has a use
for (“… at 6 am”), and `--typos` misspells a word or two of it.
"""

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import yaml

from server.core.decision import Match
from server.evaluation.outcomes import Outcome, auroc, outcome_of, percentile
from server.library.loader import load_library
from server.matching.index.store import TemplateStore
from server.matching.matcher import Matcher
from server.matching.selection import Ranking, choose_template
from server.providers.embeddings.factory import build_embedder
from server.retrievers.choice import WITHOUT_EXAMPLES
from server.settings.adapters import AdapterConfig
from server.settings.models import EmbeddingsSettings, MatchingSettings, VectorStoreSettings
from utils.bench._figures import CalibrationError, Judged, Share
from utils.bench._machine import describe_machine
from utils.bench._turns import open_library

LIMIT: Final[int] = AdapterConfig.model_fields["max_templates"].default
MARGIN: Final = MatchingSettings().clarify_margin
FLOOR: Final = WITHOUT_EXAMPLES
"""The threshold of the matcher alone: a turn's is for the verifier's confidence, not for this."""

RISK: Final[float] = AdapterConfig.model_fields["max_wrong"].default

ASIDE: Final = (
    "{} at 6 am",
    "{}, it is 7:30 pm already",
    "{} for my 2 kids",
    "{}, i have 20 minutes",
    "{} for the 4 of us",
    "{} on 3 march",
    "i am 34 years old, {}",
    "my 3 friends are here, {}",
    "it is 25 degrees outside, {}",
    "{}, this is my 2nd try",
)
"""Values that change nothing about what is asked."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the intent it was labelled with; None: out of scope."""

    text: str
    intent: str | None


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question came to: the template that would run, if any, and the likeliest one."""

    intent: str | None
    answer: str | None
    best: str | None
    confidence: float
    latency_ms: float


def read_questions(data: Path, *, every: int, values: bool, typos: bool) -> list[Question]:
    """Every Nth question of either kind, changed as was asked for: the same each time."""
    chance = random.Random(7)
    lines = (
        _read(data / "validation.jsonl")[::every] + _read(data / "oos_validation.jsonl")[::every]
    )
    questions = []
    for line in lines:
        text = _misspelt(line["text"], chance) if typos else line["text"]
        if values:
            text = chance.choice(ASIDE).format(text)
        questions.append(Question(text, line["intent"]))
    return questions


def write_library(data: Path, folder: Path) -> Path:
    """Write every intent as a template that needs nothing, described by its name in words."""
    examples: dict[str, list[str]] = {}
    for line in _read(data / "train_10shot.jsonl"):
        examples.setdefault(line["intent"], []).append(line["text"])
    templates = [
        {
            "id": name,
            "description": name.replace("_", " "),
            "tool_type": "query",
            "nl_examples": texts,
            "method": "GET",
            "endpoint": f"/{name}",
        }
        for name, texts in examples.items()
    ]
    domain = {
        "domain": {"name": "clinc150", "description": "Everyday requests"},
        "api_config": {"base_url": "http://127.0.0.1:9"},
    }
    folder.mkdir(parents=True)
    (folder / "domain.yaml").write_text(yaml.safe_dump(domain), encoding="utf-8")
    (folder / "templates.yaml").write_text(yaml.safe_dump(templates), encoding="utf-8")
    return folder


async def ask_turns(
    library: Path, data: Path, questions: Sequence[Question], **adapter: Any
) -> list[Asked]:
    """Put every question as a turn of its own, one at a time; nothing is called."""
    async with open_library(library, data, **adapter) as opened:
        templates = opened.adapter.library.templates
        asked = []
        for question in questions:
            start = perf_counter()
            answer = await opened.ask(question.text)
            took = (perf_counter() - start) * 1000
            outcome = outcome_of(answer.decision, templates, latency_ms=took)
            asked.append(_asked(question, outcome))
    return asked


def _asked(question: Question, outcome: Outcome) -> Asked:
    chosen, nearest = outcome.template, outcome.nearest
    return Asked(question.intent, chosen, nearest, outcome.confidence, outcome.latency_ms)


async def ask_matcher(
    library: Path, questions: Sequence[Question], provider: str, model: str | None
) -> tuple[list[Asked], float]:
    """Put every question to the matcher alone; returns the seconds that opening it took, too."""
    loaded = load_library(library / "domain.yaml", [library / "templates.yaml"], {}).library
    assert loaded is not None
    async with AsyncExitStack() as closing:
        folder = Path(closing.enter_context(tempfile.TemporaryDirectory()))
        store = TemplateStore(VectorStoreSettings(), folder)
        closing.push_async_callback(store.close)
        embedder = build_embedder(provider, model, EmbeddingsSettings())
        closing.push_async_callback(embedder.close)
        start = perf_counter()
        matcher = await Matcher.open(
            "clinc150", loaded, embedder, store, state_dir=folder / "heads"
        )
        opened = perf_counter() - start
        asked = []
        for question in questions:
            start = perf_counter()
            ranking = await matcher.rank(question.text, limit=LIMIT)
            asked.append(_ranked(question, ranking, (perf_counter() - start) * 1000))
    return asked, opened


def _ranked(question: Question, ranking: Ranking, took: float) -> Asked:
    best = ranking.candidates[0]
    chosen = choose_template(ranking, {}, floor=FLOOR, margin=MARGIN)
    answer = chosen.template_id if isinstance(chosen, Match) else None
    return Asked(question.intent, answer, best.template_id, best.probability, took)


def report(asked: Sequence[Asked]) -> dict[str, Any]:
    """The figures, in the words of `eval`."""
    inside = [one for one in asked if one.intent is not None]
    outside = [one for one in asked if one.intent is None]
    judged = [
        Judged(one.confidence, one.intent is not None and one.best == one.intent)
        for one in asked
        if one.best is not None
    ]
    return {
        "template_accuracy_before_abstaining": Share.of_all(a.best == a.intent for a in inside),
        "template_accuracy": Share.of_all(a.answer == a.intent for a in inside),
        "abstain_recall": Share.of_all(a.answer is None for a in outside),
        "wrong_call_rate": Share.of_all(a.answer not in (None, a.intent) for a in asked),
        "template_accuracy_at_equal_risk": _right_within_risk(asked),
        "auroc": auroc([a.confidence for a in inside], [a.confidence for a in outside]),
        "calibration_error": CalibrationError.of_all(judged),
        "latency_ms_p50": percentile([a.latency_ms for a in asked], 50),
        "latency_ms_p99": percentile([a.latency_ms for a in asked], 99),
    }


def _right_within_risk(asked: Sequence[Asked]) -> Share:
    """How many are right by the likeliest template, over the least confidence that keeps the risk.

    It makes ways with different thresholds comparable: each is as often wrong.
    """
    inside = sum(one.intent is not None for one in asked)
    right = wrong = most = 0
    ordered = sorted(asked, key=lambda one: -one.confidence)
    for place, one in enumerate(ordered, 1):
        is_right = one.intent is not None and one.best == one.intent
        right, wrong = right + is_right, wrong + (not is_right)
        tied = place < len(ordered) and ordered[place].confidence == one.confidence
        if not tied and wrong <= RISK * len(asked):
            most = max(most, right)
    return Share(most, inside)


async def measure(given: argparse.Namespace) -> dict[str, Any]:
    questions = read_questions(
        given.data, every=given.every, values=given.values, typos=given.typos
    )
    encoder = {"embedding_provider": given.provider, "embedding_model": given.model}
    with tempfile.TemporaryDirectory() as folder:
        library = write_library(given.data, Path(folder) / "clinc150")
        turns = await ask_turns(library, Path(folder) / "data", questions, **encoder)
        alone, opened = await ask_matcher(library, questions, given.provider, given.model)
    return {
        "questions": len(questions),
        "matcher_open_s": opened,
        "whole_turns": report(turns),
        "matcher_alone": report(alone),
    }


def _read(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _misspelt(text: str, chance: random.Random) -> str:
    """One slip, or two in a long question, in words of more than three letters."""
    words = text.split()
    long = [place for place, word in enumerate(words) if len(word) > 3]
    for place in chance.sample(long, min(len(long), 1 + (len(words) > 8))):
        word, at = words[place], chance.randrange(1, len(words[place]) - 1)
        slips = (
            word[:at] + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
            word[:at] + word[at] + word[at:],
            word[:at] + chance.choice("abcdefghijklmnoprstuvw") + word[at + 1 :],
        )
        words[place] = chance.choice(slips)
    return " ".join(words)


def _as_json(figure: Any) -> Any:
    return figure.to_dict() if isinstance(figure, Share | CalibrationError) else figure


def _as_text(figure: Any) -> str:
    return f"{figure:.3f}" if isinstance(figure, float) else str(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--provider", default="local")
    parser.add_argument("--model", default=None)
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--values", action="store_true")
    parser.add_argument("--typos", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = asyncio.run(measure(given))
    turns, alone = found["whole_turns"], found["matcher_alone"]
    if given.json:
        for figures in (turns, alone):
            figures.update({name: _as_json(figure) for name, figure in figures.items()})
        print(json.dumps({"machine": describe_machine(), **found}, indent=2))
        return
    print(f"{found['questions']} questions; the matcher opened in {found['matcher_open_s']:.1f} s")
    print(f"{'':<38} {'whole turns':>20} {'matcher alone':>20}")
    for name in turns:
        print(f"{name:<38} {_as_text(turns[name]):>20} {_as_text(alone[name]):>20}")


if __name__ == "__main__":
    main()
