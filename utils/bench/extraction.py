"""How long extraction takes: `python -m utils.bench.extraction [--runs N] [--json]`.

Reading a question is measured apart from filling one template from it, since a question
is read once and then held against several templates. Times are percentiles of single
calls in microseconds. Uses the agent example, and a question with 1,000 rows of JSON.
"""

import argparse
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from server.extraction.extractor import Extractor
from server.library.loader import load_library
from server.library.model import Library
from server.text.parsed_text import ParsedText
from utils.bench._machine import describe_machine, percentiles

EXAMPLE = Path(__file__).parents[2] / "examples" / "intent-templates" / "agent-template"
NOW = datetime(2025, 3, 5, 12, tzinfo=UTC)

ROWS = [{"name": f"item {n}", "price": n, "city": ("Rome", "Oslo")[n % 2]} for n in range(1000)]
FEW = json.dumps(ROWS[:2])

QUESTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "percentage": (
        "What is 15% of 200?",
        ("calculate_percentage", "percentage_of_total", "add_numbers", "divide_numbers"),
    ),
    "numbers": ("add 12, 7 and 30 please", ("add_numbers", "average_numbers", "round_number")),
    "dates": (
        "how many days between 2025-01-01 and March 1, 2025",
        ("date_difference", "add_days", "day_of_week", "parse_date"),
    ),
    "two rows": (
        f"sort this by price descending: {FEW}",
        ("sort_records", "filter_records", "select_fields", "aggregate_records"),
    ),
    "1,000 rows": (
        f"filter {json.dumps(ROWS)} where price is greater than 500",
        ("filter_records", "sort_records"),
    ),
}


def load_example() -> Library:
    """The agent example's library."""
    loaded = load_library(EXAMPLE / "domain.yaml", [EXAMPLE / "tools.yaml"], {})
    if loaded.library is None:
        raise SystemExit("\n".join(map(str, loaded.problems)))
    return loaded.library


def measure(library: Library, runs: int) -> dict[str, Any]:
    """Microseconds for each question: to read it, and to fill one template from it."""
    extractor = Extractor(library.domain)
    start = perf_counter()
    extractor.prepare(list(library.templates.values()))
    found: dict[str, Any] = {
        "prepare_ms": round((perf_counter() - start) * 1e3, 1),
        "templates": len(library.templates),
    }
    for name, (question, template_ids) in QUESTIONS.items():
        templates = [library.templates[template_id] for template_id in template_ids]
        rounds = runs if len(question) < 1000 else max(10, runs // 20)

        read = partial(ParsedText, question, NOW, library.domain.date_order)
        filling = [
            _times(partial(extractor.extract, question, template, now=NOW), rounds)
            for template in templates
        ]
        found[name] = {
            "characters": len(question),
            "read_us": _rounded(percentiles(_times(read, rounds))),
            "fill_us": _rounded(percentiles([us for times in filling for us in times])),
        }
    return found


def _times(call: Callable[[], object], runs: int) -> list[float]:
    """Microseconds of single calls, after a few that warm up."""
    samples: list[float] = []
    for run in range(runs + 5):
        start = perf_counter()
        call()
        if run >= 5:
            samples.append((perf_counter() - start) * 1e6)
    return samples


def _rounded(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(figure, 1) for name, figure in figures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--json", action="store_true", help="print nothing but JSON")
    options = parser.parse_args()
    found = measure(load_example(), options.runs)
    if options.json:
        print(json.dumps({"machine": describe_machine(), "extraction": found}, indent=2))
        return
    machine = describe_machine()
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    print(f"{found['templates']} templates compiled in {found['prepare_ms']} ms\n")
    print(f"{'question':<12}{'chars':>8}{'read p50':>12}{'p99':>8}{'fill p50':>12}{'p99':>8}  (µs)")
    for name in QUESTIONS:
        row = found[name]
        read, fill = row["read_us"], row["fill_us"]
        print(
            f"{name:<12}{row['characters']:>8}{read['p50']:>12}{read['p99']:>8}"
            f"{fill['p50']:>12}{fill['p99']:>8}"
        )


if __name__ == "__main__":
    main()
