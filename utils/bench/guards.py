"""What guards cost: each stage alone, and a guarded turn against an unguarded one.

    .venv/bin/python -m utils.bench.guards [--questions 300] [--json]

The regex stage is measured with 200 patterns. Every question of the turns is asked once
only, so that each is embedded anew; guarded and unguarded turns alternate, so that the
machine's other work falls on both alike. Absolute figures mean little under load.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from server.adapters.build import build_adapter
from server.adapters.resources import SharedResources
from server.chat.adapter import Adapter
from server.chat.pipeline import run_turn
from server.core.turn import Caller, Turn
from server.guards.engine import GuardQuestion, PatternStage, evaluate_set
from server.guards.measurement import figures, load_labelled, measure_guard
from server.guards.model import Category
from server.settings.loader import load_settings
from server.text.normalizer import normalize_text
from utils.bench._machine import describe_machine, percentiles

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "guards" / "litecoin"
WORDS = ("wallet", "node", "fee", "block", "address", "key", "pool", "miner", "channel", "token")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="orbit-bench-") as data:
        found = asyncio.run(measured(Path(data), options.questions))
    found = {"machine": describe_machine(), **found}
    print(json.dumps(found, indent=2) if options.json else as_text(found))


async def measured(data: Path, count: int) -> dict[str, Any]:
    loaded = load_settings(EXAMPLE / "config.yaml", os.environ)
    assert loaded.settings is not None, loaded.problems
    settings = loaded.settings.model_copy(update={"data_dir": data})
    (guarded,) = settings.adapters
    bare = guarded.guards.model_copy(update={"packs": ()})
    plain = guarded.model_copy(update={"guards": bare, "name": "bare"}).at(guarded.where)
    first = guarded.guards.model_copy(update={"packs": (EXAMPLE / "guard-as-specified.yaml",)})
    early = guarded.model_copy(update={"guards": first, "name": "first"}).at(guarded.where)
    resources = await SharedResources.open(settings, os.environ)
    with_guard = await build_adapter(guarded, resources)
    without = await build_adapter(plain, resources)
    specified = await build_adapter(early, resources)
    labelled, _ = load_labelled(EXAMPLE / "labelled.yaml", {})
    assert labelled is not None
    assert with_guard.guard is not None
    assert specified.guard is not None
    try:
        return {
            "regex_stage_200_patterns_ms": regex_stage(labelled["technical_support"]),
            "both_stages_ms": await both_stages(with_guard, count),
            **await turns(with_guard, without, count),
            "labelled": {
                "improved": counted(await measure_guard(with_guard.guard, labelled)),
                "as_specified": counted(await measure_guard(specified.guard, labelled)),
            },
        }
    finally:
        for adapter in (with_guard, without, specified):
            await adapter.close()
        await resources.close()


def regex_stage(questions: tuple[str, ...]) -> dict[str, float]:
    patterns = tuple(
        rf"\b(?:{a}|{b})s?\b.{{0,30}}\b(?:number|kind) {n}\b"
        for n in range(20)
        for a, b in zip(WORDS, WORDS[1:] + WORDS[:1], strict=True)
    )
    stage = PatternStage([Category("bench", "block", patterns=patterns)])
    assert len(stage) == 200
    samples = []
    for question in questions * 20:
        since = time.perf_counter()
        stage.find(normalize_text(question))
        samples.append((time.perf_counter() - since) * 1000)
    return percentiles(samples[len(questions) :])


async def both_stages(adapter: Adapter, count: int) -> dict[str, float]:
    guard = adapter.guard
    assert guard is not None
    samples = []
    for text in questions("both", count):
        since = time.perf_counter()
        question = GuardQuestion(text, guard.embedder)
        await evaluate_set(guard._engine, question, fail_closed=False, stage_timeout_s=5)
        samples.append((time.perf_counter() - since) * 1000)
    return percentiles(samples)


async def turns(guarded: Adapter, bare: Adapter, count: int) -> dict[str, Any]:
    """Turns by turns; a question of one kind is never asked of the other."""
    samples: dict[str, list[float]] = {"guarded": [], "bare": []}
    pairs = zip(questions("guarded", count), questions("bare", count), strict=True)
    for number, (one, other) in enumerate(pairs):
        both = [("guarded", guarded, one), ("bare", bare, other)]
        for name, adapter, text in both if number % 2 else reversed(both):
            turn = Turn("bench", text, "s", Caller("k", adapter.name), datetime.now(UTC))
            since = time.perf_counter()
            await run_turn(adapter, turn, timeout_s=30)
            samples[name].append((time.perf_counter() - since) * 1000)
    found = {f"{name}_turn_ms": percentiles(values) for name, values in samples.items()}
    more = found["guarded_turn_ms"]["p50"] - found["bare_turn_ms"]["p50"]
    return found | {"guard_costs_ms_p50": round(more, 3)}


def questions(kind: str, count: int) -> list[str]:
    """Questions of the same shape that differ in a word, so that each is embedded anew."""
    seed = {"both": "a", "guarded": "b", "bare": "c"}[kind]
    return [
        f"how do I look after the {WORDS[n % 10]} of my friend {seed}{letters(n)} with the node"
        for n in range(count)
    ]


def letters(number: int) -> str:
    return "".join(chr(97 + number // 26**place % 26) for place in range(3))


def counted(rows: Any) -> dict[str, Any]:
    found = figures(rows)
    return {name: value for name, value in found.items() if not isinstance(value, list)}


def as_text(found: dict[str, Any]) -> str:
    lines = [f"{name}: {value}" for name, value in found["machine"].items()]
    for name, value in found.items():
        if isinstance(value, dict) and "p99" in value:
            lines.append(
                f"{name}: p50 {value['p50']:.3f}, p99 {value['p99']:.3f}, {value['count']} samples"
            )
    lines.append(f"a guard costs {found['guard_costs_ms_p50']} ms more (p50)")
    for name, value in found["labelled"].items():
        lines.append(
            f"labelled, {name}: missed {value['missed_blocks']} of {value['to_stop']}, "
            f"wrongly stopped {value['false_blocks']} of {value['to_pass']}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
