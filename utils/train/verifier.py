"""Makes the verifier's numbers: `python -m utils.train.verifier CLINC150_DIR [--write] [--json]`.

It learns from the libraries beside this file, the examples that ship, half of the validation and
out-of-scope sentences of CLINC150, and contrasts made from the libraries' own questions. Every
figure is of a library that was left out of the learning. `--write` puts the numbers where the
server reads them. The same data gives the same numbers.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from server.providers.embeddings.factory import build_embedder
from server.retrievers import verifier as shipped
from server.retrievers.evidence import FEATURES
from server.settings.models import EmbeddingsSettings
from utils.bench._libraries import library_of
from utils.train.contrasts import contrasts
from utils.train.fit import Weights, learn
from utils.train.observe import (
    EXAMPLES,
    LIBRARIES,
    Asked,
    Observation,
    Row,
    agent_questions,
    labelled,
    labelled_intent,
    library_questions,
    observe,
    read_intents,
    read_library,
)

_WRITTEN: Final = Path(shipped.__file__).with_name("verifier.json")
_SHIPPED: Final = ("agent-template", "jsonplaceholder", "retail")
_THRESHOLDS: Final = tuple(round(0.02 * n, 2) for n in range(2, 50))
_AGENT: Final = "agent-template"
_LEAST: Final = 5e-4


class Choice(NamedTuple):
    """What would be chosen for a question, and how sure that is."""

    library: str
    answerable: bool
    row: Row
    confidence: float

    def is_wrong(self, threshold: float) -> bool:
        """Whether something would run that should not."""
        return self.confidence >= threshold and not self.row.asks and not self.row.template_right


async def observations(data: Path, state: Path) -> list[Observation]:
    """Ask all that there is to learn from."""
    embedder = build_embedder("local", None, EmbeddingsSettings())
    await embedder.warm()
    found: list[Observation] = []
    folders = [
        folder for folder in sorted(LIBRARIES.iterdir()) if (folder / "domain.yaml").exists()
    ]
    libraries = {folder.name: read_library(folder) for folder in folders}
    words = {
        name: sorted({w for t in one.templates.values() for w in t.description.lower().split()})
        for name, one in libraries.items()
    }
    for number, folder in enumerate(folders):
        library = libraries[folder.name]
        questions = library_questions(folder, library)
        foreign = [w for name, some in words.items() if name != folder.name for w in some]
        asked: list[Asked] = [labelled(question, library) for question in questions]
        asked += contrasts(questions, library, [w for w in foreign if len(w) > 4], number)
        found += await observe(folder.name, library, asked, embedder, state)
    for name in _SHIPPED:
        library = read_library(EXAMPLES / name)
        questions = library_questions(EXAMPLES / name, library)
        asked = [labelled(question, library) for question in questions]
        if name == _AGENT:
            asked += await agent_questions(library)
        found += await observe(name, library, asked, embedder, state)
    examples, intents = read_intents(data)
    asked = [labelled_intent(line["text"], line["intent"]) for line in intents]
    found += await observe("clinc150", library_of(examples), asked, embedder, state)
    await embedder.close()
    return found


def choose(weights: Weights, some: Sequence[Observation]) -> list[Choice]:
    """What a verifier with these weights would choose for each question."""
    chosen = []
    for one in some:
        likely = [weights.probability(row) for row in one.rows]
        best = int(np.argmax(likely))
        chosen.append(Choice(one.library, one.answerable, one.rows[best], likely[best]))
    return chosen


def leave_one_out(found: Sequence[Observation]) -> list[Choice]:
    """Choices for the real questions of each library, by weights learnt from all the others."""
    chosen: list[Choice] = []
    for name in sorted({one.library for one in found}):
        rest = [one for one in found if one.library != name]
        own = [one for one in found if one.library == name and one.weight == 1.0]
        chosen += choose(learn(rest), own)
    return chosen


def figures(chosen: Sequence[Choice], threshold: float) -> dict[str, float]:
    """Shares of right templates, right arguments among them, abstentions and wrong calls."""
    inside = [c for c in chosen if c.answerable]
    outside = [c for c in chosen if not c.answerable]
    right = [c for c in inside if c.confidence >= threshold and c.row.template_right]

    def share(hits: Sequence[bool]) -> float:
        return round(float(np.mean(hits)), 4) if hits else 0.0

    return {
        "questions": len(chosen),
        "template": share([c.confidence >= threshold and c.row.template_right for c in inside]),
        "arguments": share([c.row.right for c in right]),
        "abstain": share([c.confidence < threshold or c.row.asks for c in outside]),
        "wrong": share([c.is_wrong(threshold) for c in chosen]),
        "calibration_error": round(_calibration_error(chosen), 4),
    }


def _calibration_error(chosen: Sequence[Choice]) -> float:
    likely = np.array([c.confidence for c in chosen])
    right = np.array([c.row.right for c in chosen], float)
    bins = np.minimum((likely * 10).astype(int), 9)
    gaps = (abs(likely[bins == n].sum() - right[bins == n].sum()) for n in range(10))
    return float(sum(gaps)) / len(chosen)


def risk(chosen: Sequence[Choice]) -> list[list[float]]:
    """The share of questions that go wrong at each threshold, as a mean of libraries.

    Libraries with parameters count, each as much as any other: the next one is another library,
    and not more questions for one of these.
    """
    libraries = [
        [one for one in chosen if one.library == name]
        for name in sorted({one.library for one in chosen} - {"clinc150"})
    ]
    return [
        [
            at,
            round(float(np.mean([np.mean([c.is_wrong(at) for c in own]) for own in libraries])), 4),
        ]
        for at in _THRESHOLDS
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, metavar="CLINC150_DIR")
    parser.add_argument("--write", action="store_true", help="put the numbers into the server")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(observations(given.data, Path(folder)))
    chosen = leave_one_out(found)
    curve = risk(chosen)
    threshold = next(at for at, wrong in curve if wrong <= 0.03)
    report: dict[str, Any] = {
        "threshold": threshold,
        "all": figures(chosen, threshold),
        "left_out": {
            name: figures([c for c in chosen if c.library == name], threshold)
            for name in sorted({c.library for c in chosen})
        },
    }
    if given.write:
        weights = learn(found)
        named = dict(zip(FEATURES, weights.weights.tolist(), strict=True))
        data = {
            "weights": {n: round(w, 4) for n, w in named.items() if abs(w) >= _LEAST},
            "bias": round(weights.bias, 4),
            "risk": curve,
        }
        _WRITTEN.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    if given.json:
        print(json.dumps(report, indent=2))
        return
    print(f"threshold {threshold}")
    for name, held in {"all": report["all"], **report["left_out"]}.items():
        print(f"{name:<16}", "  ".join(f"{key} {value:g}" for key, value in held.items()))


if __name__ == "__main__":
    main()
