"""A retriever that decides by a table, so that what is around it can be tested alone."""

import asyncio
from collections.abc import Mapping
from typing import Any

from server.access.rate_limits import RateLimits
from server.chat.adapter import Adapter
from server.core.decision import (
    Call,
    Clarify,
    Decision,
    Match,
    MissingArguments,
    MissingParameter,
    NoMatch,
    Trace,
)
from server.core.tools import Source
from server.core.turn import Turn
from server.errors import ProviderUnavailable
from server.library.model import BuiltinExecution, Domain, Library, Parameter, Template
from server.tools.executor import ToolExecutor
from server.tools.policy.chain import Guardrails, build_chain
from server.tools.registry import ToolRegistry

PERCENTAGE = Template(
    id="calculate_percentage",
    description="Calculate a percentage of a given value",
    kind="function",
    nl_examples=("What is 15% of 200?",),
    parameters=(
        Parameter("value", "number", "The base value"),
        Parameter("percentage", "number", "The percentage to calculate"),
    ),
    execution=BuiltinExecution("calculator", "percentage"),
    response_template={"en": "{{ percentage }}% of {{ value }} is **{{ result }}**"},
)
DIVIDE = Template(
    id="divide",
    description="Divide one number by another",
    kind="function",
    nl_examples=("Divide 100 by 4",),
    parameters=(Parameter("a", "number"), Parameter("b", "number")),
    execution=BuiltinExecution("calculator", "divide"),
)
LIBRARY = Library(Domain("arithmetic"), {t.id: t for t in (PERCENTAGE, DIVIDE)})

MATCH = Match(
    "calculate_percentage",
    confidence=0.97531,
    similarity=0.9,
    why="nearest by far",
    nearest_example="What is 15% of 200?",
    runner_up=Match("divide", 0.01, 0.4, ""),
)


def call_of(template: Template, arguments: Mapping[str, Any]) -> Call:
    assert isinstance(template.execution, BuiltinExecution)
    match = MATCH if template is PERCENTAGE else Match(template.id, 0.9, 0.8, "")
    sources = {name: Source("recognizer", (0, 1), "x") for name in arguments}
    return Call(match, template.call(arguments, sources))


DECISIONS: Mapping[str, Decision] = {
    "What is 15% of 200?": call_of(PERCENTAGE, {"value": 200, "percentage": 15}),
    "Divide 1 by 0": call_of(DIVIDE, {"a": 1, "b": 0}),
    "15% of what?": MissingArguments(
        MATCH, (MissingParameter("value", "The base value", "number"),)
    ),
    "either": Clarify((MATCH, Match("divide", 0.9, 0.8, "", "Divide 100 by 4"))),
}


class ByTable:
    """Decides by `DECISIONS`; "slow" takes a minute, "down" lacks its provider."""

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        if turn.text == "slow":
            await asyncio.sleep(60)
        if turn.text == "down":
            raise ProviderUnavailable("embedding provider 'ollama' at localhost is not reachable")
        if turn.text == "bug":
            raise RuntimeError("sk-secret-in-a-traceback")
        with trace.stage("match") as details:
            details["question"] = turn.text
        return DECISIONS.get(turn.text, NoMatch("nothing is near", (MATCH,)))

    async def close(self) -> None:
        return None


def table_adapter(name: str = "arithmetic", library: Library = LIBRARY) -> Adapter:
    registry = ToolRegistry.build()
    return Adapter(
        name=name,
        library=library,
        decider=ByTable(),
        chain=build_chain(
            name, library, registry, ToolExecutor(registry), Guardrails(RateLimits())
        ),
        tool_timeout_s=5,
        details={"templates": len(library.templates)},
    )
