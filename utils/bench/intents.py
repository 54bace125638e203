"""What a detection costs: latency, growth with keywords, hostile text, a cold start.

    .venv/bin/python -m utils.bench.intents [--rounds 20] [--json]

The latency is of every labelled question of the tests, one at a time, the engine warm.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from server.intents.compiler import load_pack
from server.intents.detector import IntentDetector
from server.settings.documents import read_yaml
from utils.bench._machine import describe_machine, installed_environment, percentiles

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = ROOT / "tests" / "intents" / "questions"
PACKS = ROOT / "examples" / "intent-packs"
LABELLED = {"decisions_he": "gov-decisions-he", "study_en": "study-assistant"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = {
        "machine": describe_machine(),
        "latency_us": {name: latency(name, options.rounds) for name in LABELLED},
        "keywords_us": keywords(options.rounds),
        "hostile_ms": hostile(min(3, options.rounds)),
        "detect_command": cold_start(min(5, options.rounds)),
    }
    print(json.dumps(figures, indent=2, ensure_ascii=False) if options.json else as_text(figures))


def opened(path: Path) -> IntentDetector:
    loaded = load_pack(path, {})
    if loaded.pack is None:
        raise SystemExit("\n".join(map(str, loaded.problems)))
    return IntentDetector(loaded.pack)


def labelled(name: str) -> list[str]:
    return [
        question["ask"] for question in read_yaml(QUESTIONS / f"{name}.yaml", {}).data["questions"]
    ]


def took_us(work: Callable[[], object]) -> float:
    begin = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - begin) / 1000


def latency(name: str, rounds: int) -> dict[str, float]:
    """Of all questions together; the best of its rounds also stands for each by itself."""
    detector, questions = opened(PACKS / LABELLED[name]), labelled(name)
    for question in questions:
        detector.detect(question)
    work = [partial(detector.detect, question) for question in questions]
    samples = [[took_us(detect) for detect in work] for _ in range(rounds)]
    every = percentiles([sample for row in samples for sample in row])
    best = percentiles([min(column) for column in zip(*samples, strict=True)])
    return {
        "questions": len(questions),
        **{key: round(every[key], 1) for key in ("p50", "p99", "max")},
        "undisturbed_p50": round(best["p50"], 1),
        "undisturbed_p99": round(best["p99"], 1),
    }


def keywords(rounds: int) -> dict[str, float]:
    """Microseconds of one question, by how many keywords its pack has."""
    found: dict[str, float] = {}
    for count in (10, 100, 1_000, 10_000):
        words = ", ".join(f"keyword{number} of mine" for number in range(count))
        text = (
            "name: many\nlanguages: [en]\nfallback: {intent: NONE}\nintents:\n"
            f"  - {{name: MANY, keywords: [{words}]}}\n  - {{name: NONE}}\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "pack.yaml").write_text(text, encoding="utf-8")
            detector = opened(Path(folder))
        question = "would you look for keyword7 of mine in the archive, please?"
        detect = partial(detector.detect, question)
        samples = [took_us(detect) for _ in range(rounds * 100)]
        found[str(count)] = round(percentiles(samples)["p50"], 1)
    return found


def hostile(rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds for text of 12,500 to 100,000 characters: twice the text, twice the time."""
    detector = opened(PACKS / "gov-decisions-he")
    texts = {
        "keywords": "החלטות ",
        "dates": "בין 2020 ל-2021 ",
        "numbers": "שלושים ושבע ",
        "marks": "a\u0301\u0323",
        "one word": "ו",
    }
    found: dict[str, dict[str, float]] = {}
    for name, piece in texts.items():
        found[name] = {}
        for size in (12_500, 25_000, 50_000, 100_000):
            text = (piece * size)[:size]
            best = min(took_us(partial(detector.detect, text)) for _ in range(rounds))
            found[name][str(size)] = round(best / 1000, 1)
    return found


def cold_start(rounds: int) -> dict[str, float]:
    """The command as people run it: seconds to its answer, and its memory at most."""
    program = (
        "import sys; from server.__main__ import main; sys.argv[0] = 'orbit.sh'\n"
        "try: main()\n"
        "finally: print(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0],"
        " file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, "detect", "השווה בין ממשלה 36 ל-37"]
    command += ["--intents", str(PACKS / "gov-decisions-he"), "--json"]
    seconds: list[float] = []
    memory = 0
    for _ in range(rounds):
        begin = time.perf_counter()
        done = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            env=installed_environment(),
        )
        seconds.append(time.perf_counter() - begin)
        memory = max(memory, int(done.stderr.split()[-1]))
    return {
        "seconds_best": round(min(seconds), 3),
        "seconds_worst": round(max(seconds), 3),
        "resident_mb": round(memory / 1024, 1),
    }


def as_text(figures: dict[str, Any]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in figures.items())


if __name__ == "__main__":
    main()
