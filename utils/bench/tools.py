"""How long builtin tools take: `python -m utils.bench.tools [--runs N] [--json]`.

Measures each operation through the executor, as a turn would run it, and the filtering
and other work on 1,000 rows. Times are percentiles of single calls, so that a hiccup of
the machine shows as a high p99 and not as a high p50.
"""

import argparse
import asyncio
import json
from collections.abc import Mapping
from time import perf_counter
from typing import Any

from server.core.tools import ToolCall, ToolResultStatus
from server.tools.executor import ToolExecutor
from server.tools.registry import ToolRegistry
from utils.bench._machine import describe_machine, percentiles

ROWS = [
    {
        "id": number,
        "name": f"item {number}",
        "price": round(number * 1.37, 2),
        "city": ("Rome", "Paris", "Oslo")[number % 3],
        "active": number % 2 == 0,
    }
    for number in range(1000)
]

SMALL: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "percentage": ("calculator", "percentage", {"value": 150, "percentage": 20}),
    "divide": ("calculator", "divide", {"a": 10.5, "b": 3}),
    "add, 5 numbers": ("calculator", "add", {"values": [1, 2.5, 3, 4, 5]}),
    "round": ("calculator", "round", {"value": 2.675, "decimals": 2}),
    "evaluate, digits": ("calculator", "evaluate", {"expression": "(3 + 4) * 2 ^ 5 - 10 / 4"}),
    "evaluate, words": (
        "calculator",
        "evaluate",
        {"expression": "300 including 20% VAT without the VAT"},
    ),
    "evaluate, units": (
        "calculator",
        "evaluate",
        {"expression": "half of 12 kg plus 300 g minus two thirds of 900 g"},
    ),
    "business days": (
        "date_time",
        "business_days",
        {"date1": "2025-03-04", "date2": "2025-12-25"},
    ),
    "now": ("date_time", "now", {}),
    "diff": ("date_time", "diff", {"date1": "2025-03-04", "date2": "2025-12-25"}),
    "add_days": ("date_time", "add_days", {"date": "2025-03-04", "days": 30}),
    "parse": ("date_time", "parse", {"date_string": "03/04/2025"}),
    "format": ("date_time", "format", {"date": "2025-03-04", "format_string": "long"}),
    "filter, 3 rows": (
        "json_transform",
        "filter",
        {"data": ROWS[:3], "field": "price", "operator": "gt", "value": 1},
    ),
}

LARGE: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "filter, numbers": (
        "json_transform",
        "filter",
        {"data": ROWS, "field": "price", "operator": "gt", "value": 500},
    ),
    "filter, text": (
        "json_transform",
        "filter",
        {"data": ROWS, "field": "city", "operator": "eq", "value": "rome"},
    ),
    "filter, from JSON text": (
        "json_transform",
        "filter",
        {"data": json.dumps(ROWS), "field": "price", "operator": "gt", "value": 500},
    ),
    "sort": ("json_transform", "sort", {"data": ROWS, "field": "price", "order": "desc"}),
    "select": ("json_transform", "select", {"data": ROWS, "fields": ["id", "name"]}),
    "sum": ("json_transform", "aggregate", {"data": ROWS, "field": "price", "operation": "sum"}),
}


async def time_calls(
    executor: ToolExecutor, tool: str, operation: str, arguments: dict[str, Any], runs: int
) -> list[float]:
    """Return the seconds of each of `runs` calls, after a tenth as many to warm up."""
    call = ToolCall("bench", tool, operation, arguments)
    for _ in range(max(1, runs // 10)):
        result = await executor.execute(call, timeout_s=30)
        if result.status is not ToolResultStatus.SUCCESS:
            raise RuntimeError(f"{tool} {operation}: {result.error_message}")
    samples = []
    for _ in range(runs):
        start = perf_counter()
        await executor.execute(call, timeout_s=30)
        samples.append(perf_counter() - start)
    return samples


async def measure(runs: int) -> dict[str, Any]:
    """Return microseconds for small calls and milliseconds for 1,000 rows, by name."""
    executor = ToolExecutor(ToolRegistry.build())
    small = {
        name: _scaled(await time_calls(executor, *call, runs), 1e6) for name, call in SMALL.items()
    }
    large = {
        name: _scaled(await time_calls(executor, *call, max(1, runs // 20)), 1e3)
        for name, call in LARGE.items()
    }
    executor.close()
    return {"machine": describe_machine(), "operation_us": small, "thousand_rows_ms": large}


def _scaled(seconds: list[float], factor: float) -> dict[str, float]:
    figures = percentiles([sample * factor for sample in seconds])
    return {name: round(value, 3) for name, value in figures.items()}


def _print_table(title: str, figures: Mapping[str, Mapping[str, float]]) -> None:
    print(f"\n{title:<28}{'p50':>10}{'p90':>10}{'p99':>10}{'max':>10}")
    for name, row in figures.items():
        print(f"{name:<28}" + "".join(f"{row[key]:>10.2f}" for key in ("p50", "p90", "p99", "max")))


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the builtin tools through the executor.")
    parser.add_argument("--runs", type=int, default=5000, help="calls of each operation")
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    options = parser.parse_args()
    figures = asyncio.run(measure(options.runs))
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures["machine"].items():
        print(f"{name}: {value}")
    _print_table("one operation, µs", figures["operation_us"])
    _print_table("1,000 rows, ms", figures["thousand_rows_ms"])


if __name__ == "__main__":
    main()
