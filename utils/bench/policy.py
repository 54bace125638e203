"""What the policy chain costs beyond the tool: `python -m utils.bench.policy [--runs N] [--json]`.

A tool that does nothing is run through the executor alone and through the whole chain, with
limits in memory and the audit written to SQLite, and the difference is the chain's price.
Where calls are limited, that is told for both ways of counting.
The two are measured in turns, so that a change of the machine's mood falls on both.
"""

import argparse
import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, get_args

from server.access.rate_limits import RateLimits, Window
from server.audit.entry import AuditSeal
from server.audit.table import TableSink
from server.audit.writer import AuditWriter
from server.core.tools import Source, ToolCall, ToolDefinition, ToolParameter
from server.core.turn import Caller
from server.library.model import (
    BuiltinExecution,
    CallPolicy,
    Domain,
    Library,
    Parameter,
    Template,
)
from server.tools.executor import ToolExecutor
from server.tools.policy.chain import Guardrails, PolicyChain, build_chain
from server.tools.policy.checks import Proposal
from server.tools.registry import ToolRegistry
from utils.bench._machine import describe_machine, percentiles

_ARGUMENTS = {"topic": "grammar", "level": "N4", "count": 5}
_PAUSE_EVERY = 500
_CALLS_PER_USER = 15
"""Users stay below their limits, as they do on a server that is worth measuring."""


class Nothing:
    """A tool that does nothing, quickly."""

    name = "nothing"
    quick = True
    operations: Mapping[str, ToolDefinition] = {
        "do": ToolDefinition("do", "", (ToolParameter("topic", "string"),))
    }

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"result": len(arguments), "operation": operation}


def template(name: str, policy: CallPolicy) -> Template:
    return Template(
        id=name,
        description="",
        kind="function",
        nl_examples=("do nothing",),
        parameters=(
            Parameter("topic", "string", min_length=1, max_length=100),
            Parameter("level", "string", enum=("N1", "N2", "N3", "N4", "N5"), default="N5"),
            Parameter("count", "integer", ge=1, le=20, default=5),
        ),
        execution=BuiltinExecution("nothing", "do"),
        policy=policy,
    )


CASES: Mapping[str, CallPolicy] = {
    "nothing asked for": CallPolicy(log_invocations=False),
    "roles and audit": CallPolicy(requires_auth=True, allowed_roles=("premium", "admin")),
    "roles, a limit and audit": CallPolicy(
        requires_auth=True, allowed_roles=("premium", "admin"), rate_limit=("20/hour",)
    ),
}


async def measure(runs: int) -> dict[str, Any]:
    """Return the microseconds that each kind of chain adds to a call."""
    templates = {name: template(name, policy) for name, policy in CASES.items()}
    library = Library(Domain("bench"), templates)
    registry = ToolRegistry([Nothing()])
    executor = ToolExecutor(registry)
    figures = {}
    with TemporaryDirectory(prefix="orbit-bench-") as folder:
        trail = AuditWriter(
            TableSink(f"sqlite:///{Path(folder) / 'audit.db'}", AuditSeal(b"s" * 32))
        )
        tools = {"INTENT": tuple(CASES)}
        for window in get_args(Window):
            guardrails = Guardrails(RateLimits(window=window), trail)
            chain = build_chain(
                "bench", library, registry, executor, guardrails, intent_tools=tools
            )
            for name, policy in CASES.items():
                if window == "moving" or policy.rate_limit:
                    told = f"{name} ({window} window)" if policy.rate_limit else name
                    figures[told] = await _difference_us(name, chain, executor, trail, runs)
        await trail.close()
    executor.close()
    return {"machine": describe_machine(), "chain_us": figures}


async def _difference_us(
    name: str, chain: PolicyChain, executor: ToolExecutor, trail: AuditWriter, runs: int
) -> dict[str, float]:
    sources = {argument: Source("recognizer", (0, 1), "x") for argument in _ARGUMENTS}
    call = ToolCall(name, "nothing", "do", _ARGUMENTS, sources)
    users = 1 + (runs + runs // 10) // _CALLS_PER_USER
    proposals = [
        Proposal(call, Caller("key", "bench", f"user{n}", "premium"), "request", "INTENT")
        for n in range(users)
    ]
    alone: list[float] = []
    chained: list[float] = []
    for number in range(runs + runs // 10):
        if number % _PAUSE_EVERY == 0:
            await trail.flush()  # writing happens beside the calls, and is not what is measured
        begun = perf_counter()
        await executor.execute(call, timeout_s=5)
        between = perf_counter()
        carried = await chain.carry_out(proposals[number % users], timeout_s=5)
        ended = perf_counter()
        if carried.outcome != "success":
            raise RuntimeError(f"{name}: {carried.outcome}")
        if number >= runs // 10:
            alone.append((between - begun) * 1e6)
            chained.append((ended - between) * 1e6)
    with_chain, without = percentiles(chained), percentiles(alone)
    return {
        "tool_alone_p50": round(without["p50"], 2),
        "whole_p50": round(with_chain["p50"], 2),
        "chain_p50": round(with_chain["p50"] - without["p50"], 2),
        "chain_p90": round(with_chain["p90"] - without["p90"], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the policy chain beyond the tool.")
    parser.add_argument("--runs", type=int, default=5000, help="calls of each kind")
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    options = parser.parse_args()
    figures = asyncio.run(measure(options.runs))
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures["machine"].items():
        print(f"{name}: {value}")
    for name, row in figures["chain_us"].items():
        print(f"{name}: " + ", ".join(f"{key} {value} µs" for key, value in row.items()))


if __name__ == "__main__":
    main()
