"""How long `ask` takes in a process of its own, which is what an author waits for.

    .venv/bin/python -m utils.bench.ask [--rounds 20] [--json]

Asks a new project and the example that ships, each in a fresh process with its vectors kept from
a first one, and in turns, so that both see the same neighbours.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from utils.bench._machine import describe_machine, installed_environment, percentiles

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = {"machine": describe_machine(), "seconds": measured(Path(folder), options.rounds)}
    print(json.dumps(figures, indent=2) if options.json else as_text(figures))


def measured(folder: Path, rounds: int) -> dict[str, dict[str, float]]:
    project, data = str(folder / "shop"), str(folder / "data")
    orbit("new", project)
    questions: Mapping[str, Sequence[str]] = {
        "a new project": ("ask", "take 25% off 40", project),
        "the agent example": ("ask", "What is 15% of 200?", "--data", data),
    }
    for words in questions.values():
        orbit(*words)  # compiles modules, computes vectors and keeps them
    took: dict[str, list[float]] = {name: [] for name in questions}
    for _ in range(rounds):
        for name, words in questions.items():
            begin = time.perf_counter()
            orbit(*words)
            took[name].append(time.perf_counter() - begin)
    return {
        name: {key: round(value, 3) for key, value in percentiles(samples).items()}
        for name, samples in took.items()
    }


def orbit(*words: str) -> None:
    command = [sys.executable, "-m", "server", *words]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env=installed_environment())


def as_text(figures: dict[str, Any]) -> str:
    machine = figures["machine"]
    head = f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}"
    rows = [
        f"  {name}: p50 {took['p50']:.2f} s, least {took['min']:.2f} s, p90 {took['p90']:.2f} s"
        for name, took in figures["seconds"].items()
    ]
    return "\n".join([head, *rows])


if __name__ == "__main__":
    main()
