"""How well questions find their templates: `python -m utils.bench.clinc150 DATA_DIR [--json]`.

DATA_DIR holds `train_10shot.jsonl`, `validation.jsonl` and `oos_validation.jsonl`, each
line `{"text": …, "intent": …}`. Every intent is a template with its ten examples, and
nothing is set that a user would not find set. `--typos` misspells a word or two of each
question first.
"""

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from server.core.decision import Match
from server.evaluation.outcomes import auroc, percentile, share
from server.matching.index.store import TemplateStore
from server.matching.matcher import Matcher
from server.matching.selection import Ranking, choose_template
from server.providers.embeddings.factory import build_embedder
from server.settings.adapters import AdapterConfig
from server.settings.models import (
    EmbeddingsSettings,
    MatchingSettings,
    VectorStoreSettings,
)
from utils.bench._libraries import library_of
from utils.bench._machine import describe_machine

FLOOR: float = AdapterConfig.model_fields["confidence_threshold"].default
LIMIT: int = AdapterConfig.model_fields["max_templates"].default


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the intent it was labelled with (None: out of scope), and what came back."""

    intent: str | None
    ranking: Ranking
    latency_ms: float

    @property
    def best(self) -> str:
        return self.ranking.candidates[0].template_id

    @property
    def confidence(self) -> float:
        return self.ranking.candidates[0].probability

    @property
    def answer(self) -> str | None:
        """The template that would run, if any."""
        chosen = choose_template(
            self.ranking, {}, floor=FLOOR, margin=MatchingSettings().clarify_margin
        )
        return chosen.template_id if isinstance(chosen, Match) else None


async def ask_all(
    data: Path, provider: str, model: str | None, *, typos: bool
) -> tuple[list[Asked], dict[str, float]]:
    """Index the examples in a new folder and put every question, one at a time."""
    examples: dict[str, list[str]] = {}
    for line in _read(data / "train_10shot.jsonl"):
        examples.setdefault(line["intent"], []).append(line["text"])
    questions = _read(data / "validation.jsonl") + _read(data / "oos_validation.jsonl")
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        store = TemplateStore(VectorStoreSettings(), Path(folder))
        embedder = build_embedder(provider, model, EmbeddingsSettings())
        start = perf_counter()
        matcher = await Matcher.open(
            "clinc150", library_of(examples), embedder, store, state_dir=Path(folder) / "heads"
        )
        opened = perf_counter() - start
        asked = []
        for question in questions:
            text = _misspelt(question["text"], chance) if typos else question["text"]
            start = perf_counter()
            ranking = await matcher.rank(text, limit=LIMIT)
            asked.append(Asked(question["intent"], ranking, (perf_counter() - start) * 1000))
        await embedder.close()
        await store.close()
    return asked, {"open_s": opened}


def report(asked: Sequence[Asked]) -> dict[str, Any]:
    """The figures, in the words of `eval`."""
    inside = [a for a in asked if a.intent is not None]
    outside = [a for a in asked if a.intent is None]
    wrong = [a.answer is not None and a.answer != a.intent for a in asked]
    return {
        "questions": len(asked),
        "template_accuracy_before_abstaining": share(a.best == a.intent for a in inside),
        "floor": FLOOR,
        "template_accuracy": share(a.answer == a.intent for a in inside),
        "abstain_recall": share(a.answer is None for a in outside),
        "wrong_call_rate": share(wrong),
        "auroc": auroc(
            [a.confidence for a in inside if a.best == a.intent],
            [a.confidence for a in outside],
        ),
        "calibration_error": _calibration_error(asked),
        "latency_ms": {
            f"p{percent}": percentile([a.latency_ms for a in asked], percent)
            for percent in (50, 99)
        },
    }


def _calibration_error(asked: Sequence[Asked]) -> float:
    """How far confidence is from the share that is right, over ten bins, by their size."""
    bins: dict[int, list[Asked]] = {}
    for one in asked:
        bins.setdefault(min(int(one.confidence * 10), 9), []).append(one)
    gaps = (
        abs(sum(a.confidence for a in held) - sum(a.best == a.intent for a in held))
        for held in bins.values()
    )
    return sum(gaps) / len(asked)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--provider", default="local")
    parser.add_argument("--model", default=None)
    parser.add_argument("--typos", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    asked, times = asyncio.run(ask_all(given.data, given.provider, given.model, typos=given.typos))
    found = report(asked) | times
    if given.json:
        print(json.dumps({"machine": describe_machine(), **found}, indent=2))
        return
    for name, value in found.items():
        print(f"{name:<38} {value if not isinstance(value, float) else f'{value:.4f}'}")


if __name__ == "__main__":
    main()
